// The settings of another cell than the home: those of the process, but for what belongs to one database.

import { join } from "node:path";
import type { CellSetting } from "../config/cells.ts";
import type { Config } from "../config/config.ts";

/** Makes them. Wallets of production, and with them merchants, are in the home cell. */
export function cellConfig(config: Config, { name, url, ownerUrl, requestUrl }: CellSetting): Config {
  const folder = (parent: string): string => join(parent, "cells", name);
  return {
    ...config,
    dataDir: folder(config.dataDir),
    payoutJournalDir: folder(config.payoutJournalDir),
    databaseUrl: url,
    databaseOwnerUrl: ownerUrl,
    databaseRequestUrl: requestUrl,
    databaseReadUrl: null,
    backupDir: null,
    chains: [],
    usageArchiveDir: config.usageArchiveDir === null ? null : folder(config.usageArchiveDir),
    // One file for each chain of roots.
    proofFile: config.proofFile === null ? null : `${config.proofFile}.${name}`,
    cells: [],
    newAccountsIn: "home",
  };
}
