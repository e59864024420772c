// Money is a whole number of the smallest unit we keep, with its asset. It is never a JavaScript number, and nothing here
// rounds unless the caller has chosen a direction.

import { formatDecimal, parseDecimal } from "./decimal.ts";
import { invariant } from "./invariant.ts";

/** What is counted and how finely: `CODE/scale`, such as `IDR/6` or `USDT/6`. The scale never changes. */
export type Asset = `${string}/${number}`;

/** A whole number of an asset's smallest unit. `IDR/6` keeps a millionth of a rupiah. */
export type Money = { readonly units: bigint; readonly asset: Asset };

/** Rupiah, kept to a millionth. */
export const IDR: Asset = "IDR/6";

/** The number of decimals an asset is kept with. */
export function scaleOf(asset: Asset): number {
  return Number(asset.slice(asset.lastIndexOf("/") + 1));
}

/** The code of an asset: `IDR` of `IDR/6`. */
export function codeOf(asset: Asset): string {
  return asset.slice(0, asset.lastIndexOf("/"));
}

/** Micro-rupiah as money. */
export function idr(units: bigint): Money {
  return { units, asset: IDR };
}

export function add(a: Money, b: Money): Money {
  requireSameAsset(a, b);
  return { units: a.units + b.units, asset: a.asset };
}

/** Plain digits in whole units of the asset, without an exponent or trailing zeros: `18750n` of `IDR/6` is `0.01875`. */
export function formatMoney(money: Money): string {
  return formatDecimal(money.units, scaleOf(money.asset));
}

/** Reads plain digits in whole units of the asset. Errors: DecimalError when it is no decimal or too fine for the asset. */
export function parseMoney(text: string, asset: Asset): Money {
  return { units: parseDecimal(text, scaleOf(asset)), asset };
}

/** `a / b` of non-negative `a` and positive `b`, rounded up. */
export function divideCeil(a: bigint, b: bigint): bigint {
  invariant(a >= 0n && b > 0n, "a rounded-up division has a non-negative dividend and a positive divisor");
  return (a + b - 1n) / b;
}

/** `a / b` of non-negative `a` and positive `b`, rounded down. */
export function divideFloor(a: bigint, b: bigint): bigint {
  invariant(a >= 0n && b > 0n, "a rounded-down division has a non-negative dividend and a positive divisor");
  return a / b;
}

function requireSameAsset(a: Money, b: Money): void {
  invariant(a.asset === b.asset, "amounts of different assets are never added or compared");
}
