// Brings the schema to what this code knows, and refuses a schema that knows more than this code.

import type { Client, ClientConfig } from "pg";
import { withClient } from "./connections.ts";
import { migrations } from "./migrations/migrations.ts";
import { sqlState } from "./transactions.ts";

/** Says which migrations have run. The name is MikroORM's usual one. */
const TRACKING_TABLE = "mikro_orm_migrations";
const UNDEFINED_TABLE = "42P01";

/** Runs what is missing, in one transaction, as the owner of the schema. Returns the names of what it ran. */
export async function migrate(owner: ClientConfig): Promise<string[]> {
  const { executed, database } = await withClient(owner, readState);
  const known = migrations.map(({ name }) => name);
  const unknown = executed.filter((name) => !known.includes(name));
  if (unknown.length > 0) {
    throw new Error(
      `The schema of database ${database} is newer than this Saldo: it has ${unknown.join(", ")}. ` +
        `Start the newer version, or set DATABASE_URL or SALDO_DATA_DIR to another database.`,
    );
  }
  if (known.every((name) => executed.includes(name))) return [];
  // MikroORM takes a fifth of a second and 32 MB to load, which only a start with something to migrate pays.
  const { runMigrations } = await import("./run-migrations.ts");
  return runMigrations(owner, { database, trackingTable: TRACKING_TABLE });
}

async function readState(client: Client): Promise<{ executed: string[]; database: string }> {
  const { rows } = await client.query<{ name: string }>("SELECT current_database() AS name");
  const database = rows[0]?.name ?? "";
  try {
    const found = await client.query<{ name: string }>(`SELECT name FROM ${TRACKING_TABLE} ORDER BY id`);
    return { executed: found.rows.map(({ name }) => name), database };
  } catch (error) {
    if (sqlState(error) === UNDEFINED_TABLE) return { executed: [], database };
    throw error;
  }
}
