// The interface of the room: one open database, embedded or external, migrated, checked, and served by a role that cannot
// change what was posted. Everything that must be true lives behind it. Only the composition root and tests open one.

import { Pool } from "pg";
import type { Client } from "pg";
import { invariant } from "../kernel/invariant.ts";
import { borrowServingRole, clientConfig, connectClient, loginOf, withClient } from "./connections.ts";
import type { Login } from "./connections.ts";
import { findEmbeddedAddress, startEmbeddedPostgres } from "./embedded/embedded-postgres.ts";
import type { EmbeddedAddress, EmbeddedPostgres } from "./embedded/embedded-postgres.ts";
import { type FallbackReason, LaggingReads } from "./lagging-reads.ts";
import { migrate } from "./migrate.ts";
import { checkServer, checkServingSession } from "./server-checks.ts";
import { explainPooler, isPooled as isPooledClient, requireNamedStatements } from "./pooler.ts";
import { applyServerSettings, SERVING_ROLE } from "./serving-settings.ts";
import { PrimaryClient, type PrimaryClientConfig, type ServerAddress } from "./primary.ts";
import { isDatabaseAway } from "./transactions.ts";

/** A backend by its pid and the start of its server, `pg_postmaster_start_time()` as text: pids are reused after a restart. */
export type Backend = { readonly pid: number; readonly server: string };

/** An open database: everything that must be true is in it. */
export interface Database {
  /** Connections of the serving role, for people, merchants, operators, reports and background work. */
  readonly pool: Pool;
  /**
   * Connections for chat requests alone: key look-ups, slots, the catalog, names of requests. Where other work exhausts `pool`, a
   * paying key is still looked up.
   */
  readonly requestPool: Pool;
  /** Lists, sums and files that may be some seconds old: they are read from a standby, where one is named and close behind. */
  readonly reads: LaggingReads;
  /** A connection of the serving role that belongs to the caller alone, as a group-commit lane needs. */
  connect(): Promise<Client>;
  /**
   * Ends a backend of ours whose reply was lost and waits until it is gone, so that what it was doing is decided. Behind a
   * pooler it does nothing: another client has the backend by now, and the lost statement may still run.
   */
  endBackend(backend: Backend): Promise<void>;
  /** Of several servers the one that was the primary last. Null: there is one server only. */
  primary(): ServerAddress | null;
  /** Whether a pooler is before the server, so that no connection has a backend of its own. */
  readonly isPooled: boolean;
  close(): Promise<void>;
}

/** The database as the path of a chat request uses it. */
export function forRequests(database: Database): Database {
  return { ...database, pool: database.requestPool };
}

/** Which backend serves a connection. */
export async function backendOf(client: Pick<Client, "query">): Promise<Backend> {
  const { rows } = await client.query<Backend>(
    "SELECT pg_backend_pid() AS pid, pg_postmaster_start_time()::text AS server",
  );
  invariant(rows[0] !== undefined, "a connection has a backend");
  return rows[0];
}

/** Where the database is and how it is used. */
export type DatabaseOptions = {
  /** An external server, PostgreSQL 15 or newer, or several, of which one is the primary. Without it one is run in `dataDir`. */
  readonly url?: string;
  /** The login that owns the schema, when `url` logs in as the serving role itself. */
  readonly ownerUrl?: string;
  /** A standby of the same server, for reads that may lag. Without it they go to the primary. */
  readonly readUrl?: string;
  /** How old the standby's data may be. */
  readonly maxReadLagMs?: number;
  /** Called when the standby is no longer read from, with the reason, and with null when it is again. */
  readonly onReadSource?: (reason: FallbackReason | null) => void;
  readonly dataDir: string;
  /** Called with the primary of several servers, at first and whenever it is another one. */
  readonly onPrimary?: (server: ServerAddress) => void;
  /** Further settings of the server in `dataDir`, if this process starts it. */
  readonly serverSettings?: Readonly<Record<string, string>>;
  /** Called when the server in `dataDir` runs, before anything is committed. */
  readonly onServer?: () => void;
  /** Whether the server in `dataDir` is run by our parent: then this process neither starts, revives nor stops it. */
  readonly runByParent?: boolean;
  readonly poolSize?: number;
  readonly requestPoolSize?: number;
  readonly applicationName?: string;
};

export const DEFAULT_POOL_SIZE = 10;
const DEFAULT_REQUEST_POOL_SIZE = 5;
const IDLE_TIMEOUT_MS = 30_000;
/** A server that its starter stops while we adopt it is followed by one of our own. */
const MAX_OPEN_ATTEMPTS = 3;
const END_BACKEND_TIMEOUT_MS = 5_000;
/** A standby that takes longer to accept a connection is away: the primary is asked instead. */
const STANDBY_CONNECT_MS = 2_000;
/** After this time a hanging database counts as away. Work that may take longer sets a limit with its statement. */
const ANSWER_WITHIN_MS = 6_000;

/**
 * Opens the database and brings its schema up to date. Refuses, naming the setting, a server that may forget what it
 * committed, a read replica, a server older than PostgreSQL 15 and a schema newer than this code.
 */
export async function openDatabase(options: DatabaseOptions): Promise<Database> {
  if (options.url !== undefined) return openOn(externalLogins({ ...options, url: options.url }), options);
  if (options.runByParent === true) return openOn(embeddedLogins(await findEmbeddedAddress(options)), options);
  for (let attempt = 1; ; attempt += 1) {
    const { dataDir, serverSettings: settings = {} } = options;
    const embedded = await startEmbeddedPostgres({ dataDir, settings });
    try {
      options.onServer?.();
      return await openOn(embeddedLogins(embedded), options, embedded);
    } catch (error) {
      await embedded.stop().catch(() => {
        // Why it could not be opened is the news.
      });
      if (attempt === MAX_OPEN_ATTEMPTS || !isDatabaseAway(error)) throw error;
    }
  }
}

