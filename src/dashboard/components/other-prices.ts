// Prices besides those of input, output and cached input, the same for customers and operators.

/** Kinds that only few models price separately, in the order of display. */
export const OTHER_PRICES = [
  "cacheWrite",
  "cacheWrite1h",
  "audioInput",
  "imageInput",
  "imageOutput",
  "perRequest",
] as const;
export type OtherPrice = (typeof OTHER_PRICES)[number];

/** Prices of a whole request whose input has more tokens than `above`. */
export type TierPrices = {
  readonly above: number;
  readonly input: string;
  readonly output: string;
  readonly cacheHit?: string | undefined;
  readonly cacheWrite?: string | undefined;
  readonly cacheWrite1h?: string | undefined;
};

/** The prices of a model or of a route; decimal strings in rupiah. */
export type ShownPrices = { readonly [Name in OtherPrice]?: string | undefined } & {
  readonly longContext: readonly TierPrices[];
};

/** One price by its name. */
export type NamedPrice<Name extends string> = { readonly name: Name; readonly price: string };

/** The kinds that have a price. */
export function otherPricesOf(prices: ShownPrices): NamedPrice<OtherPrice>[] {
  return OTHER_PRICES.flatMap((name) => {
    const price = prices[name];
    return price === undefined ? [] : [{ name, price }];
  });
}

const TIER_PRICES = ["input", "cacheHit", "cacheWrite", "cacheWrite1h", "output"] as const;

/** The prices that a tier names. */
export function tierPricesOf(tier: TierPrices): NamedPrice<(typeof TIER_PRICES)[number]>[] {
  return TIER_PRICES.flatMap((name) => {
    const price = tier[name];
    return price === undefined ? [] : [{ name, price }];
  });
}
