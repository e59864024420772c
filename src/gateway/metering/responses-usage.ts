// The usage objects of OpenAI's Responses. The input has what was read from the cache and written to it; the output has the reasoning.

import { inputTokensOf, outputTokensOf } from "../../billing/cost.ts";
import type { TokenCounts } from "../../kernel/token-prices.ts";
import type { JsonObject } from "../request/field-rules.ts";
import { CountReader, MAX_COUNT, objectIn } from "./count.ts";
import { disjointCounts } from "./disjoint-counts.ts";
import type { UsageReading } from "./read-usage.ts";
import type { MeteringRule } from "./rules.ts";
import type { UsageReader } from "./usage-reader.ts";

/** Reads the usage objects of Responses. */
export const RESPONSES_USAGE: UsageReader = { readUsage: readResponsesUsage, showsCounts: showsResponsesCounts };

/** Reads a usage object. Null: there is none, or it has no count at all. */
export function readResponsesUsage(usage: JsonObject | null): UsageReading | null {
  const reader = new CountReader();
  const input = reader.first(usage, "input_tokens");
  const stated = reader.first(usage, "output_tokens");
  if (input === null && stated === null) return null;
  const inputDetails = objectIn(usage, "input_tokens_details");
  const outputDetails = objectIn(usage, "output_tokens_details");
  const reasoning = reader.first(outputDetails, "reasoning_tokens") ?? 0;
  const total = reader.first(usage, "total_tokens");
  const sum = (input ?? 0) + (stated ?? 0);
  // Some upstreams count what a model thought beside its answer.
  const gap = input === null || total === null ? 0 : Math.max(0, total - sum);
  const rules: MeteringRule[] = [];
  if (gap > 0 && gap !== reasoning) rules.push("thinking_in_total");
  if (total !== null && total > 0 && total < sum) rules.push("total_below_parts");
  const output = reader.part((stated ?? 0) + gap, MAX_COUNT);
  const cached = reader.first(inputDetails, "cached_tokens");
  const counts = disjointCounts(
    {
      tokens: input ?? 0,
      cached: cached ?? 0,
      written: reader.first(inputDetails, "cache_write_tokens") ?? 0,
      written1h: reader.first(objectIn(inputDetails, "cache_write_tokens_details"), "ttl_12h_tokens") ?? 0,
      audio: reader.first(inputDetails, "audio_tokens") ?? 0,
      image: reader.first(inputDetails, "image_tokens") ?? 0,
    },
    { tokens: output, reasoning, image: reader.first(outputDetails, "image_tokens") ?? 0 },
    reader,
  );
  if (reader.foundImpossible) rules.push("impossible_count");
  return {
    counts,
    inferredOutput: rules.includes("thinking_in_total") ? gap : 0,
    hasInput: (input ?? 0) > 0,
    hasOutput: stated !== null || output > 0,
    tellsCached: cached !== null,
    reasoningTokens: Math.min(reasoning, output),
    costUsd: null,
    rules,
  };
}

/** Whether the object shows these counts under its own names. */
export function showsResponsesCounts(usage: JsonObject, counts: TokenCounts): boolean {
  const [input, output] = [inputTokensOf(counts), outputTokensOf(counts)];
  if (usage["input_tokens"] !== input || usage["output_tokens"] !== output) return false;
  if (usage["total_tokens"] !== input + output) return false;
  const { cacheWrite = 0, cacheWrite1h = 0 } = counts.otherTokens ?? {};
  const details = objectIn(usage, "input_tokens_details");
  return (
    (details?.["cached_tokens"] ?? 0) === counts.inputTokensCached &&
    (details?.["cache_write_tokens"] ?? 0) === cacheWrite + cacheWrite1h
  );
}
