// The ORM over the serving role, for people-speed reading and writing. It keeps a few connections of its own: the
// pool beside it gives bigint for int8, and the ORM reads its columns as text.

import { MikroORM } from "@mikro-orm/postgresql";
import type { EntitySchema } from "@mikro-orm/core";
import type { EntityManager } from "@mikro-orm/postgresql";
import type { ClientConfig, Pool, PoolClient } from "pg";

const ORM_POOL_SIZE = 4;

/** Makes the ORM; its first query connects. */
export function createOrm(
  serving: ClientConfig,
  { dbName, entities }: { dbName: string; entities: readonly EntitySchema[] },
): MikroORM {
  const { types: _ours, ...driverOptions } = serving;
  return new MikroORM({
    dbName,
    driverOptions: { ...driverOptions, onPoolCreated: giveBackEnded },
    entities: [...entities],
    discovery: { warnWhenNoEntities: false },
    allowGlobalContext: false,
    pool: { min: 0, max: ORM_POOL_SIZE },
  });
}

/** The EntityManager of one unit of work. Every use case forks its own, so that none sees another's unsaved changes. */
export function forkEntityManager({ orm }: { orm: MikroORM }): EntityManager {
  return orm.em.fork();
}

// The ORM keeps a connection that ended inside a transaction for ever, because rolling back on it fails: after as many
// cuts as its pool is large no query would find a connection. So the pool takes an ended connection back by itself.
function giveBackEnded(pool: Pool): void {
  const lent = new Set<PoolClient>();
  pool.on("acquire", (client) => lent.add(client));
  pool.on("release", (_error, client) => lent.delete(client));
  pool.on("connect", (client) => {
    client.once("end", () => {
      if (!lent.has(client)) return;
      client.release(new Error("the connection ended"));
      // The pool counts a second release as a bug of its user, and the ORM does release after a failed query.
      client.release = () => {};
    });
  });
}
