// Brings the schema to what this code knows, and refuses a schema that knows more than this code.

import type { Client, ClientConfig } from "pg";
import { Migrator } from "@mikro-orm/migrations";
import { MikroORM } from "@mikro-orm/postgresql";
import { withClient } from "./connections.ts";
import { migrations } from "./migrations/migrations.ts";
import { SERVING_ROLE } from "./serving-settings.ts";
import { sqlState } from "./transactions.ts";

const TRACKING_TABLE = "mikro_orm_migrations";
/** Any number that nobody else locks: processes that start at once take turns by it. */
const MIGRATION_LOCK = 5_841_020_118;
const UNDEFINED_TABLE = "42P01";
const INSUFFICIENT_PRIVILEGE = "42501";

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
  return runPending(owner, database);
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

async function runPending(owner: ClientConfig, dbName: string): Promise<string[]> {
  const orm = new MikroORM({
    dbName,
    driverOptions: owner,
    entities: [],
    discovery: { warnWhenNoEntities: false },
    extensions: [Migrator],
    migrations: { migrationsList: migrations, tableName: TRACKING_TABLE, snapshot: false, silent: true },
  });
  try {
    return await orm.em.transactional(async (em) => {
      const transaction = em.getTransactionContext();
      await em.getConnection().execute("SELECT pg_advisory_xact_lock(?)", [MIGRATION_LOCK], "run", transaction);
      const ran = await orm.migrator.up(transaction === undefined ? {} : { transaction });
      // A login that only serves can then see that there is nothing to do.
      await em.getConnection().execute(`GRANT SELECT ON ${TRACKING_TABLE} TO ${SERVING_ROLE}`, [], "run", transaction);
      return ran.map(({ name }) => name);
    });
  } catch (error) {
    if (sqlState(error) !== INSUFFICIENT_PRIVILEGE) throw error;
    throw new Error(
      `The schema of database ${dbName} has to be brought up to date, and this login may not. ` +
        `Set DATABASE_OWNER_URL to the login that owns the schema.`,
      { cause: error },
    );
  } finally {
    await orm.close(true);
  }
}
