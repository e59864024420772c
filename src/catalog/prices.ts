// Prices are micro-rupiah per 1M tokens. Outside they are rupiah in decimal text.

import { formatDecimal, parseDecimal } from "../kernel/decimal.ts";
import { divideFloor, IDR, scaleOf } from "../kernel/money.ts";
import type { OtherPrices, PriceSnapshot } from "../kernel/token-prices.ts";
import type { CatalogModel } from "./catalog-model.ts";

/** Decimals of a price in rupiah. */
export const PRICE_SCALE = scaleOf(IDR);
/** The largest price, one billion rupiah per 1M tokens: the cost of any request stays far below what int8 holds. */
export const MAX_PRICE = 1_000_000_000n * 10n ** BigInt(PRICE_SCALE);

/** What a model is sold for, of all kinds. */
export function pricesOf({
  inputPrice,
  outputPrice,
  cacheHitPrice,
  otherPrices,
}: Pick<CatalogModel, "inputPrice" | "outputPrice" | "cacheHitPrice" | "otherPrices">): PriceSnapshot {
  const plain = { input: inputPrice, output: outputPrice, cacheHit: cacheHitPrice };
  return otherPrices ? { ...plain, other: otherPrices } : plain;
}

/** Prices as text in rupiah, by the names that they have in the contracts. What has no price is left out. */
export function showPrices({ input, output, cacheHit, other }: PriceSnapshot): ShownPrices {
  const { longContext = [], ...kinds } = other ?? {};
  return {
    input: formatPrice(input),
    output: formatPrice(output),
    ...(cacheHit === null ? {} : { cacheHit: formatPrice(cacheHit) }),
    ...Object.fromEntries(Object.entries(kinds).map(([kind, price]) => [kind, formatPrice(price)])),
    longContext: longContext.map((tier) => ({
      above: tier.above,
      input: formatPrice(tier.input),
      output: formatPrice(tier.output),
      ...(tier.cacheHit === null ? {} : { cacheHit: formatPrice(tier.cacheHit) }),
      ...(tier.cacheWrite === undefined ? {} : { cacheWrite: formatPrice(tier.cacheWrite) }),
      ...(tier.cacheWrite1h === undefined ? {} : { cacheWrite1h: formatPrice(tier.cacheWrite1h) }),
    })),
  };
}

type ShownTier = { above: number; input: string; output: string } & {
  [Kind in "cacheHit" | "cacheWrite" | "cacheWrite1h"]?: string;
};
/** What `showPrices` makes of prices. */
export type ShownPrices = { input: string; output: string; cacheHit?: string } & {
  [Kind in Exclude<keyof OtherPrices, "longContext">]?: string;
} & { longContext: ShownTier[] };

/** A price as text in rupiah, plain digits without trailing zeros. */
export function formatPrice(price: bigint): string {
  return formatDecimal(price, PRICE_SCALE);
}

/** Reads what formatPrice wrote. Errors: DecimalError. */
export function parsePrice(text: string): bigint {
  return parseDecimal(text, PRICE_SCALE);
}

/** How far a price moved, as text in rupiah with its sign: `+500`, `-0.25`, `0`. */
export function formatPriceDifference(before: bigint, after: bigint): string {
  return (after > before ? "+" : "") + formatPrice(after - before);
}

/**
 * The cache-hit price as a percentage of the input price, to two decimals, for display only. Null: the model has no
 * cache-hit price, or its input is free and there is nothing to compare with.
 */
export function cacheHitPercent({ inputPrice, cacheHitPrice }: Pick<CatalogModel, "inputPrice" | "cacheHitPrice">) {
  if (cacheHitPrice === null || inputPrice === 0n) return null;
  return Number(divideFloor(cacheHitPrice * 20_000n + inputPrice, inputPrice * 2n)) / 100;
}
