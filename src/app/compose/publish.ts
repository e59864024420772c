// What operators set for all accounts is set in the home cell, and published from there to the other cells.

import { readCatalogVersion, readLiveCatalog, publishCatalog } from "../../catalog/apply-catalog.ts";
import {
  type BillingSettings,
  readBillingSettings,
  setSeller,
  setTaxRule,
  setWelcomeCredit,
} from "../../billing/settings.ts";
import type { PoolClient } from "pg";
import type { Database } from "../../database/database.ts";
import { withRetry, withTransaction } from "../../database/transactions.ts";
import type { PresetCatalog } from "./catalog.ts";

const PUBLISHED = { operator: "home cell", reason: "published from the home cell" };

type Place = Pick<Database, "pool">;
type Versions = { readonly home: number; readonly cell: number };

/**
 * Makes a function that makes the catalog and the settings of a cell those of the home cell. Nothing is written where they are the
 * same. A catalog is read whole only where its version is another than it was, in one of the two.
 */
export function publisherTo(cell: Place, home: Place, presets: PresetCatalog): () => Promise<void> {
  let equal: Versions | null = null;
  return async () => {
    const settings = await readBillingSettings(home.pool);
    await withRetry(() => withTransaction(cell, (client) => setAll(client, settings)));
    const found = { home: await readCatalogVersion(home.pool), cell: await readCatalogVersion(cell.pool) };
    if (equal?.home === found.home && equal.cell === found.cell) return;
    equal = await publishWhole(cell, home, presets);
  };
}

/** Sets what differs. A tax needs a seller with a number of taxpayers, so it goes before its seller and comes behind. */
async function setAll(client: PoolClient, { seller, tax, welcomeCredit }: BillingSettings): Promise<void> {
  if (tax.rate === 0) await setTaxRule(client, tax);
  if (seller.name !== "") await setSeller(client, seller);
  await setTaxRule(client, tax);
  await setWelcomeCredit(client, welcomeCredit);
}

async function publishWhole(cell: Place, home: Place, presets: PresetCatalog): Promise<Versions> {
  const [wanted, there] = [await readLiveCatalog(home, presets), await readLiveCatalog(cell, presets)];
  // Presets are there without a file.
  if (wanted.version === 0 || wanted.yaml === there.yaml) return { home: wanted.version, cell: there.version };
  const { version } = await withRetry(() =>
    withTransaction(cell, (client) => publishCatalog(client, { ...presets, ...PUBLISHED, yaml: wanted.yaml })),
  );
  return { home: wanted.version, cell: version };
}
