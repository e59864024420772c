// The one file that loads MikroORM, and the migrations with it. It is imported when a migration is pending, and only then.

import { Migrator } from "@mikro-orm/migrations";
import { MikroORM } from "@mikro-orm/postgresql";
import type { ClientConfig } from "pg";
import { migrations } from "./migrations/migrations.ts";
import { SERVING_ROLE } from "./serving-settings.ts";
import { sqlState } from "./transactions.ts";

/** Any number that nobody else locks: processes that start at once take turns by it. */
const MIGRATION_LOCK = 5_841_020_118;
const INSUFFICIENT_PRIVILEGE = "42501";

/** Runs the migrations that the tracking table does not name, in one transaction and under a lock. Returns their names. */
export async function runMigrations(
  owner: ClientConfig,
  { database, trackingTable }: { database: string; trackingTable: string },
): Promise<string[]> {
  const migrationsList = await Promise.all(migrations.map(async ({ name, load }) => ({ name, class: await load() })));
  const orm = new MikroORM({
    dbName: database,
    driverOptions: owner,
    entities: [],
    discovery: { warnWhenNoEntities: false },
    extensions: [Migrator],
    migrations: { migrationsList, tableName: trackingTable, snapshot: false, silent: true },
  });
  try {
    return await orm.em.transactional(async (em) => {
      const transaction = em.getTransactionContext();
      await em.getConnection().execute("SELECT pg_advisory_xact_lock(?)", [MIGRATION_LOCK], "run", transaction);
      const ran = await orm.migrator.up(transaction === undefined ? {} : { transaction });
      // A login that only serves can then see that there is nothing to do.
      await em.getConnection().execute(`GRANT SELECT ON ${trackingTable} TO ${SERVING_ROLE}`, [], "run", transaction);
      return ran.map(({ name }) => name);
    });
  } catch (error) {
    if (sqlState(error) !== INSUFFICIENT_PRIVILEGE) throw error;
    throw new Error(
      `The schema of database ${database} has to be brought up to date, and this login may not. ` +
        `Set DATABASE_OWNER_URL to the login that owns the schema.`,
      { cause: error },
    );
  } finally {
    await orm.close(true);
  }
}
