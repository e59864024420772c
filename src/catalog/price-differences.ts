// How far prices move between two catalogs, each kind by what it really costs.

import { type PriceSnapshot, pricesAt, type PricesOfAllKinds } from "../kernel/token-prices.ts";
import { OTHER_KINDS, type OtherKind } from "./price-file.ts";
import { formatPriceDifference } from "./prices.ts";

/** How far the prices of a request whose input exceeds a threshold move. */
export type TierDifference = {
  readonly above: number;
  readonly input: string;
  readonly output: string;
  readonly cacheHit: string;
  /** Absent: neither catalog has a price for it. */
  readonly cacheWrite?: string;
  readonly cacheWrite1h?: string;
};

/**
 * How far prices move, in rupiah with a sign. A kind without a price of its own moves as what it is charged as, such as
 * cached tokens as input. Of the less common kinds and the tiers those are here that either catalog has a price for.
 */
export type PriceDifference = {
  readonly input: string;
  readonly output: string;
  readonly cacheHit: string;
} & { readonly [Kind in OtherKind]?: string } & {
  /** By rising threshold. */
  readonly longContext?: readonly TierDifference[];
};

/** Compares two lists of prices. Null: nothing moves. */
export function comparePrices(before: PriceSnapshot, after: PriceSnapshot): PriceDifference | null {
  const hasAny = (kind: OtherKind) => [before, after].some(({ other }) => other?.[kind] !== undefined);
  const kinds = compareAt(before, after, { input: 0, kinds: OTHER_KINDS.filter(hasAny) });
  const tiers = thresholdsOf(before, after).map(({ above, writes }) => ({
    above,
    ...compareAt(before, after, { input: above + 1, kinds: writes }),
  }));
  const texts = [kinds, ...tiers].flatMap((moved) => Object.values(moved).filter((text) => typeof text === "string"));
  if (texts.every((text) => text === "0")) return null;
  return tiers.length === 0 ? kinds : { ...kinds, longContext: tiers };
}

/** How far the prices of a request with so much input move: the common ones, and the kinds that are asked for. */
function compareAt<Kind extends OtherKind>(
  before: PriceSnapshot,
  after: PriceSnapshot,
  { input, kinds }: { readonly input: number; readonly kinds: readonly Kind[] },
): Record<"input" | "output" | "cacheHit", string> & { readonly [Each in Kind]?: string } {
  const [was, is] = [pricesAt(before, input), pricesAt(after, input)];
  const moved = (kind: keyof PricesOfAllKinds): string => formatPriceDifference(was[kind], is[kind]);
  return {
    input: moved("input"),
    output: moved("output"),
    cacheHit: moved("cacheHit"),
    ...(Object.fromEntries(kinds.map((kind) => [kind, moved(kind)])) as { readonly [Each in Kind]?: string }),
  };
}

const WRITES = ["cacheWrite", "cacheWrite1h"] as const;

/** The thresholds of either list, rising, and the cache writes for which a price begins at one. */
function thresholdsOf(...lists: readonly PriceSnapshot[]): { above: number; writes: (typeof WRITES)[number][] }[] {
  const tiers = lists.flatMap(({ other }) => other?.longContext ?? []);
  return [...new Set(tiers.map(({ above }) => above))]
    .toSorted((one, next) => one - next)
    .map((above) => ({
      above,
      writes: WRITES.filter((kind) => tiers.some((tier) => tier.above === above && tier[kind] !== undefined)),
    }));
}
