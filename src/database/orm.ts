// MikroORM for the slow path. It has no connections of its own: an entity manager works on the pool or the transaction that it is
// given, so the number of connections, the types of values, time limits and the serving role stay those of this room.

import type { Pool, PoolClient } from "pg";
import type { Entities } from "./orm-loaded.ts";

let loaded: Promise<(client: Pool | PoolClient) => Entities> | undefined;

/**
 * The entities on a pool or inside the transaction of a client. On a pool each statement is a transaction of its own, so only reads
 * and single writes belong there. The first call loads the ORM.
 */
export async function entitiesOn(client: Pool | PoolClient): Promise<Entities> {
  loaded ??= import("./orm-loaded.ts").then(({ loadOrm }) => loadOrm());
  return (await loaded)(client);
}
