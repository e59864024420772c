// Decides which counts a request is billed by: the upstream's report, our own count, or some of each. Only our own bounds cut a
// report, and they never cut it below what the client was given.

import { inputTokensOf, outputTokensOf } from "../../billing/cost.ts";
import type { OtherTokens, TokenCounts } from "../../kernel/token-prices.ts";
import type { Metering } from "../../ledger/ledger.ts";
import { MAX_COUNT } from "./count.ts";
import { toleratedOutput } from "../stream/output-limit.ts";
import { countsOf, isSameCounts } from "./disjoint-counts.ts";
import { isPricedOtherwise } from "./priced-otherwise.ts";
import type { UsageReading } from "./read-usage.ts";
import type { RelayedTokens } from "./relayed-tokens.ts";
import type { MeteringRule } from "./rules.ts";
import type { ReportedUsage } from "./usage-seen.ts";

/** No honest count is larger: the most tokens of the body and its media, and the bound that was sent. */
export type UsageBounds = {
  readonly input: number;
  readonly output: number;
  /** Whether the request asks for cache writes that are kept for an hour, which are held for then. Absent: it does. */
  readonly writesForLong?: boolean;
};

export type MeterFacts = {
  readonly bounds: UsageBounds;
  readonly relayed: RelayedTokens;
  /** Whether the answer came to its end. */
  readonly isComplete: boolean;
  /**
   * The output that was not relayed because the bound or the balance did not cover it: its tokens by our count, and the usage
   * reported before it. Absent: nothing was withheld.
   */
  readonly withheld?: { readonly tokens: number; readonly before: UsageReading | null } | undefined;
  /** Our own count of the input. */
  readonly estimateInput: () => Promise<number>;
  /** How many of so many input tokens were probably read from the upstream's prompt cache. */
  readonly assumeCached: (inputTokens: number) => number;
};

export type Metered = {
  readonly counts: TokenCounts;
  /** The tokens that the upstream charges us for, as far as its report is plausible. */
  readonly chargedCounts: TokenCounts;
  /** Whether any of the counts is ours. */
  readonly isEstimated: boolean;
  /** Whether the upstream's report was cut, or could not be used. */
  readonly clamped: boolean;
  /** Whether the upstream's report shows what has no price here. */
  readonly isUnpriced: boolean;
  readonly metering: Metering | null;
  readonly reasoningTokens: number;
  /** Whether the answer's own usage object has the same counts as the record. */
  readonly isAsReported: boolean;
  readonly tellsCached: boolean;
};

/** Below this difference two tokenizers may simply differ. */
const TOLERATED_TOKENS = 64;
/** No model reads or writes as much. A larger number is no count, and no loss is posted for it. */
const MOST_PLAUSIBLE = 16_777_216;
/** Another tokenizer may make so many tokens of one of ours. */
const MOST_TOKENS_FOR_ONE = 4;

const FLAGS: ReadonlySet<MeteringRule> = new Set([
  "impossible_count",
  "total_below_parts",
  "input_above_bound",
  "long_writes_unasked",
  "output_above_bound",
  "output_far_above_relayed",
  "implausible_count",
  "output_below_relayed",
]);

/** Counts one side of a request: what is billed, what the upstream charges for it, and by which rules. */
type Side = { readonly counts: TokenCounts; readonly charged: TokenCounts; readonly rules: readonly MeteringRule[] };

const NONE: TokenCounts = { inputTokensUncached: 0, inputTokensCached: 0, outputTokens: 0 };

/** Meters an answer by its report and by its relayed output. */
export async function meter(reported: ReportedUsage, facts: MeterFacts): Promise<Metered> {
  const reading = reported.reader.readUsage(reported.usage);
  const isWhole = facts.isComplete && !reported.isStale;
  const input = await meterInput(reading, isWhole, facts);
  const output = await meterOutput(reading, isWhole, facts);
  const isUnpriced = isPricedOtherwise(reported.usage);
  const rules = [
    ...(reading?.rules ?? []),
    ...input.rules,
    ...output.rules,
    ...(isUnpriced ? (["priced_otherwise"] as const) : []),
  ];
  const counts = joined(input.counts, output.counts);
  const isEstimated = !isWhole || rules.some((rule) => OWN_COUNTS.has(rule));
  const isCut = input.charged !== input.counts || output.charged !== output.counts;
  const differs = reading !== null && !isSameCounts(reading.counts, counts);
  return {
    counts,
    chargedCounts: isCut ? joined(input.charged, output.charged) : counts,
    isEstimated,
    clamped: rules.some((rule) => FLAGS.has(rule)),
    isUnpriced,
    metering: meteringOf(reading, differs, rules),
    reasoningTokens: Math.min(reading?.reasoningTokens ?? 0, outputTokensOf(counts)),
    isAsReported:
      !isEstimated && !differs && reported.usage !== null && reported.reader.showsCounts(reported.usage, counts),
    tellsCached: reading?.tellsCached ?? false,
  };
}

