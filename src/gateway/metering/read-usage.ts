// Reads the usage object of an upstream into counts that do not overlap. One kind of upstream covers everything that calls
// itself OpenAI-compatible, so the shape is recognised from the object itself. The README of this folder has the rules.

import type { TokenCounts } from "../../kernel/token-prices.ts";
import { isObject, type JsonObject } from "../request/field-rules.ts";
import { CountReader, MAX_COUNT, objectIn } from "./count.ts";
import { disjointCounts, type OutputSide } from "./disjoint-counts.ts";
import type { MeteringRule } from "./rules.ts";

export type UsageReading = {
  /** What was reported, in counts that do not overlap. All input and all output are each at most 2 147 483 647. */
  readonly counts: TokenCounts;
  /** How many of the output tokens no count has but the total. */
  readonly inferredOutput: number;
  /** Whether input and output were reported at all; zero input counts as not reported, because every request has some. */
  readonly hasInput: boolean;
  readonly hasOutput: boolean;
  /** Whether the object reports the prompt cache, zero included. */
  readonly tellsCached: boolean;
  /** How many of the output tokens were reasoning. */
  readonly reasoningTokens: number;
  /** The cost of the request by the upstream's report, in US dollars as a decimal string: OpenRouter. Null: not reported. */
  readonly costUsd: string | null;
  readonly rules: readonly MeteringRule[];
};

/** Reads a usage object. Null: there is none, or it has no count at all. */
export function readUsage(usage: unknown): UsageReading | null {
  if (!isObject(usage)) return null;
  const reader = new CountReader();
  const rules: MeteringRule[] = [];
  const input = readInput(usage, reader);
  const output = readOutput(usage, reader);
  if (input.tokens === null && output.tokens === null) return null;

  const total = reader.first(usage, "total_tokens");
  const beside = cachedIsBeside(input, { output: output.tokens ?? 0, reasoning: output.reasoning }, total);
  const stated = (input.tokens ?? 0) + (beside ? input.cached + input.written : 0);
  const gap = total === null ? 0 : total - stated - (output.tokens ?? 0);
  let inputTokens = stated;
  let outputTokens = output.tokens ?? 0;
  if (gap > 0 && hasAudioSeconds(usage)) {
    inputTokens += gap;
    input.audio = Math.max(input.audio, gap);
    rules.push("audio_in_total");
  } else if (gap > 0 && input.tokens !== null) {
    outputTokens += gap;
    // Reasoning that the object itself names beside the completion is reported; what only the total has is inferred.
    if (gap !== output.reasoning) rules.push("thinking_in_total");
  } else if (total === null && output.reasoning > outputTokens) {
    // It cannot be a part of the completion, and no total contradicts.
    outputTokens += output.reasoning;
  }
  if (gap < 0 && total !== null && total > 0) rules.push("total_below_parts");
  const counts = disjointCounts(
    { ...input, tokens: reader.part(inputTokens, MAX_COUNT) },
    { ...output, tokens: reader.part(outputTokens, MAX_COUNT) },
    reader,
  );
  if (reader.foundImpossible) rules.push("impossible_count");
  return {
    counts,
    inferredOutput: rules.includes("thinking_in_total") ? gap : 0,
    hasInput: inputTokens > 0,
    hasOutput: output.tokens !== null || outputTokens > 0,
    tellsCached: input.tellsCached,
    reasoningTokens: Math.min(
      Math.max(output.reasoning, gap > 0 ? outputTokens - (output.tokens ?? 0) : 0),
      outputTokens,
    ),
    costUsd: costOf(usage),
    rules,
  };
}

type ReportedInput = {
  /** As the object has it, with or without what was cached. Null: it has none. */
  tokens: number | null;
  cached: number;
  /** All writes to the prompt cache, of which `written1h` for an hour or longer. */
  written: number;
  written1h: number;
  audio: number;
  image: number;
  tellsCached: boolean;
  /** Whether cached tokens have Anthropic's names, and the input has its name too. */
  hasCacheNames: boolean;
  hasInputName: boolean;
};

