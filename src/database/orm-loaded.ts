// What loads MikroORM; `orm.ts` imports it when the first store asks.

import { type EntityManager, MikroORM, raw, UnderscoreNamingStrategy, type Options } from "@mikro-orm/postgresql";
import { Kysely, PostgresDialect } from "kysely";
import type { Pool, PoolClient } from "pg";
import { entities } from "./entities/entities.ts";

/** An entity manager of its own for one call, the entities to ask it for, and `raw` for what only SQL can express. */
export type Entities = typeof entities & { readonly em: EntityManager; readonly raw: typeof raw };

type Connections = ConstructorParameters<typeof PostgresDialect>[0]["pool"];

/** Names of constraints as PostgreSQL gives them. */
class PostgresNames extends UnderscoreNamingStrategy {
  override indexName(...[table, columns, type]: Parameters<UnderscoreNamingStrategy["indexName"]>): string {
    return type === "foreign" ? `${table}_${columns.join("_")}_fkey` : super.indexName(table, columns, type);
  }
}

/** How the entities are read, by the stores and by the test that compares them with the tables. */
export const mapping = {
  namingStrategy: PostgresNames,
  metadataCache: { enabled: false },
  schemaGenerator: {
    defaultUpdateRule: "no action",
    defaultDeleteRule: "no action",
    ignoreTriggers: true,
    ignoreRoutines: true,
  },
} satisfies Options;

/** Discovers the entities, without a connection. */
export function loadOrm(): (client: Pool | PoolClient) => Entities {
  const orm = new MikroORM({
    ...mapping,
    entities: Object.values(entities),
    dbName: "given by the client",
    // Nothing of the schema is looked at or made at run time.
    ensureDatabase: false,
    driverOptions: new PostgresDialect({ pool: () => Promise.reject(new Error("An entity manager is on no client.")) }),
  });
  return (client) => ({ ...entities, em: managerOn(orm, client), raw });
}

/** A transaction context makes the entity manager run everything on it, and begin no transaction of its own. */
function managerOn(orm: MikroORM, client: Pool | PoolClient): EntityManager {
  const em = orm.em.fork();
  em.setTransactionContext(new Kysely({ dialect: new PostgresDialect({ pool: connectionsOf(client) }) }));
  return em;
}

function connectionsOf(client: Pool | PoolClient): Connections {
  if (!("release" in client)) return client;
  // The caller releases its client and ends its transaction.
  const lent = { query: client.query.bind(client), release: () => {} };
  return { connect: () => Promise.resolve(lent), end: () => Promise.resolve() } as unknown as Connections;
}
