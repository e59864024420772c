// The most that a request can cost, before its tokens are counted: its input at the highest price of each kind, and its output
// per token. Where the length of the input changes prices, there is one rate for each length that the estimate can reach,
// because a longer input may be the cheaper one.

import { pricesAt, type PricesOfAllKinds, TOKENS_PER_PRICE } from "../../billing/cost.ts";
import type { MediaModality } from "../../catalog/catalog-model.ts";
import { divideCeil, divideFloor } from "../../kernel/money.ts";
import type { LongContextPrices, PriceSnapshot } from "../../kernel/token-prices.ts";

/** One way in which a request can be charged; both in micro-rupiah times 1M tokens. */
type Rate = { readonly input: bigint; readonly perOutput: bigint };

/** The most that a request can cost: the dearest of the rates, and the price of the request itself in micro-rupiah. */
export type HoldRates = { readonly rates: readonly Rate[]; readonly perRequest: bigint };

/** The input that is held for. */
export type HeldInput = {
  readonly tokens: number;
  /** How many of them are text, before the whole was cut to what the model takes, and for each kind of media. */
  readonly text: number;
  readonly media: readonly (readonly [MediaModality, number])[];
  /** Whether the request asks for cache writes that are kept for an hour. */
  readonly writesForLong: boolean;
};

/** The rates of a request. */
export function holdRates(prices: PriceSnapshot, input: HeldInput): HoldRates {
  if (!prices.other) {
    // A catalog may price cached input higher, and the cached part is unknown before the call.
    const { cacheHit } = prices;
    const dearest = cacheHit !== null && cacheHit > prices.input ? cacheHit : prices.input;
    return { rates: [{ input: BigInt(input.tokens) * dearest, perOutput: prices.output }], perRequest: 0n };
  }
  const tiers = (prices.other.longContext ?? []).filter(({ above }) => above < input.tokens);
  const rates = [0, ...tiers.map(({ above }) => above + 1)].map((from, tier) =>
    rateOf(pricesAt(prices, from), input, longestBefore(tiers[tier], input.tokens)),
  );
  return { rates: rates.filter((rate) => canBeDearest(rate, rates)), perRequest: prices.other.perRequest ?? 0n };
}

/** The longest input to which a tier's prices apply, given the tier behind it. */
function longestBefore(next: LongContextPrices | undefined, inputTokens: number): number {
  return next === undefined ? inputTokens : next.above;
}

/** Whether no other rate is at least as dear in both. Of two equal rates the first counts. */
function canBeDearest(rate: Rate, rates: readonly Rate[]): boolean {
  const at = rates.indexOf(rate);
  return !rates.some((other, index) => {
    if (index === at || other.input < rate.input || other.perOutput < rate.perOutput) return false;
    return index < at || other.input > rate.input || other.perOutput > rate.perOutput;
  });
}

function rateOf(price: PricesOfAllKinds, { text, media, writesForLong }: HeldInput, tokens: number): Rate {
  // Any input can be read from the cache or written to it: some upstreams write to it unasked.
  const ofText = largest(price.input, price.cacheHit, price.cacheWrite, writesForLong ? price.cacheWrite1h : 0n);
  const ofImage = largest(ofText, price.imageInput);
  const ofAudio = largest(ofText, price.audioInput);
  // Upstreams count a video as pictures and sound.
  const ofMedia = { image: ofImage, audio: ofAudio, video: largest(ofImage, ofAudio) };
  const kinds: (readonly [bigint, number])[] = [
    [ofText, text],
    ...media.map(([modality, count]) => [ofMedia[modality], count] as const),
  ];
  let input = 0n;
  let left = tokens;
  for (const [dearest, count] of kinds.toSorted(([one], [next]) => (one > next ? -1 : one < next ? 1 : 0))) {
    const charged = Math.min(count, left);
    input += BigInt(charged) * dearest;
    left -= charged;
  }
  return { input, perOutput: largest(price.output, price.imageOutput) };
}

function largest(...prices: readonly bigint[]): bigint {
  let most = 0n;
  for (const price of prices) if (price > most) most = price;
  return most;
}

/** The most that the input and so many tokens of output cost, in micro-rupiah. */
export function mostCost({ rates, perRequest }: HoldRates, outputTokens: number): bigint {
  let most = 0n;
  for (const { input, perOutput } of rates) {
    const cost = input + BigInt(outputTokens) * perOutput;
    if (cost > most) most = cost;
  }
  return divideCeil(most, TOKENS_PER_PRICE) + perRequest;
}

/** The most tokens of output whose `mostCost` does not exceed an amount, 0 where the input alone does. Null: output is free. */
export function outputWithin({ rates, perRequest }: HoldRates, amount: bigint): bigint | null {
  const spendable = (amount - perRequest) * TOKENS_PER_PRICE;
  let least: bigint | null = null;
  for (const { input, perOutput } of rates) {
    if (perOutput === 0n) continue;
    const left = spendable - input;
    const within = left < 0n ? 0n : divideFloor(left, perOutput);
    if (least === null || within < least) least = within;
  }
  return least;
}
