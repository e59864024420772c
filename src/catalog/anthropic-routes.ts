// What a model needs whose routes lead to an upstream of the kind `anthropic`. It charges for cache writes by their lifetime, so a
// missing price would sell what is kept for an hour at the price of five minutes, or of plain input.

import type { ModelKind, RouteCost } from "./catalog-model.ts";
import type { FileField } from "./file-field.ts";

/** A price or cost with its place in the file. */
export type PriceField = { readonly field: FileField; readonly prices: RouteCost };

const NEEDED = [
  ["cacheWrite", "cache_write"],
  ["cacheWrite1h", "cache_write_1h"],
] as const;

/** Notes each price of cache writes that is missing, and an embeddings model. */
export function checkAnthropicRoute(kind: ModelKind, route: FileField, lists: readonly PriceField[]): void {
  if (kind === "embeddings") {
    route.note("embeddings", "must not lead to an upstream of the kind anthropic, which has no embeddings");
    return;
  }
  for (const { field, prices } of lists) {
    for (const [price, name] of NEEDED) {
      if (prices.other?.[price] !== undefined) continue;
      field.note(`price.${name}`, `must have ${name}, because a route leads to an upstream of the kind anthropic`);
    }
  }
}
