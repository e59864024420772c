// The operator's side of the catalog: what a file would change, applying it, and writing the catalog as such a file.

import type { Pool, PoolClient } from "pg";
import type { Database } from "../database/database.ts";
import { ValidationError } from "../kernel/errors.ts";
import type { CatalogModel, UpstreamConfig } from "./catalog-model.ts";
import { compareCatalogs, type CatalogChange } from "./catalog-changes.ts";
import type { CatalogFile } from "./catalog-file.ts";
import { remoteProblems } from "./remote-rules.ts";
import { type CatalogWarning, findPossibleLosses } from "./possible-losses.ts";
import {
  type ActiveCatalog,
  atOneMoment,
  insertChange,
  lockCatalog,
  putModel,
  putUpstream,
  readActiveCatalog,
  readCatalogAtOnce,
  retire,
} from "./store.ts";
import { insertVersion, readVersionNumber, wasPublished } from "./version-store.ts";

export type { CatalogChange, FieldChange, PriceDifference } from "./catalog-changes.ts";
export type { CatalogWarning } from "./possible-losses.ts";

/** What is in the catalog without a file. */
export type CatalogPresets = {
  /** Upstreams of the environment, which routes may name although the file does not list them. */
  readonly presetUpstreams?: readonly UpstreamConfig[];
  /** Models that are there without a file. A file may change one; leaving it out takes nothing away. */
  readonly presetModels?: readonly CatalogModel[];
};

/** A catalog file to be applied. */
export type CatalogDraft = CatalogPresets & {
  readonly yaml: string;
  /**
   * It came over the network: hosts of keys and private addresses stay as they are. `isSet` returns whether a variable of the environment
   * is set. Absent: it came from the command line.
   */
  readonly remote?: { readonly isSet: (variable: string) => boolean };
};

/** What a file changes, and the version that is live: the one it was compared with, or its own. 0: none was published yet. */
export type ComparedCatalog = {
  readonly version: number;
  readonly changes: readonly CatalogChange[];
  /** Where the whole file, not only what it changes, can lose money. A file with warnings can be published. */
  readonly warnings: readonly CatalogWarning[];
};

/** Returns what a file would change, and changes nothing. Errors: ValidationError with every problem of the file. */
export async function previewCatalog(database: Pick<Database, "pool">, draft: CatalogDraft): Promise<ComparedCatalog> {
  const file = await readDraft(draft);
  return atOneMoment(database, async (client) => {
    const active = await readActiveCatalog(client);
    await refuseRemote(client, file, active, draft);
    return {
      version: await readVersionNumber(client),
      changes: compare(active, file, draft),
      warnings: warningsOf(file, draft),
    };
  });
}

/** A file to publish. */
export type CatalogPublication = CatalogDraft & {
  readonly operator: string;
  readonly reason: string | null;
  /** The version the file was made from. Left out: whichever is live. */
  readonly baseVersion?: number;
};

/**
 * Applies a file to the catalog, all of it or nothing, inside the caller's transaction; what the file leaves out is
 * retired. Nodes serve the new catalog within a minute. A file that changes nothing makes no version. Errors: ValidationError
 * with every problem of the file, or when it was made from another version than the one that is live.
 */
export async function publishCatalog(client: PoolClient, publication: CatalogPublication): Promise<ComparedCatalog> {
  const file = await readDraft(publication);
  // Two files published at the same time come one after the other, each compared with what the first has left.
  await lockCatalog(client);
  const live = await readVersionNumber(client);
  if (publication.baseVersion !== undefined && publication.baseVersion !== live) {
    const message = `must be ${live}, the version that is live: another version was published since this draft was begun`;
    throw new ValidationError([{ field: "baseVersion", rule: "catalog.base_version", message }]);
  }
  const active = await readActiveCatalog(client);
  await refuseRemote(client, file, active, publication);
  const changes = compare(active, file, publication);
  const warnings = warningsOf(file, publication);
  if (changes.length === 0) return { version: live, changes, warnings };
  const version = live + 1;
  for (const change of changes) await writeChange(client, { change, file, version });
  const yaml = await toYaml(withPresets(await readActiveCatalog(client), publication));
  await insertVersion(client, { number: version, operator: publication.operator, reason: publication.reason, yaml });
  return { version, changes, warnings };
}