const OWN_COUNTS: ReadonlySet<MeteringRule> = new Set([
  "output_below_relayed",
  "output_far_above_relayed",
  "output_estimated",
  "input_estimated",
]);

async function meterInput(reading: UsageReading | null, isWhole: boolean, facts: MeterFacts): Promise<Side> {
  const { bounds, estimateInput, assumeCached } = facts;
  const reported = { ...NONE, ...reading?.counts, outputTokens: 0, otherTokens: inputKinds(reading?.counts) };
  const total = inputTokensOf(reported);
  const isImplausible = total > MOST_PLAUSIBLE;
  if (reading?.hasInput !== true || isImplausible) {
    const tokens = Math.min(await estimateInput(), bounds.input);
    // The parts of an impossible count are unsound too.
    const cached = isImplausible ? 0 : Math.min(reported.inputTokensCached, tokens);
    const rules: MeteringRule[] = isImplausible ? ["implausible_count", "input_estimated"] : ["input_estimated"];
    return assumed({ ...NONE, inputTokensUncached: tokens - cached, inputTokensCached: cached }, rules);
  }
  const held = bounds.writesForLong === false ? withoutLongWrites(reported) : reported;
  if (total > bounds.input) return above(reported, cutInput(held, bounds.input), "input_above_bound");
  if (held !== reported) return above(reported, held, "long_writes_unasked");
  return isWhole || reading.tellsCached ? exactly(reported) : assumed(reported, []);

  /** Where no chunk reports cached tokens, those of the last request of the same conversation are taken. */
  function assumed(counts: TokenCounts, rules: readonly MeteringRule[]): Side {
    if (counts.inputTokensCached > 0 || reading?.tellsCached === true) return { ...exactly(counts), rules };
    const cached = Math.min(assumeCached(inputTokensOf(counts)), counts.inputTokensUncached);
    if (cached <= 0) return { ...exactly(counts), rules };
    const { inputTokensUncached } = counts;
    const split = { ...counts, inputTokensUncached: inputTokensUncached - cached, inputTokensCached: cached };
    return { ...exactly(split), rules: [...rules, "cached_assumed"] };
  }
}

async function meterOutput(reading: UsageReading | null, isWhole: boolean, facts: MeterFacts): Promise<Side> {
  const { bounds, relayed } = facts;
  // Nothing that has no output at all is charged for any.
  if (bounds.output === 0) return exactly(NONE);
  const reported = {
    ...NONE,
    outputTokens: reading?.counts.outputTokens ?? 0,
    otherTokens: outputKinds(reading?.counts),
  };
  const tokens = outputTokensOf(reported);
  const inferred = reading?.inferredOutput ?? 0;
  const outputTokens = (reading?.counts.outputTokens ?? 0) - inferred;
  if (reading !== null && inferred > 0 && tokens > boundOfAnother(bounds.output) && outputTokens > 0) {
    // A total far beyond the request is wrong, and no reason to doubt the count beside it.
    const sound = { ...reading, counts: { ...reading.counts, outputTokens }, inferredOutput: 0 };
    const side = await meterOutput(sound, isWhole, facts);
    return { ...side, rules: [...side.rules, "implausible_count"] };
  }
  if (isWhole && tokens > 0) {
    const isSuspect = tokens > bounds.output || relayed.mayExceedTwice(tokens);
    const given = isSuspect ? Math.min(await relayed.estimateTokens(), MAX_COUNT) : 0;
    const isBelow = given > 2 * tokens && given - tokens > TOLERATED_TOKENS;
    // The upstream counts pictures better than we do.
    const written = isBelow ? given - (await relayed.estimateMediaTokens()) : 0;
    if (written > 2 * tokens && written - tokens > TOLERATED_TOKENS) {
      return { ...exactly(outputOf(given)), rules: ["output_below_relayed"] };
    }
    const most = Math.max(bounds.output, given);
    if (tokens <= most) return exactly(reported);
    if (tokens > MOST_PLAUSIBLE) {
      return { ...exactly(outputOf(given)), rules: ["output_far_above_relayed", "implausible_count"] };
    }
    return isFarAbove(reading, bounds.output, given)
      ? above(reported, outputOf(given), "output_far_above_relayed")
      : above(reported, cutOutput(reported, most), "output_above_bound");
  }
  const given = Math.min(await relayed.estimateTokens(), MAX_COUNT);
  // An upstream that reports zero for an empty answer is right.
  if (isWhole && reading?.hasOutput === true && given === 0) return exactly(reported);
  // The report before the cut is the least that it wrote; it may have written more that was not shown.
  const { withheld } = facts;
  const readBefore = withheld === undefined ? reading : withheld.before;
  const before = readBefore === null ? 0 : outputTokensOf(readBefore.counts);
  const isLie = isFarAbove(readBefore, bounds.output, given);
  const own = Math.max(given, isLie ? 0 : Math.min(before, bounds.output));
  const counts = own === tokens ? reported : outputOf(own);
  if (withheld === undefined) {
    return { ...exactly(counts), rules: isLie ? ["output_far_above_relayed"] : ["output_estimated"] };
  }
  // The usage that came with it covers the withheld part.
  const isReported = tokens > before && tokens <= MOST_PLAUSIBLE;
  const charged = isReported ? reported : outputOf(own + withheld.tokens);
  if (outputTokensOf(charged) <= own) return { ...exactly(counts), rules: ["output_estimated"] };
  return { counts, charged, rules: ["output_estimated", "output_withheld"] };
}

