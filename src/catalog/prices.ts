// Prices are micro-rupiah per 1M tokens. Outside they are rupiah in decimal text.

import { formatDecimal, parseDecimal } from "../kernel/decimal.ts";
import { divideFloor, IDR, scaleOf } from "../kernel/money.ts";
import type { CatalogModel } from "./catalog.ts";

/** Decimals of a price in rupiah. */
export const PRICE_SCALE = scaleOf(IDR);
/** The largest price, one billion rupiah per 1M tokens: the cost of any request stays far below what int8 holds. */
export const MAX_PRICE = 1_000_000_000n * 10n ** BigInt(PRICE_SCALE);

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
