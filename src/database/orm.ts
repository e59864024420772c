// The ORM over the serving role, for people-speed reading and writing. It keeps a few connections of its own: the
// pool beside it gives bigint for int8, and the ORM reads its columns as text.

import { MikroORM } from "@mikro-orm/postgresql";
import type { EntitySchema } from "@mikro-orm/core";
import type { EntityManager } from "@mikro-orm/postgresql";
import type { ClientConfig } from "pg";

const ORM_POOL_SIZE = 4;

/** Makes the ORM; its first query connects. */
export function createOrm(
  serving: ClientConfig,
  { dbName, entities }: { dbName: string; entities: readonly EntitySchema[] },
): MikroORM {
  const { types: _ours, ...driverOptions } = serving;
  return new MikroORM({
    dbName,
    driverOptions,
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
