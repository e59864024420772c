// The formats of requests that a model's upstreams speak themselves. Requests in another format are translated.

import type { CatalogModel, CatalogSnapshot, UpstreamKind } from "../catalog/catalog-model.ts";

/** The format that each kind of upstream speaks. */
const PROTOCOLS: Readonly<Record<UpstreamKind, string>> = {
  demo: "chat",
  "openai-compatible": "chat",
  "openai-responses": "responses",
  anthropic: "messages",
  gemini: "gemini",
};

/** The formats of a model's upstreams, each once, the first route's first. Empty: a model that does not converse. */
export function nativeProtocols(
  { kind, routes }: Pick<CatalogModel, "kind" | "routes">,
  upstreams: CatalogSnapshot["upstreams"],
): string[] {
  if (kind !== "chat") return [];
  const kinds = routes.flatMap(({ upstream }) => upstreams.get(upstream)?.kind ?? []);
  return [...new Set(kinds.map((each) => PROTOCOLS[each]))];
}
