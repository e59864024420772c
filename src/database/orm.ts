// MikroORM for the slow path. It has no connections of its own: an entity manager works on the pool or the transaction that it is
// given, so the number of connections, the types of values, time limits and the serving role stay those of this room.

import { setImmediate } from "node:timers/promises";
import type { Pool, PoolClient } from "pg";
import type { Entities } from "./orm-loaded.ts";

let loaded: Promise<(client: Pool | PoolClient) => Entities> | undefined;

/**
 * The entities on a pool or inside the transaction of a client. On a pool each statement is a transaction of its own, so only reads
 * and single writes belong there. The first call loads the ORM.
 */
export async function entitiesOn(client: Pool | PoolClient): Promise<Entities> {
  loaded ??= load();
  return (await loaded)(client);
}

/** The event loop waits while modules are evaluated. In steps, chats go on between them. */
async function load(): Promise<(client: Pool | PoolClient) => Entities> {
  const steps = [() => import("kysely"), () => import("@mikro-orm/core"), () => import("@mikro-orm/postgresql")];
  for (const step of steps) {
    await step();
    await setImmediate();
  }
  const { loadOrm } = await import("./orm-loaded.ts");
  await setImmediate();
  return loadOrm();
}
