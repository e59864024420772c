// What operators set for all accounts is set in the home cell, and published from there to the other cells.

import { readLiveCatalog, publishCatalog } from "../../catalog/apply-catalog.ts";
import { readBillingSettings, setSeller, setTaxRule, setWelcomeCredit } from "../../billing/settings.ts";
import type { Database } from "../../database/database.ts";
import { withRetry, withTransaction } from "../../database/transactions.ts";
import type { PresetCatalog } from "./catalog.ts";

const PUBLISHED = { operator: "home cell", reason: "published from the home cell" };

/** Makes the catalog and the settings of a cell those of the home cell. Nothing is written where they are the same. */
export async function publishTo(
  cell: Pick<Database, "pool">,
  home: Pick<Database, "pool">,
  presets: PresetCatalog,
): Promise<void> {
  const settings = await readBillingSettings(home.pool);
  const [{ yaml, version }, there] = [await readLiveCatalog(home, presets), await readLiveCatalog(cell, presets)];
  await withRetry(() =>
    withTransaction(cell, async (client) => {
      if (settings.seller.name !== "") await setSeller(client, settings.seller);
      await setTaxRule(client, settings.tax);
      await setWelcomeCredit(client, settings.welcomeCredit);
      // Presets are there without a file.
      if (version > 0 && yaml !== there.yaml) await publishCatalog(client, { ...presets, ...PUBLISHED, yaml });
    }),
  );
}
