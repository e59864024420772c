// Reads the usage object of Anthropic's Messages. Its counts are disjoint already: the input excludes what was read from the cache and
// what was written to it.

import type { TokenCounts } from "../../kernel/token-prices.ts";
import type { JsonObject } from "../request/field-rules.ts";
import { CountReader, MAX_COUNT, objectIn } from "./count.ts";
import { disjointCounts } from "./disjoint-counts.ts";
import type { UsageReading } from "./read-usage.ts";
import type { UsageReader } from "./usage-reader.ts";

/** Reads the usage objects of Messages. */
export const MESSAGES_USAGE: UsageReader = { readUsage: readMessagesUsage, showsCounts: showsMessagesCounts };

/** Reads a usage object, with what earlier events reported. Null: there is none, or it has no count at all. */
export function readMessagesUsage(usage: JsonObject | null): UsageReading | null {
  const reader = new CountReader();
  const counts = usage === null ? null : countsIn(usage, reader);
  if (counts === null) return null;
  const { plain, cached, written, written1h, output, thinking } = counts;
  const side = { cached: cached ?? 0, written, written1h, audio: 0, image: 0 };
  const tokens = reader.part((plain ?? 0) + side.cached + written, MAX_COUNT);
  return {
    counts: disjointCounts({ ...side, tokens }, { tokens: output ?? 0, reasoning: thinking, image: 0 }, reader),
    inferredOutput: 0,
    hasInput: tokens > 0,
    hasOutput: output !== null,
    tellsCached: cached !== null,
    reasoningTokens: Math.min(thinking, output ?? 0),
    costUsd: null,
    rules: reader.foundImpossible ? ["impossible_count"] : [],
  };
}

/** Whether the object shows exactly these counts. */
export function showsMessagesCounts(usage: JsonObject, counts: TokenCounts): boolean {
  const shown = countsIn(usage, new CountReader());
  if (shown === null) return false;
  const {
    cacheWrite = 0,
    cacheWrite1h = 0,
    audioInput = 0,
    imageInput = 0,
    imageOutput = 0,
  } = counts.otherTokens ?? {};
  return (
    audioInput + imageInput + imageOutput === 0 &&
    (shown.plain ?? 0) === counts.inputTokensUncached &&
    (shown.cached ?? 0) === counts.inputTokensCached &&
    shown.written === cacheWrite + cacheWrite1h &&
    shown.written1h === cacheWrite1h &&
    (shown.output ?? 0) === counts.outputTokens
  );
}

type ShownCounts = {
  /** Input that was neither read from the cache nor written to it. Null, as the next and the output: not reported. */
  readonly plain: number | null;
  readonly cached: number | null;
  /** All writes, of which `written1h` for an hour. */
  readonly written: number;
  readonly written1h: number;
  readonly output: number | null;
  readonly thinking: number;
};

/** Null: input and output are both missing. */
function countsIn(usage: JsonObject, reader: CountReader): ShownCounts | null {
  const plain = reader.read(usage["input_tokens"]);
  const cached = reader.read(usage["cache_read_input_tokens"]);
  const output = reader.read(usage["output_tokens"]);
  const split = objectIn(usage, "cache_creation");
  const long = reader.read(split?.["ephemeral_1h_input_tokens"]) ?? 0;
  const bySplit = long + (reader.read(split?.["ephemeral_5m_input_tokens"]) ?? 0);
  const total = reader.read(usage["cache_creation_input_tokens"]) ?? 0;
  // Without the split all was written for five minutes. It is the count only where there is no other.
  const written = total > 0 ? total : bySplit;
  const isReported = plain !== null || output !== null || written + (cached ?? 0) > 0;
  if (!isReported) return null;
  const thinking = reader.read(objectIn(usage, "output_tokens_details")?.["thinking_tokens"]) ?? 0;
  return { plain, cached, written, written1h: Math.min(long, written), output, thinking };
}
