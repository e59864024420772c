// Where a catalog can lose money: routes that can cost the operator more than customers pay. They may be meant, so they are
// warnings and refuse nothing.

import { type PriceSnapshot, pricesAt, type PricesOfAllKinds } from "../kernel/token-prices.ts";
import type { RouteCost, UpstreamConfig } from "./catalog-model.ts";
import type { FileModel } from "./model-file.ts";
import { OTHER_KINDS, OTHER_NAMES } from "./price-file.ts";
import { formatPrice, pricesOf } from "./prices.ts";

const PRICE_NAMES = { input: "input", output: "output", cacheHit: "cache_hit", ...OTHER_NAMES } as const;
/** A price by its name in the file. */
type PriceName = (typeof PRICE_NAMES)[keyof PricesOfAllKinds];

/** One way in which a route can lose money. */
export type CatalogWarning = {
  readonly model: string;
  /** The route's place in the model's list, from 0, and where it leads. */
  readonly route: number;
  readonly upstream: string;
} & (
  | {
      readonly reason: "cost_exceeds_price";
      readonly price: PriceName;
      /** The input has to be longer than this for it. 0: any input. */
      readonly above: number;
      /** Rupiah as decimals, per 1M tokens or per request. */
      readonly sold: string;
      readonly cost: string;
    }
  /** The upstream charges for cache writes, and the catalog has no cost for them. */
  | { readonly reason: "cost_without_cache_write" }
  /** The upstream charges for cache writes, which are sold as input. */
  | { readonly reason: "price_without_cache_write" }
);

/** Finds every route of these models that can cost more than is paid for it. */
export function findPossibleLosses(
  models: readonly FileModel[],
  upstreams: ReadonlyMap<string, UpstreamConfig>,
): CatalogWarning[] {
  return models.flatMap((model) =>
    model.routes.flatMap(({ upstream, cost }, route) => {
      const place = { model: model.id, route, upstream };
      const price = pricesOf(model);
      const chargesWrites = upstreams.get(upstream)?.chargesCacheWrites === true;
      const losses = cost === undefined ? [] : compareWithCost(price, cost, model.contextLength);
      return [...losses, ...(chargesWrites ? missingWritePrices(price, cost) : [])].map((loss) => ({
        ...place,
        ...loss,
      }));
    }),
  );
}

type Loss =
  | { reason: "cost_exceeds_price"; price: PriceName; above: number; sold: string; cost: string }
  | { reason: "cost_without_cache_write" | "price_without_cache_write" };

/** Every kind at every length of input that either list prices apart. A loss that goes on in the next tier is named once. */
function compareWithCost(price: PriceSnapshot, cost: RouteCost, contextLength: number): Loss[] {
  const tiers = [price, cost].flatMap(({ other }) => other?.longContext ?? []);
  const thresholds = new Set(tiers.map(({ above }) => above).filter((above) => above < contextLength));
  const losses: Loss[] = [];
  for (const kind of kindsOf(price, cost)) {
    let named = "";
    for (const above of [0, ...[...thresholds].toSorted((one, next) => one - next)]) {
      const input = above === 0 ? 0 : above + 1;
      const [sold, costs] = [pricesAt(price, input)[kind], pricesAt(cost, input)[kind]];
      const pair = `${sold} ${costs}`;
      if (costs > sold && pair !== named) {
        const name = PRICE_NAMES[kind];
        const prices = { sold: formatPrice(sold), cost: formatPrice(costs) };
        losses.push({ reason: "cost_exceeds_price", price: name, above, ...prices });
      }
      named = pair;
    }
  }
  return losses;
}

/** The kinds that either list has a price for. The others cost what input or output does and would only repeat it. */
function kindsOf(...lists: readonly PriceSnapshot[]): (keyof PricesOfAllKinds)[] {
  const others = OTHER_KINDS.filter((kind) =>
    lists.some(({ other }) => {
      const isWrite = kind === "cacheWrite" || kind === "cacheWrite1h";
      const inTier = isWrite && other?.longContext?.some((tier) => tier[kind] !== undefined);
      return inTier === true || other?.[kind] !== undefined;
    }),
  );
  const hasCacheHit = lists.some(
    ({ cacheHit, other }) => cacheHit !== null || other?.longContext?.some((tier) => tier.cacheHit !== null),
  );
  return ["input", "output", ...(hasCacheHit ? (["cacheHit"] as const) : []), ...others];
}

function missingWritePrices(price: PriceSnapshot, cost: RouteCost | undefined): Loss[] {
  // A cost that states it was compared with what is paid, which is the input price where there is no other.
  if (cost?.other?.cacheWrite !== undefined) return [];
  return [
    ...(cost === undefined ? [] : [{ reason: "cost_without_cache_write" } as const]),
    ...(price.other?.cacheWrite === undefined ? [{ reason: "price_without_cache_write" } as const] : []),
  ];
}
