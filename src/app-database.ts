// How this service opens its database: the part of the composition that commands need too, without the servers.

import type { Config } from "./config.ts";
import { type Database, openDatabase } from "./database/database.ts";
import { ApiKeyEntity } from "./keys/entities.ts";

/** Opens the database that the configuration names, with every room's tables. */
export function openServiceDatabase(config: Config): Promise<Database> {
  return openDatabase({
    dataDir: config.dataDir,
    entities: [ApiKeyEntity],
    ...(config.databaseUrl === null ? {} : { url: config.databaseUrl }),
    ...(config.databaseOwnerUrl === null ? {} : { ownerUrl: config.databaseOwnerUrl }),
  });
}