function readInput(usage: JsonObject, reader: CountReader): ReportedInput {
  const details = objectIn(usage, "prompt_tokens_details", "input_tokens_details", "prompt_token_details");
  const creation = objectIn(usage, "cache_creation") ?? objectIn(details, "cache_creation_token_details");
  const hit = reader.first(usage, "prompt_cache_hit_tokens");
  const miss = reader.first(usage, "prompt_cache_miss_tokens");
  const openAi = reader.first(usage, "prompt_tokens");
  const anthropic = reader.first(usage, "input_tokens");
  const named = openAi !== null && openAi > 0 ? openAi : (anthropic ?? openAi);
  const cached = firstPositive(
    reader.first(details, "cached_tokens"),
    hit,
    reader.first(usage, "cached_tokens", "cache_read_input_tokens", "num_cached_tokens"),
    reader.first(details, "cache_read_input_tokens"),
  );
  const written5m = reader.first(creation ?? details, "ephemeral_5m_input_tokens") ?? 0;
  const written1h = reader.first(creation ?? details, "ephemeral_1h_input_tokens") ?? 0;
  const written = firstPositive(
    reader.first(usage, "cache_creation_input_tokens", "cache_write_tokens"),
    reader.first(
      details,
      "cache_write_tokens",
      "cache_creation_tokens",
      "cached_creation_tokens",
      "cached_write_tokens",
      "cache_creation_input_tokens",
    ),
  );
  return {
    tokens: named === null && hit !== null && miss !== null ? hit + miss : named,
    cached: cached ?? 0,
    // The split divides the count. It is the count only where there is no other.
    written: written !== null && written > 0 ? written : written5m + written1h,
    written1h,
    audio: reader.first(details, "audio_tokens") ?? 0,
    image: reader.first(details, "image_tokens") ?? 0,
    tellsCached: cached !== null,
    hasCacheNames: isNumber(usage["cache_read_input_tokens"]) || isNumber(usage["cache_creation_input_tokens"]),
    hasInputName: !(openAi !== null && openAi > 0) && anthropic !== null,
  };
}

function readOutput(usage: JsonObject, reader: CountReader): OutputSide<number | null> {
  const details = objectIn(usage, "completion_tokens_details", "output_tokens_details");
  return {
    tokens: reader.first(usage, "completion_tokens", "output_tokens"),
    reasoning:
      reader.first(details, "reasoning_tokens", "thinking_tokens") ?? reader.first(usage, "reasoning_tokens") ?? 0,
    image: reader.first(details, "image_tokens") ?? 0,
  };
}

/**
 * Whether cached and written tokens lie beside the input instead of in it. With Anthropic's names they do, unless the total
 * contradicts; a proxy that has put OpenAI's names around them has usually added them up. With OpenAI's names alone, only a
 * total that fits exactly shows it.
 */
function cachedIsBeside(
  input: ReportedInput,
  { output, reasoning }: { readonly output: number; readonly reasoning: number },
  total: number | null,
): boolean {
  const apart = input.cached + input.written;
  if (apart === 0) return false;
  const tokens = input.tokens ?? 0;
  if (total === tokens + output + apart && apart !== reasoning) return true;
  if (!input.hasCacheNames) return false;
  if (tokens < apart || total === tokens + output + apart) return true;
  return input.hasInputName && total !== tokens + output;
}

/** Only Mistral's models for sound report them, and their prompt tokens are without the sound. */
function hasAudioSeconds(usage: JsonObject): boolean {
  const seconds = usage["prompt_audio_seconds"];
  return typeof seconds === "number" && seconds > 0;
}

/** Up to a million dollars; any other value of `cost` is no cost. */
function costOf({ cost }: JsonObject): string | null {
  if (typeof cost !== "number" || !(cost >= 0 && cost <= 1_000_000)) return null;
  return cost.toFixed(12).replace(/(?:\.0+|(?<!0)0+)$/, "");
}

function firstPositive(...counts: readonly (number | null)[]): number | null {
  return counts.find((count) => count !== null && count > 0) ?? counts.find((count) => count !== null) ?? null;
}

function isNumber(value: unknown): boolean {
  return typeof value === "number";
}
