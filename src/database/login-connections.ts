// The connections of one login: a pool, connections that belong to their users alone, and the end of lost backends.

import { Pool } from "pg";
import type { Client } from "pg";
import { invariant } from "../kernel/invariant.ts";
import { connectClient, withClient } from "./connections.ts";
import { explainPooler, isPooled as isPooledClient, requireNamedStatements } from "./pooler.ts";
import { PrimaryClient, type PrimaryClientConfig } from "./primary.ts";
import { isDatabaseAway } from "./transactions.ts";

/** A backend by its pid and the start of its server, `pg_postmaster_start_time()` as text: pids are reused after a restart. */
export type Backend = { readonly pid: number; readonly server: string };

/** What a part of the service does with the database, under one login. */
export type LoginConnections = {
  readonly pool: Pool;
  /** A connection that belongs to the caller alone, as a group-commit lane needs. */
  connect(): Promise<Client>;
  /**
   * Ends a backend of this login whose reply was lost and waits until it is gone, so that what it was doing is decided. Behind a
   * pooler it does nothing: another client has the backend by now, and the lost statement may still run.
   */
  endBackend(backend: Backend): Promise<void>;
  /** Whether a pooler is before the server, so that no connection has a backend of its own. */
  readonly isPooled: boolean;
};

export type LoginOptions = {
  readonly config: PrimaryClientConfig;
  /** A login that may end this one's backends. Null: itself. */
  readonly fence: PrimaryClientConfig | null;
  /** Throws where a session of the login is not what it has to be. */
  readonly check: (client: Client) => Promise<void>;
  readonly poolSize: number;
};

const IDLE_TIMEOUT_MS = 30_000;
const END_BACKEND_TIMEOUT_MS = 5_000;
/** After this time a hanging database counts as away. Work that may take longer sets a limit with its statement. */
export const ANSWER_WITHIN_MS = 6_000;

/** Checks a login and opens its connections. Errors: those of the check; a pooler that loses named statements. */
export async function openLogin({
  config,
  fence: fenceConfig,
  check,
  poolSize,
}: LoginOptions): Promise<LoginConnections & { close(): Promise<void> }> {
  const isPooled = await withClient(config, async (client) => {
    await check(client);
    return isPooledClient(client);
  }).catch((error: unknown) => {
    throw explainPooler(error);
  });
  if (isPooled) await requireNamedStatements(config);
  const pool = openAnsweringPool(config, poolSize);
  const fence = openPool(fenceConfig ?? config, 1);
  return {
    pool,
    isPooled,
    connect: () => connectClient(config),
    async endBackend(backend) {
      if (isPooled) return;
      await endBackend(fence, backend).catch((error: unknown) => {
        if (!isDatabaseAway(error)) throw error;
        return endBackend(fence, backend); // the idle connection was lost with the other one, perhaps not the database
      });
    },
    async close() {
      await Promise.all([pool.end(), fence.end()]);
    },
  };
}

/** Which backend serves a connection. */
export async function backendOf(client: Pick<Client, "query">): Promise<Backend> {
  const { rows } = await client.query<Backend>(
    "SELECT pg_backend_pid() AS pid, pg_postmaster_start_time()::text AS server",
  );
  invariant(rows[0] !== undefined, "a connection has a backend");
  return rows[0];
}

/** A pool whose queries count as lost after some seconds without an answer. */
export function openAnsweringPool(config: PrimaryClientConfig, max: number): Pool {
  return openPool({ ...config, query_timeout: ANSWER_WITHIN_MS }, max);
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
