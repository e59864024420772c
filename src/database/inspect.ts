// A look at a database that changes nothing: no server is started, no folder made, no schema brought up to date, and each transaction
// is read-only. For the operator's doctor, which runs beside a service and without one.

import { realpath, readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Client } from "pg";
import { borrowServingRole, clientConfig, type Login, loginOf, withClient } from "./connections.ts";
import type { DatabaseOptions } from "./database.ts";
import { EMBEDDED_DATABASE } from "./embedded/embedded-postgres.ts";
import { MAJOR_VERSION, SUPERUSER } from "./embedded/cluster.ts";
import { isPostmasterOf, readPostmaster } from "./embedded/postmaster.ts";
import { schemaCode } from "./migrations/migrations.ts";
import { explainPooler } from "./pooler.ts";
import { type Purpose, readPurpose } from "./purpose.ts";
import { readFunctionFiles } from "./schema/function-files.ts";
import { lackingOf, readSchemaState } from "./schema/schema-state.ts";
import { checkRequestSession, checkServer, checkServingSession } from "./server-checks.ts";
import { REQUEST_ROLE, SERVING_ROLE } from "./serving-settings.ts";

export type Place = Pick<DatabaseOptions, "dataDir" | "url" | "ownerUrl" | "requestUrl">;

/** Why the embedded database cannot be looked at: the first start makes it, a start starts it, or another version has made it. */
export type EmbeddedAbsence = { readonly kind: "unmade" } | { readonly kind: "stopped" } | OtherVersion;
type OtherVersion = { readonly kind: "other-version"; readonly theirs: string; readonly ours: string };

/** The login of requests: one that cannot create money, that of all else, or one that no start accepts. */
export type RequestLogin =
  | { readonly kind: "own" }
  | { readonly kind: "shared" }
  | { readonly kind: "refused"; readonly error: unknown };

/** The state of a database. */
export type DatabaseFacts = {
  /** Of the server, such as `18.4`. */
  readonly version: string;
  readonly schema: {
    /** The newest change that the database has; 0: it is fresh. */
    readonly version: number;
    /** How many changes and functions of this code it lacks. */
    readonly lacks: number;
    /** Whether it has changes that this code does not know, and may run beside. */
    readonly isNewer: boolean;
  };
  /** How many standbys confirm commits. Null: the schema is too old to count them. */
  readonly standbys: number | null;
  /** Whether requests have a login of their own, and why it is refused where it is. Null: the schema is not up to date. */
  readonly requestLogin: RequestLogin | null;
  /** Null: nothing has started on it. */
  readonly purpose: Purpose | null;
  /** How far the database's clock is ahead of this process's, and how much of that may be the way there and back. */
  readonly clock: { readonly aheadMs: number; readonly withinMs: number };
  /** The share of the connections that are taken. */
  readonly connectionsShare: number;
};

const CLOCK_TRIES = 3;
const CLOCK = `SELECT extract(epoch FROM clock_timestamp())::float8 * 1000 AS "atMs"`;
const SERVER = `
SELECT current_setting('server_version') AS version,
  (SELECT count(*)::float8 / current_setting('max_connections')::int FROM pg_stat_activity
    WHERE datid IS NOT NULL AND usesysid IS NOT NULL) AS "connectionsShare"`;

/** Whether the embedded database is there to be looked at. Null: it is. */
export async function embeddedAbsence(dataDir: string): Promise<EmbeddedAbsence | null> {
  const cluster = join(await realpath(dataDir).catch(() => dataDir), "postgres");
  const version = await readFile(join(cluster, "PG_VERSION"), "utf8").catch(() => null);
  if (version === null) return { kind: "unmade" };
  if (version.trim() !== MAJOR_VERSION) return { kind: "other-version", theirs: version.trim(), ours: MAJOR_VERSION };
  return (await runningSocket(dataDir)) === null ? { kind: "stopped" } : null;
}

/** Runs reads as the owner of the schema, in one read-only transaction. Errors: those of connecting, and of the reads. */
export async function inReadOnly<T>(place: Place, read: (client: Client) => Promise<T>): Promise<T> {
  return withClient(clientConfig(await ownerOf(place), "saldo doctor"), (client) => readOnly(client, read));
}

