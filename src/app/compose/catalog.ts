// What is in the catalog without a file: upstreams whose variable is set, and the demo's models while the demo is on. A demo
// has no real upstreams unless a setting allows them.

import type { CatalogModel, UpstreamConfig } from "../../catalog/catalog-model.ts";
import type { Config } from "../config/config.ts";
import { demoModels, demoUpstreamConfig } from "../../gateway/upstreams/demo/demo-catalog.ts";
import { presetUpstreams } from "../../gateway/upstreams/presets.ts";

const DEMO_CREATED_AT = new Date("2026-11-20T00:00:00Z");

export type PresetCatalog = {
  readonly presetUpstreams: readonly UpstreamConfig[];
  readonly presetModels: readonly CatalogModel[];
};

/** The presets of a configuration. */
export function presetCatalog(config: Pick<Config, "demo" | "demoAllows" | "variable">): PresetCatalog {
  const { demo, variable } = config;
  const upstreams = usesRealUpstreams(config) ? presetUpstreams(variable) : [];
  if (!demo) return { presetUpstreams: upstreams, presetModels: [] };
  return {
    presetUpstreams: [demoUpstreamConfig, ...upstreams],
    presetModels: demoModels.map((model) => ({ ...model, createdAt: DEMO_CREATED_AT })),
  };
}

/** Whether models of real upstreams are answered: in a demo play money would buy them. */
export function usesRealUpstreams({ demo, demoAllows }: Pick<Config, "demo" | "demoAllows">): boolean {
  return !demo || demoAllows.has("upstreams");
}

/** The upstreams that are set up and are not called, because this is a demo. */
export function ignoredUpstreams(config: Pick<Config, "demo" | "demoAllows" | "variable">): readonly string[] {
  return usesRealUpstreams(config) ? [] : presetUpstreams(config.variable).map(({ id }) => id);
}
