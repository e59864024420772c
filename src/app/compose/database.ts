// How this service opens its database: the part of the composition that commands need too, without the servers.

import type { Config } from "../config/config.ts";
import { type Database, type DatabaseOptions, openDatabase } from "../../database/database.ts";
import type { CellSetting } from "../config/cells.ts";
import { requireCell } from "../../database/cell-claim.ts";
import { cellConfig } from "./cell-config.ts";
import { useKeysOf } from "./secrets.ts";

type OpenOptions = { asWorker?: boolean } & Pick<
  DatabaseOptions,
  "onPrimary" | "onReadSource" | "onSchemaWait" | "onServer" | "serverSettings"
>;

/** Opens the database that the configuration names; as a worker, without a hand on the embedded server. */
export async function openServiceDatabase(
  config: Config,
  { asWorker = false, ...more }: OpenOptions = {},
): Promise<Database> {
  // What the database holds of secrets is read with them.
  await useKeysOf(config);
  return openDatabase({
    ...whereIs(config),
    runByParent: asWorker,
    ...more,
    ...(config.databaseReadUrl === null ? {} : { readUrl: config.databaseReadUrl }),
    maxReadLagMs: config.maxReadLagMs,
    poolSize: config.poolSize,
    requestPoolSize: config.requestPoolSize,
  });
}

/** Opens another cell, which must be the one that the settings name. `mayBeNew`: or one that no start has served yet. Errors: WrongCell. */
export async function openCellDatabase(
  config: Config,
  setting: CellSetting,
  { onSchemaWait, mayBeNew = false }: Pick<DatabaseOptions, "onSchemaWait"> & { readonly mayBeNew?: boolean } = {},
): Promise<Database> {
  await useKeysOf(config);
  const database = await openDatabase({
    ...whereIs(cellConfig(config, setting)),
    ...(onSchemaWait === undefined ? {} : { onSchemaWait }),
    poolSize: config.poolSize,
    requestPoolSize: config.requestPoolSize,
  });
  try {
    await requireCell(database.pool, { name: setting.name, mayBeNew });
    return database;
  } catch (error) {
    await database.close();
    throw error;
  }
}

/** Where the database of a configuration is, and by which logins. */
export function whereIs(config: Config): Pick<DatabaseOptions, "dataDir" | "url" | "ownerUrl" | "requestUrl"> {
  return {
    dataDir: config.dataDir,
    ...(config.databaseUrl === null ? {} : { url: config.databaseUrl }),
    ...(config.databaseOwnerUrl === null ? {} : { ownerUrl: config.databaseOwnerUrl }),
    ...(config.databaseRequestUrl === null ? {} : { requestUrl: config.databaseRequestUrl }),
  };
}
