// What is in the catalog without a file: upstreams whose variable is set, and the demo's models while the demo is on.

import type { CatalogModel, UpstreamConfig } from "./catalog/catalog.ts";
import { readCatalogFile } from "./catalog/catalog-file.ts";
import type { Config } from "./config.ts";
import { demoCatalog } from "./gateway/upstreams/demo/demo-catalog.ts";
import { presetUpstreams } from "./gateway/upstreams/presets.ts";

const DEMO_CREATED_AT = new Date("2026-11-20T00:00:00Z");

export type PresetCatalog = {
  readonly presetUpstreams: readonly UpstreamConfig[];
  readonly presetModels: readonly CatalogModel[];
};

/** The presets of a configuration. */
export function presetCatalog({ demo, variable }: Pick<Config, "demo" | "variable">): PresetCatalog {
  const upstreams = presetUpstreams(variable);
  if (!demo) return { presetUpstreams: upstreams, presetModels: [] };
  const file = readCatalogFile(demoCatalog);
  return {
    presetUpstreams: [...file.upstreams, ...upstreams],
    presetModels: file.models.map((model) => ({ ...model, createdAt: DEMO_CREATED_AT })),
  };
}