/** Reads the state of a database. Errors: those of connecting; a sentence about a server or a schema that no start accepts. */
export async function inspectDatabase(place: Place, now: () => number): Promise<DatabaseFacts> {
  const facts = await inReadOnly(place, async (client) => {
    const versionNumber = await checkServer(client);
    const clock = await clockOf(client, now);
    const [server] = (await client.query<{ version: string; connectionsShare: number }>(SERVER)).rows;
    const state = await readSchemaState(client);
    const { migrations, functions } = lackingOf(state, schemaCode, await readFunctionFiles(schemaCode.functionsFolder));
    const isMade = state.functions.has("synchronous_standbys");
    return {
      versionNumber,
      version: (server?.version ?? "").split(" ")[0] ?? "",
      connectionsShare: server?.connectionsShare ?? 0,
      clock,
      schema: {
        version: state.version,
        lacks: migrations.length + functions.length,
        isNewer: state.version > (schemaCode.migrations.at(-1)?.number ?? 0),
      },
      standbys: isMade ? await standbysOf(client) : null,
      purpose: isMade ? await readPurpose(client) : null,
    };
  });
  const { versionNumber, ...rest } = facts;
  if (rest.schema.version > 0) await inspectServing(place, versionNumber);
  return {
    ...rest,
    requestLogin: rest.schema.lacks > 0 || rest.schema.version === 0 ? null : await inspectRequests(place),
  };
}

/** The login that serves, and the role that it becomes. */
async function inspectServing(place: Place, versionNumber: number): Promise<void> {
  const login = await servingOf(place, versionNumber);
  await withClient(clientConfig(login, "saldo doctor"), (client) => readOnly(client, checkServingSession)).catch(
    (error: unknown) => {
      throw explainPooler(error);
    },
  );
}

async function inspectRequests({ url, requestUrl, dataDir }: Place): Promise<RequestLogin> {
  if (url !== undefined && requestUrl === undefined) return { kind: "shared" };
  try {
    const login = requestUrl === undefined ? await embeddedLogin(dataDir, REQUEST_ROLE) : loginOf(requestUrl);
    await withClient(clientConfig(login, "saldo doctor"), (client) => readOnly(client, checkRequestSession));
    return { kind: "own" };
  } catch (error) {
    return { kind: "refused", error };
  }
}

async function readOnly<T>(client: Client, read: (client: Client) => Promise<T>): Promise<T> {
  await client.query("BEGIN TRANSACTION READ ONLY");
  try {
    return await read(client);
  } finally {
    await client.query("ROLLBACK").catch(() => {
      // The connection is gone, and its transaction with it.
    });
  }
}

async function ownerOf({ url, ownerUrl, dataDir }: Place): Promise<Login> {
  return url === undefined ? embeddedLogin(dataDir, SUPERUSER) : loginOf(ownerUrl ?? url);
}

async function servingOf({ url, ownerUrl, dataDir }: Place, version: number): Promise<Login> {
  if (url === undefined) return embeddedLogin(dataDir, SERVING_ROLE);
  return loginOf(ownerUrl === undefined ? borrowServingRole(url, version) : url);
}

async function embeddedLogin(dataDir: string, user: string): Promise<Login> {
  const host = await runningSocket(dataDir);
  if (host === null) throw new Error("The embedded PostgreSQL does not run.");
  return { host, user, database: EMBEDDED_DATABASE };
}

/** The socket folder of the server that runs in a data folder. Null: none does. */
async function runningSocket(dataDir: string): Promise<string | null> {
  const cluster = join(await realpath(dataDir).catch(() => dataDir), "postgres");
  const postmaster = await readPostmaster(cluster);
  if (postmaster?.serving !== true || !(await isPostmasterOf(cluster, postmaster.pid))) return null;
  return postmaster.socketDir;
}

/** Null: they are hidden from the owner. */
async function standbysOf(client: Client): Promise<number | null> {
  const { rows } = await client.query<{ standbys: number | null }>("SELECT synchronous_standbys() AS standbys");
  return rows[0]?.standbys ?? null;
}

/** The best of a few tries: the quickest is the most exact. */
async function clockOf(client: Client, now: () => number): Promise<DatabaseFacts["clock"]> {
  const seen: DatabaseFacts["clock"][] = [];
  for (let count = 0; count < CLOCK_TRIES; count += 1) {
    const [beforeMs, startMs] = [now(), performance.now()];
    const { rows } = await client.query<{ atMs: number }>(CLOCK);
    const withinMs = (performance.now() - startMs) / 2;
    seen.push({ aheadMs: (rows[0]?.atMs ?? 0) - beforeMs - withinMs, withinMs });
  }
  return seen.reduce((best, each) => (each.withinMs < best.withinMs ? each : best));
}