/**
 * Whether no output carries what was reported: neither the bound nor what was given does. Reasoning that the object names was
 * perhaps written and not shown, because providers do not always stop it at the bound.
 */
function isFarAbove(reading: UsageReading | null, bound: number, given: number): boolean {
  if (reading === null) return false;
  const tokens = outputTokensOf(reading.counts);
  const isNamed = reading.inferredOutput === 0 && tokens <= MOST_PLAUSIBLE;
  const shown = tokens - (isNamed ? reading.reasoningTokens : 0);
  return shown > Math.max(toleratedOutput(bound), MOST_TOKENS_FOR_ONE * given);
}

/** The largest total of an upstream that has kept to the bound, by its own tokenizer. */
function boundOfAnother(bound: number): number {
  return bound + Math.max(TOLERATED_TOKENS, bound / 2);
}

function exactly(counts: TokenCounts): Side {
  return { counts, charged: counts, rules: [] };
}

/** The part of the report above the bill is the operator's loss: the upstream charges by its own count. */
function above(reported: TokenCounts, billed: TokenCounts, rule: MeteringRule): Side {
  return { counts: billed, charged: reported, rules: [rule] };
}

/** No provider writes for an hour unasked, and only asked writes are held for at that price. */
function withoutLongWrites(counts: TokenCounts): TokenCounts {
  const { cacheWrite = 0, cacheWrite1h = 0 } = counts.otherTokens ?? {};
  if (cacheWrite1h === 0) return counts;
  return countsOf({
    ...counts,
    otherTokens: { ...counts.otherTokens, cacheWrite: cacheWrite + cacheWrite1h, cacheWrite1h: 0 },
  });
}

/** The kinds that were reported stay, as far as they fit, and the plain input gets the rest. */
function cutInput(counts: TokenCounts, most: number): TokenCounts {
  const { cacheWrite = 0, cacheWrite1h = 0, audioInput = 0, imageInput = 0 } = counts.otherTokens ?? {};
  let rest = most;
  const take = (tokens: number): number => {
    const taken = Math.min(tokens, rest);
    rest -= taken;
    return taken;
  };
  const inputTokensCached = take(counts.inputTokensCached);
  const otherTokens = {
    cacheWrite: take(cacheWrite),
    cacheWrite1h: take(cacheWrite1h),
    audioInput: take(audioInput),
    imageInput: take(imageInput),
  };
  return countsOf({ inputTokensUncached: rest, inputTokensCached, outputTokens: 0, otherTokens });
}

function cutOutput(counts: TokenCounts, most: number): TokenCounts {
  const imageOutput = Math.min(counts.otherTokens?.imageOutput ?? 0, most);
  return countsOf({ ...NONE, outputTokens: most - imageOutput, otherTokens: { imageOutput } });
}

function outputOf(outputTokens: number): TokenCounts {
  return { ...NONE, outputTokens };
}

function inputKinds(counts: TokenCounts | undefined): OtherTokens | null {
  if (!counts?.otherTokens) return null;
  const { imageOutput: _, ...kinds } = counts.otherTokens;
  return kinds;
}

function outputKinds(counts: TokenCounts | undefined): OtherTokens | null {
  const imageOutput = counts?.otherTokens?.imageOutput ?? 0;
  return imageOutput === 0 ? null : { imageOutput };
}

function joined(input: TokenCounts, output: TokenCounts): TokenCounts {
  return countsOf({
    inputTokensUncached: input.inputTokensUncached,
    inputTokensCached: input.inputTokensCached,
    outputTokens: output.outputTokens,
    otherTokens: input.otherTokens || output.otherTokens ? { ...input.otherTokens, ...output.otherTokens } : null,
  });
}

function meteringOf(reading: UsageReading | null, differs: boolean, rules: readonly MeteringRule[]): Metering | null {
  const costUsd = reading?.costUsd ?? null;
  if (!differs && rules.length === 0 && costUsd === null) return null;
  return {
    ...(differs && reading !== null ? { reported: reading.counts } : {}),
    ...(rules.length === 0 ? {} : { rules: [...new Set(rules)] }),
    ...(costUsd === null ? {} : { reportedCostUsd: costUsd }),
  };
}
