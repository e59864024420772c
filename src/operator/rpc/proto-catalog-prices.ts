// Prices of the catalog between the contract and the words of the file, how far they move, and where they can lose money.

import {
  type CatalogLongContextPrices as ProtoTier,
  type CatalogPrices as ProtoPrices,
  CatalogWarningReason,
} from "#gen/saldo/operator/v1/catalog_pb.ts";
import type { CatalogWarning, PriceDifference } from "../../catalog/apply-catalog.ts";
import { OTHER_KINDS, OTHER_NAMES } from "../../catalog/price-file.ts";
import { given } from "./proto-parts.ts";

const warningReason = {
  cost_exceeds_price: CatalogWarningReason.COST_EXCEEDS_PRICE,
  cost_without_cache_write: CatalogWarningReason.COST_WITHOUT_CACHE_WRITE,
  price_without_cache_write: CatalogWarningReason.PRICE_WITHOUT_CACHE_WRITE,
} as const satisfies Record<CatalogWarning["reason"], CatalogWarningReason>;

/** Prices in the words of the file. They are judged by its reader. */
export function fromProtoPrices(prices: ProtoPrices) {
  const { input, output, cacheHit, longContext } = prices;
  const kinds = OTHER_KINDS.filter((kind) => prices[kind] !== undefined);
  return {
    input,
    ...given("output", output),
    ...(cacheHit === undefined ? {} : { cache_hit: cacheHit }),
    ...Object.fromEntries(kinds.map((kind) => [OTHER_NAMES[kind], prices[kind]])),
    ...(longContext.length === 0 ? {} : { long_context: longContext.map(fromProtoTier) }),
  };
}

function fromProtoTier({ above, input, output, cacheHit, cacheWrite, cacheWrite1h }: ProtoTier) {
  return {
    above,
    input,
    output,
    ...(cacheHit === undefined ? {} : { cache_hit: cacheHit }),
    ...(cacheWrite === undefined ? {} : { cache_write: cacheWrite }),
    ...(cacheWrite1h === undefined ? {} : { cache_write_1h: cacheWrite1h }),
  };
}

export function toProtoDifference({ longContext = [], ...moved }: PriceDifference) {
  return { ...moved, longContext: longContext.map((tier) => ({ ...tier })) };
}

export function toProtoWarning({ reason, ...warning }: CatalogWarning) {
  return { reason: warningReason[reason], ...warning };
}