/** The live catalog, with the presets that no row replaces. */
export type LiveCatalog = { readonly version: number; readonly yaml: string; readonly catalog: CatalogFile };

/** The number of the version that is live, and no more of it. 0: none was published yet. */
export function readCatalogVersion(client: Pool | PoolClient): Promise<number> {
  return readVersionNumber(client);
}

/** Reads the current catalog of the database. */
export async function readLiveCatalog(
  database: Pick<Database, "pool">,
  presets: CatalogPresets = {},
): Promise<LiveCatalog> {
  return atOneMoment(database, async (client) => {
    const catalog = withPresets(await readActiveCatalog(client), presets);
    return { version: await readVersionNumber(client), yaml: await toYaml(catalog), catalog };
  });
}

/** Writes the catalog as YAML that applies to no changes. Retired models and upstreams are not in it. */
export async function exportCatalog(database: Pick<Database, "pool">, presets: CatalogPresets = {}): Promise<string> {
  return toYaml(withPresets(await readCatalogAtOnce(database), presets));
}

/** Errors: ValidationError with everything that only the command line may change. */
async function refuseRemote(
  client: PoolClient,
  file: CatalogFile,
  { upstreams }: ActiveCatalog,
  { remote, presetUpstreams = [] }: CatalogDraft,
): Promise<void> {
  if (remote === undefined) return;
  const exists = async (keyVariable: string): Promise<boolean> =>
    remote.isSet(keyVariable) || wasPublished(client, `api_key_env: ${keyVariable}`);
  const problems = await remoteProblems(file.upstreams, [...upstreams, ...presetUpstreams], exists);
  if (problems.length > 0) throw new ValidationError(problems);
}

function compare(active: ActiveCatalog, file: CatalogFile, { presetModels = [] }: CatalogPresets): CatalogChange[] {
  const presets = presetModels.filter((preset) => !active.models.some(({ id }) => id === preset.id));
  return compareCatalogs({ ...active, models: [...active.models, ...presets] }, file).filter(
    ({ kind, change, id }) => !(kind === "model" && change === "retired" && presets.some((preset) => preset.id === id)),
  );
}

function warningsOf({ upstreams, models }: CatalogFile, { presetUpstreams = [] }: CatalogPresets): CatalogWarning[] {
  return findPossibleLosses(models, new Map([...presetUpstreams, ...upstreams].map((each) => [each.id, each])));
}

function withPresets({ upstreams, models }: ActiveCatalog, { presetModels = [] }: CatalogPresets): ActiveCatalog {
  const presets = presetModels.filter((preset) => !models.some(({ id }) => id === preset.id));
  return { upstreams, models: [...presets, ...models] };
}

// YAML is loaded with the first file: a start needs none.
async function readDraft({ yaml, presetUpstreams }: CatalogDraft): Promise<CatalogFile> {
  const { readCatalogFile } = await import("./catalog-file.ts");
  return readCatalogFile(yaml, presetUpstreams);
}

async function toYaml(catalog: CatalogFile): Promise<string> {
  const { writeCatalogFile } = await import("./catalog-file.ts");
  return writeCatalogFile(catalog);
}

async function writeChange(
  client: PoolClient,
  { change, file, version }: { change: CatalogChange; file: CatalogFile; version: number },
): Promise<void> {
  const isMeant = ({ id }: { readonly id: string }) => id === change.id;
  const upstream = change.kind === "upstream" ? file.upstreams.find(isMeant) : undefined;
  const model = change.kind === "model" ? file.models.find(isMeant) : undefined;
  if (upstream !== undefined) await putUpstream(client, upstream);
  else if (model !== undefined) await putModel(client, model);
  else await retire(client, change);
  await insertChange(client, { ...change, version });
}
