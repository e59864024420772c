// What requests to models are counted and priced in: kinds of tokens, and a price for each.

/** Prices in micro-rupiah per 1M tokens, as they were at admission. `cacheHit` null: cached tokens cost as much as input. */
export type PriceSnapshot = {
  readonly input: bigint;
  readonly output: bigint;
  readonly cacheHit: bigint | null;
  /** Prices that few models have. Absent or null: the three above are all there are. */
  readonly other?: OtherPrices | null;
};

/**
 * Prices of kinds of tokens that few models charge apart, in micro-rupiah per 1M tokens. A kind without a price costs what
 * `costOf` in billing/cost.ts defines.
 */
export type OtherPrices = {
  readonly cacheWrite?: bigint;
  readonly cacheWrite1h?: bigint;
  readonly audioInput?: bigint;
  readonly imageInput?: bigint;
  readonly imageOutput?: bigint;
  /** Micro-rupiah for each request that used any tokens. */
  readonly perRequest?: bigint;
  /** Prices of a whole request whose input is longer, by rising `above`; the last one that the input exceeds counts. */
  readonly longContext?: readonly LongContextPrices[];
};

/** What replaces the prices of a request whose whole input has more tokens than `above`. */
export type LongContextPrices = {
  readonly above: number;
  readonly input: bigint;
  readonly output: bigint;
  readonly cacheHit: bigint | null;
  readonly cacheWrite?: bigint;
  readonly cacheWrite1h?: bigint;
};

/** Tokens of kinds that most requests have none of. They are in no other count. A kind that is absent has none. */
export type OtherTokens = {
  readonly cacheWrite?: number;
  readonly cacheWrite1h?: number;
  readonly audioInput?: number;
  readonly imageInput?: number;
  readonly imageOutput?: number;
};

/** Token counts of one request that do not overlap. */
export type TokenCounts = {
  readonly inputTokensUncached: number;
  readonly inputTokensCached: number;
  readonly outputTokens: number;
  /** Absent or null: none. */
  readonly otherTokens?: OtherTokens | null;
};

/** A price for every kind of token, in micro-rupiah per 1M tokens; `perRequest` in micro-rupiah. */
export type PricesOfAllKinds = Readonly<
  Record<"input" | "output" | "cacheHit" | Exclude<keyof OtherPrices, "longContext">, bigint>
>;

/** The prices of a request with so many tokens of input, each kind with what it costs. */
export function pricesAt(prices: PriceSnapshot, inputTokens: number): PricesOfAllKinds {
  const { other } = prices;
  const tier = longContextOf(other, inputTokens);
  const input = tier?.input ?? prices.input;
  const output = tier?.output ?? prices.output;
  // A tier has all of its prices: what it leaves out costs as much as its input.
  const cacheWrite = (tier === null ? other?.cacheWrite : tier.cacheWrite) ?? input;
  const ownWrite1h = other?.cacheWrite1h ?? 0n;
  return {
    input,
    output,
    cacheHit: (tier === null ? prices.cacheHit : tier.cacheHit) ?? input,
    cacheWrite,
    // In a tier without a price for one-hour writes they cost no less than below it.
    cacheWrite1h: tier?.cacheWrite1h ?? (ownWrite1h > cacheWrite ? ownWrite1h : cacheWrite),
    audioInput: other?.audioInput ?? input,
    imageInput: other?.imageInput ?? input,
    imageOutput: other?.imageOutput ?? output,
    perRequest: other?.perRequest ?? 0n,
  };
}

/** The prices that hold for an input of so many tokens instead of the usual ones; null: the usual ones hold. */
export function longContextOf(other: OtherPrices | null | undefined, inputTokens: number): LongContextPrices | null {
  return other?.longContext?.findLast(({ above }) => inputTokens > above) ?? null;
}
