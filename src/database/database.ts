// The interface of the room: one open database, embedded or external, migrated, checked, and served by a role that cannot
// change what was posted. Everything that must be true lives behind it. Only the composition root and tests open one.

import type { Client, Pool } from "pg";
import { borrowServingRole, clientConfig, loginOf, withClient } from "./connections.ts";
import type { Login } from "./connections.ts";
import { findEmbeddedAddress, startEmbeddedPostgres } from "./embedded/embedded-postgres.ts";
import type { EmbeddedAddress, EmbeddedPostgres } from "./embedded/embedded-postgres.ts";
import { isSameHistory, readHistory } from "./history.ts";
import { type FallbackReason, LaggingReads } from "./lagging-reads.ts";
import {
  ANSWER_WITHIN_MS,
  type LoginConnections,
  openAnsweringPool,
  openLogin,
  openPool,
} from "./login-connections.ts";
import { migrate } from "./migrate.ts";
import type { LockHolder } from "./schema/migration-lock.ts";
import { checkRequestSession, checkServer, checkServingSession } from "./server-checks.ts";
import { applyServerSettings, REQUEST_ROLE, SERVING_ROLE } from "./serving-settings.ts";
import type { ServerAddress } from "./primary.ts";
import { isDatabaseAway } from "./transactions.ts";

/** An open database: everything that must be true is in it. Its own connections are the serving role's. */
export interface Database extends LoginConnections {
  /** Connections for people, merchants, operators, reports and background work. */
  readonly pool: Pool;
  /**
   * Connections for chat requests alone: key look-ups, slots, the catalog, names of requests, and the lanes of the ledger. Where other
   * work exhausts `pool`, a paying key is still looked up. Where they have a login of their own, what is done on them cannot mint.
   */
  readonly requests: LoginConnections;
  /** Whether that is so: the login can then be lost alone. */
  readonly requestsHaveLogin: boolean;
  /** Lists, sums and files that may be some seconds old: they are read from a standby, where one is named and close behind. */
  readonly reads: LaggingReads;
  /** Of several servers the one that was the primary last. Null: there is one server only. */
  primary(): ServerAddress | null;
  close(): Promise<void>;
}

/** The database as the path of a chat request uses it. */
export function forRequests(database: Database): Database {
  return { ...database, ...database.requests };
}

