// Connection poolers, such as pgbouncer, between this service and the server. In transaction mode every transaction of a
// connection may run in another backend. Named statements have to follow it, and it is unknown which backend was lost.

import type { Client, ClientConfig } from "pg";
import { withClient } from "./connections.ts";
import { sqlState } from "./transactions.ts";

/** PostgreSQL's errors for a named statement that this backend does not have, or has from another client. */
const NOT_KEPT: ReadonlySet<string | undefined> = new Set(["26000", "42P05"]);
/** A pooler's error for a start-up packet with settings in it. */
const NO_SETTINGS = { state: "08P01", message: /startup parameter/ };
const PROBE = { name: "saldo_probe", text: "SELECT 1", query_timeout: 5_000 };

/** Whether a pooler answers in the server's place: the key it gives to cancel by is its own and names no backend. */
export async function isPooled(client: Client): Promise<boolean> {
  const { rows } = await client.query<{ pid: number }>("SELECT pg_backend_pid() AS pid");
  return rows[0]?.pid !== (client as Client & { readonly processID: number | null }).processID;
}

/** Refuses a pooler that loses named statements from one transaction to the next. */
export async function requireNamedStatements(config: ClientConfig): Promise<void> {
  await withClient(config, async (client) => {
    await client.query(PROBE);
    await withClient(config, async (other) => {
      // Of its idle backends a pooler gives out the one used last: with that taken, the first client gets another.
      await other.query("BEGIN");
      await client.query(PROBE).catch((error: unknown) => {
        if (!NOT_KEPT.has(sqlState(error))) throw error;
        throw new Error(
          "The connection pooler in front of the database loses named statements. Let it keep them (pgbouncer 1.21 or newer " +
            "with max_prepared_statements above 0), or pool by session, or set DATABASE_URL to the server itself.",
          { cause: error },
        );
      });
    });
  });
}

/** Explains an error at the start of a borrowed session where a pooler is the reason. */
export function explainPooler(error: unknown): unknown {
  if (!(error instanceof Error) || sqlState(error) !== NO_SETTINGS.state || !NO_SETTINGS.message.test(error.message)) {
    return error;
  }
  return new Error(
    "DATABASE_URL leads to a connection pooler that passes no settings on. Let DATABASE_URL log in as saldo_serve, and " +
      "DATABASE_OWNER_URL as the login that owns the schema.",
    { cause: error },
  );
}
