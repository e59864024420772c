// A catalog file as a test applies it.

import {
  type CatalogChange,
  type CatalogDraft,
  type CatalogPublication,
  previewCatalog,
  publishCatalog,
} from "../../src/catalog/apply-catalog.ts";
import type { Database } from "../../src/database/database.ts";
import { withTransaction } from "../../src/database/transactions.ts";

/** What a file changes, applied unless it is only looked at. */
export async function applyCatalog(
  database: Database,
  { dryRun = false, ...draft }: CatalogDraft & Partial<CatalogPublication> & { readonly dryRun?: boolean },
): Promise<readonly CatalogChange[]> {
  if (dryRun) return (await previewCatalog(database, draft)).changes;
  const order = { operator: "ani@example.com", reason: null, ...draft };
  return (await withTransaction(database, (client) => publishCatalog(client, order))).changes;
}
