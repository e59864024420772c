// How this service opens its database: the part of the composition that commands need too, without the servers.

import type { Config } from "../config/config.ts";
import { type Database, openDatabase } from "../../database/database.ts";
import { useSecretsKeys } from "../../kernel/sealed-text.ts";

/** Opens the database that the configuration names; as a worker, without a hand on the embedded server. */
export function openServiceDatabase(config: Config, { asWorker = false } = {}): Promise<Database> {
  // What the database holds of secrets is read with them.
  useSecretsKeys(config.secretsKeys);
  return openDatabase({
    dataDir: config.dataDir,
    runByParent: asWorker,
    poolSize: config.poolSize,
    requestPoolSize: config.requestPoolSize,
    ...(config.databaseUrl === null ? {} : { url: config.databaseUrl }),
    ...(config.databaseOwnerUrl === null ? {} : { ownerUrl: config.databaseOwnerUrl }),
  });
}
