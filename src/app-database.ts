// How this service opens its database: the part of the composition that commands need too, without the servers.

import type { Config } from "./config.ts";
import { type Database, openDatabase } from "./database/database.ts";

/** Opens the database that the configuration names; as a worker, without a hand on the embedded server. */
export function openServiceDatabase(config: Config, { asWorker = false } = {}): Promise<Database> {
  return openDatabase({
    dataDir: config.dataDir,
    runByParent: asWorker,
    ...(config.databaseUrl === null ? {} : { url: config.databaseUrl }),
    ...(config.databaseOwnerUrl === null ? {} : { ownerUrl: config.databaseOwnerUrl }),
  });
}
