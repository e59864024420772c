// The operator's side of the catalog: bring it to what a file says, and write it as such a file.

import type { PoolClient } from "pg";
import type { Database } from "../database/database.ts";
import { withRetry, withTransaction } from "../database/transactions.ts";
import type { CatalogModel, UpstreamConfig } from "./catalog.ts";
import { compareCatalogs, type CatalogChange } from "./catalog-changes.ts";
import { readCatalogFile, writeCatalogFile, type CatalogFile } from "./catalog-file.ts";
import {
  insertChange,
  lockCatalog,
  putModel,
  putUpstream,
  readActiveCatalog,
  readCatalogAtOnce,
  retire,
} from "./store.ts";

export type { CatalogChange, FieldChange, PriceDifference } from "./catalog-changes.ts";

type ApplyOptions = {
  readonly yaml: string;
  /** Tell what would change and change nothing. */
  readonly dryRun?: boolean;
  /** Upstreams of the environment, which routes may name although the file does not list them. */
  readonly presetUpstreams?: readonly UpstreamConfig[];
  /** Models that are there without a file. A file may change one; leaving it out takes nothing away. */
  readonly presetModels?: readonly CatalogModel[];
};

/**
 * Makes the catalog what the file says, all of it or nothing, and gives what changed; what the file leaves out is retired.
 * Nodes serve the new catalog within a minute. Errors: ValidationError with every problem of the file.
 */
export async function applyCatalog(
  database: Pick<Database, "pool">,
  { yaml, dryRun = false, presetUpstreams = [], presetModels = [] }: ApplyOptions,
): Promise<CatalogChange[]> {
  const file = readCatalogFile(yaml, presetUpstreams);
  return withRetry(() =>
    withTransaction(database, async (client) => {
      // Two files applied at the same time come one after the other, each compared with what the first has left.
      await lockCatalog(client);
      const active = await readActiveCatalog(client);
      const presets = presetModels.filter((preset) => !active.models.some(({ id }) => id === preset.id));
      const changes = compareCatalogs({ ...active, models: [...active.models, ...presets] }, file).filter(
        ({ kind, change, id }) =>
          !(kind === "model" && change === "retired" && presets.some((preset) => preset.id === id)),
      );
      if (!dryRun) for (const change of changes) await writeChange(client, change, file);
      return changes;
    }),
  );
}

/** Writes the catalog as YAML that applies to no changes. Retired models and upstreams are not in it. */
export async function exportCatalog(
  database: Pick<Database, "pool">,
  { presetModels = [] }: Pick<ApplyOptions, "presetModels"> = {},
): Promise<string> {
  const { upstreams, models } = await readCatalogAtOnce(database);
  const presets = presetModels.filter((preset) => !models.some(({ id }) => id === preset.id));
  return writeCatalogFile({ upstreams, models: [...presets, ...models] });
}

async function writeChange(client: PoolClient, change: CatalogChange, file: CatalogFile): Promise<void> {
  const isMeant = ({ id }: { readonly id: string }) => id === change.id;
  const upstream = change.kind === "upstream" ? file.upstreams.find(isMeant) : undefined;
  const model = change.kind === "model" ? file.models.find(isMeant) : undefined;
  if (upstream !== undefined) await putUpstream(client, upstream);
  else if (model !== undefined) await putModel(client, model);
  else await retire(client, change);
  await insertChange(client, change);
}