/** Where the database is and how it is used. */
export type DatabaseOptions = {
  /** An external server, PostgreSQL 15 or newer, or several, of which one is the primary. Without it one is run in `dataDir`. */
  readonly url?: string;
  /** The login that owns the schema, when `url` logs in as the serving role itself. */
  readonly ownerUrl?: string;
  /** The login of chat requests, which cannot mint. Without it they use that of `url`; in `dataDir` there is one always. */
  readonly requestUrl?: string;
  /** A standby of the same server, for reads that may lag. Without it they go to the primary. */
  readonly readUrl?: string;
  /** How old the standby's data may be. */
  readonly maxReadLagMs?: number;
  /** Called when the standby is no longer read from, with the reason, and with null when it is again. */
  readonly onReadSource?: (reason: FallbackReason | null) => void;
  readonly dataDir: string;
  /** Called with the primary of several servers, at first and whenever it is another one. */
  readonly onPrimary?: (server: ServerAddress) => void;
  /** Called where another session changes the schema, and this start waits for it. */
  readonly onSchemaWait?: (holder: LockHolder) => void;
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
/** A server that its starter stops while we adopt it is followed by one of our own. */
const MAX_OPEN_ATTEMPTS = 3;
/** A standby that takes longer to accept a connection is away: the primary is asked instead. */
const STANDBY_CONNECT_MS = 2_000;

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
type Logins = {
  readonly owner: Login;
  readonly serving: (versionNumber: number) => Login;
  /** Null: requests have none of their own. */
  readonly requests: Login | null;
};

function externalLogins({
  url,
  ownerUrl,
  requestUrl,
  onPrimary,
}: Pick<DatabaseOptions, "onPrimary"> & {
  url: string;
  ownerUrl?: string | undefined;
  requestUrl?: string | undefined;
}): Logins {
  const requests = requestUrl === undefined ? null : loginOf(requestUrl);
  if (ownerUrl !== undefined) return { owner: loginOf(ownerUrl), serving: () => loginOf(url, onPrimary), requests };
  const serving = (version: number): Login => loginOf(borrowServingRole(url, version), onPrimary);
  return { owner: loginOf(url), serving, requests };
}

function embeddedLogins({ host, user, database }: EmbeddedAddress): Logins {
  return {
    owner: { host, user, database },
    serving: () => ({ host, user: SERVING_ROLE, database }),
    requests: { host, user: REQUEST_ROLE, database },
  };
}

async function openOn(logins: Logins, options: DatabaseOptions, embedded?: EmbeddedPostgres): Promise<Database> {
  const applicationName = options.applicationName ?? "saldo";
  const owner = clientConfig(logins.owner, applicationName);
  const version = await withClient(owner, checkServer);
  await migrate(owner, { turn: { onWait: options.onSchemaWait } });
  await withClient(owner, applyServerSettings);
  const servingLogin = logins.serving(version);
  const serving = { ...clientConfig(servingLogin, applicationName), primaryOnly: true };
  const served = await openLogin({
    config: serving,
    // A login that becomes the serving role may not end the backends of that role, and the owner may.
    fence: options.ownerUrl === undefined ? { ...owner, primaryOnly: true } : null,
    check: checkServingSession,
    poolSize: options.poolSize ?? DEFAULT_POOL_SIZE,
  });
  const requestPoolSize = options.requestPoolSize ?? DEFAULT_REQUEST_POOL_SIZE;
  const ownRequests =
    logins.requests === null
      ? null
      : await openLogin({
          config: { ...clientConfig(logins.requests, applicationName), primaryOnly: true },
          fence: null,
          check: checkRequestSession,
          poolSize: requestPoolSize,
        });
  if (ownRequests !== null && !(await isSameDatabase(served.pool, ownRequests.pool))) {
    await Promise.all([served.close(), ownRequests.close()]);
    throw new Error("DATABASE_REQUEST_URL leads to another database than DATABASE_URL.");
  }
  const requests = ownRequests ?? { ...served, pool: openAnsweringPool(serving, requestPoolSize) };
  const standby = standbyPool(options, version);
  return {
    ...served,
    requests,
    requestsHaveLogin: ownRequests !== null,
    reads: new LaggingReads({
      primary: served.pool,
      standby,
      ...(options.maxReadLagMs === undefined ? {} : { maxLagMs: options.maxReadLagMs }),
      ...(options.onReadSource === undefined ? {} : { onChange: options.onReadSource }),
    }),
    primary: () => ("servers" in servingLogin ? (servingLogin.servers?.last ?? null) : null),
    async close() {
      await Promise.all([served.close(), ownRequests?.close() ?? requests.pool.end(), standby?.end()]);
      await embedded?.stop();
    },
  };
}

/** Whether requests would be charged in the books that everything else reads. */
async function isSameDatabase(served: Pool, requests: Pool): Promise<boolean> {
  const [one, other] = await Promise.all([readHistory(served), readHistory(requests)]);
  return one !== null && other !== null && isSameHistory(one, other);
}

/** Connections to the standby, as the serving role. None is made before the first read, so it may be away at a start. */
function standbyPool({ readUrl, ownerUrl, poolSize }: DatabaseOptions, version: number): Pool | null {
  if (readUrl === undefined) return null;
  // As for the primary: without a login of the owner, this one becomes the serving role.
  const url = ownerUrl === undefined ? borrowServingRole(readUrl, version) : readUrl;
  const config = { ...clientConfig(loginOf(url), "saldo reads"), query_timeout: ANSWER_WITHIN_MS };
  return openPool({ ...config, connectionTimeoutMillis: STANDBY_CONNECT_MS }, poolSize ?? DEFAULT_POOL_SIZE);
}
