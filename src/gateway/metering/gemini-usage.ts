// The usage objects of Google's Gemini API. The prompt has what was read from the cache; thoughts are beside the answer, and the
// results of tools that Google runs are beside the prompt. Counts of zero are left out.

import { inputTokensOf, outputTokensOf } from "../../billing/cost.ts";
import type { TokenCounts } from "../../kernel/token-prices.ts";
import { isObject, type JsonObject } from "../request/field-rules.ts";
import { CountReader, MAX_COUNT } from "./count.ts";
import { disjointCounts } from "./disjoint-counts.ts";
import type { UsageReading } from "./read-usage.ts";
import type { MeteringRule } from "./rules.ts";
import type { UsageReader } from "./usage-reader.ts";

/** Reads the usage objects of Gemini. */
export const GEMINI_USAGE: UsageReader = { readUsage: readGeminiUsage, showsCounts: showsGeminiCounts };

/** Reads a usage object. Null: there is none, or it has no count at all. */
export function readGeminiUsage(usage: JsonObject | null): UsageReading | null {
  const reader = new CountReader();
  const [prompt, results] = [reader.first(usage, "promptTokenCount"), reader.first(usage, "toolUsePromptTokenCount")];
  const [answer, thoughts] = [reader.first(usage, "candidatesTokenCount"), reader.first(usage, "thoughtsTokenCount")];
  if (prompt === null && answer === null && thoughts === null) return null;
  const input = reader.part((prompt ?? 0) + (results ?? 0), MAX_COUNT);
  const stated = (answer ?? 0) + (thoughts ?? 0);
  const total = reader.first(usage, "totalTokenCount");
  // Some of its versions name the thoughts in the total alone.
  const gap = prompt === null || total === null ? 0 : Math.max(0, total - input - stated);
  const rules: MeteringRule[] = [];
  if (gap > 0) rules.push("thinking_in_total");
  if (total !== null && total > 0 && total < input + stated) rules.push("total_below_parts");
  const output = reader.part(stated + gap, MAX_COUNT);
  const modality = (name: string): number =>
    ofModality(usage, "promptTokensDetails", name, reader) - ofModality(usage, "cacheTokensDetails", name, reader);
  const counts = disjointCounts(
    {
      tokens: input,
      cached: reader.first(usage, "cachedContentTokenCount") ?? 0,
      written: 0,
      written1h: 0,
      audio: Math.max(0, modality("AUDIO")),
      image: Math.max(0, modality("IMAGE")),
    },
    {
      tokens: output,
      reasoning: thoughts ?? 0,
      image: ofModality(usage, "candidatesTokensDetails", "IMAGE", reader),
    },
    reader,
  );
  if (reader.foundImpossible) rules.push("impossible_count");
  return {
    counts,
    inferredOutput: gap,
    hasInput: input > 0,
    hasOutput: answer !== null || thoughts !== null || output > 0,
    // What was not read from the cache has no count.
    tellsCached: prompt !== null,
    reasoningTokens: Math.min((thoughts ?? 0) + gap, output),
    costUsd: null,
    rules,
  };
}

/** Whether the object shows these counts under its own names, and no others. */
export function showsGeminiCounts(usage: JsonObject, counts: TokenCounts): boolean {
  const reading = readGeminiUsage(usage);
  if (reading === null || reading.rules.length > 0) return false;
  const shown = reading.counts;
  return (
    usage["totalTokenCount"] === inputTokensOf(counts) + outputTokensOf(counts) &&
    inputTokensOf(shown) === inputTokensOf(counts) &&
    shown.inputTokensCached === counts.inputTokensCached &&
    outputTokensOf(shown) === outputTokensOf(counts)
  );
}

/** The tokens of a modality in a list of counts. */
function ofModality(usage: JsonObject | null, list: string, name: string, reader: CountReader): number {
  const counts = usage?.[list];
  if (!Array.isArray(counts)) return 0;
  const found = counts.filter(isObject).filter(({ modality }) => modality === name);
  return found.reduce((sum, count) => sum + (reader.read(count["tokenCount"]) ?? 0), 0);
}