/** Runs work on a connection of the schema's owner, for what the serving role may not do. The server is running. */
export async function withOwner<T>(
  { url, ownerUrl, dataDir }: Pick<DatabaseOptions, "dataDir" | "url" | "ownerUrl">,
  work: (client: Client) => Promise<T>,
): Promise<T> {
  const logins =
    url === undefined ? embeddedLogins(await findEmbeddedAddress({ dataDir })) : externalLogins({ url, ownerUrl });
  return withClient(clientConfig(logins.owner, "saldo"), work);
}

/** The serving login depends on the version of the server, as the settings do that it brings. */
type Logins = { readonly owner: Login; readonly serving: (versionNumber: number) => Login };

function externalLogins({
  url,
  ownerUrl,
  onPrimary,
}: Pick<DatabaseOptions, "onPrimary"> & { url: string; ownerUrl?: string | undefined }): Logins {
  if (ownerUrl !== undefined) return { owner: loginOf(ownerUrl), serving: () => loginOf(url, onPrimary) };
  const serving = (version: number): Login => loginOf(borrowServingRole(url, version), onPrimary);
  return { owner: loginOf(url), serving };
}

function embeddedLogins({ host, user, database }: EmbeddedAddress): Logins {
  return { owner: { host, user, database }, serving: () => ({ host, user: SERVING_ROLE, database }) };
}

async function openOn(logins: Logins, options: DatabaseOptions, embedded?: EmbeddedPostgres): Promise<Database> {
  const applicationName = options.applicationName ?? "saldo";
  const owner = clientConfig(logins.owner, applicationName);
  const version = await withClient(owner, checkServer);
  const servingLogin = logins.serving(version);
  const serving = { ...clientConfig(servingLogin, applicationName), primaryOnly: true };
  await migrate(owner);
  await withClient(owner, applyServerSettings);
  const isPooled = await withClient(serving, async (client) => {
    await checkServingSession(client);
    return isPooledClient(client);
  }).catch((error: unknown) => {
    throw explainPooler(error);
  });
  if (isPooled) await requireNamedStatements(serving);
  const answering = { ...serving, query_timeout: ANSWER_WITHIN_MS };
  const pool = openPool(answering, options.poolSize ?? DEFAULT_POOL_SIZE);
  const requestPool = openPool(answering, options.requestPoolSize ?? DEFAULT_REQUEST_POOL_SIZE);
  const standby = standbyPool(options, version);
  const fence = openPool(options.ownerUrl === undefined ? { ...owner, primaryOnly: true } : serving, 1);
  return {
    pool,
    requestPool,
    reads: new LaggingReads({
      primary: pool,
      standby,
      ...(options.maxReadLagMs === undefined ? {} : { maxLagMs: options.maxReadLagMs }),
      ...(options.onReadSource === undefined ? {} : { onChange: options.onReadSource }),
    }),
    isPooled,
    primary: () => ("servers" in servingLogin ? (servingLogin.servers?.last ?? null) : null),
    connect: () => connectClient(serving),
    async endBackend(backend) {
      if (isPooled) return;
      await endBackend(fence, backend).catch((error: unknown) => {
        if (!isDatabaseAway(error)) throw error;
        return endBackend(fence, backend); // the idle connection was lost with the other one, perhaps not the database
      });
    },
    async close() {
      await Promise.all([pool.end(), requestPool.end(), standby?.end(), fence.end()]);
      await embedded?.stop();
    },
  };
}

/** Connections to the standby, as the serving role. None is made before the first read, so it may be away at a start. */
function standbyPool({ readUrl, ownerUrl, poolSize }: DatabaseOptions, version: number): Pool | null {
  if (readUrl === undefined) return null;
  // As for the primary: without a login of the owner, this one becomes the serving role.
  const url = ownerUrl === undefined ? borrowServingRole(readUrl, version) : readUrl;
  const config = { ...clientConfig(loginOf(url), "saldo reads"), query_timeout: ANSWER_WITHIN_MS };
  return openPool({ ...config, connectionTimeoutMillis: STANDBY_CONNECT_MS }, poolSize ?? DEFAULT_POOL_SIZE);
}

/** A pool whose lost connections fail the query that runs on them, and nothing else. */
export function openPool(config: PrimaryClientConfig, max: number): Pool {
  const pool = new Pool({ ...config, Client: PrimaryClient, max, idleTimeoutMillis: IDLE_TIMEOUT_MS });
  // Without a listener, a connection that dies would end the process: idle ones emit on the pool, the others on themselves.
  // The pool has dropped it already, and its query fails.
  pool.on("error", () => {});
  pool.on("connect", (client) => client.on("error", () => {}));
  return pool;
}

async function endBackend(fence: Pool, { pid, server }: Backend): Promise<void> {
  const values = [pid, server, END_BACKEND_TIMEOUT_MS];
  await fence.query("SELECT pg_terminate_backend($1, $3) WHERE pg_postmaster_start_time()::text = $2", values);
  // The answer is also false for a backend that was gone already, so look.
  const { rowCount } = await fence.query(
    "SELECT FROM pg_stat_activity WHERE pid = $1 AND pg_postmaster_start_time()::text = $2",
    [pid, server],
  );
  if (rowCount !== 0) throw new Error(`Backend ${pid} did not end within ${END_BACKEND_TIMEOUT_MS} ms.`);
}
