// Turns what an upstream says it used into counts that do not overlap. Its numbers are untrusted: whatever is impossible
// is cut to what is possible, and said to have been cut.

import type { TokenCounts } from "../billing/cost.ts";
import { isObject, type JsonObject } from "./request/field-rules.ts";

/** The largest counts a request can physically have. */
export type UsageBounds = { readonly input: number; readonly output: number };

export type UsageReading = { readonly counts: TokenCounts; readonly clamped: boolean };

/** Reads the usage object of OpenAI's shape or one of its kin. Null: it says nothing that can be used. */
export function readUsage(usage: unknown, bounds: UsageBounds): UsageReading | null {
  if (!isObject(usage)) return null;
  const input = readCount(usage["prompt_tokens"] ?? usage["input_tokens"], bounds.input);
  const output = readCount(usage["completion_tokens"] ?? usage["output_tokens"], bounds.output);
  if (input === null || output === null) return null;

  const saidCached = cachedTokensOf(usage);
  const cached = saidCached === undefined ? ABSENT : (readCount(saidCached, input.tokens) ?? UNREADABLE);
  const apart = readCount(reasoningApart(usage, input.tokens, output.tokens), bounds.output - output.tokens) ?? ABSENT;
  return {
    counts: {
      inputTokensUncached: input.tokens - cached.tokens,
      inputTokensCached: cached.tokens,
      outputTokens: output.tokens + apart.tokens,
    },
    clamped: input.clamped || output.clamped || cached.clamped || apart.clamped,
  };
}

type Count = { readonly tokens: number; readonly clamped: boolean };
const ABSENT: Count = { tokens: 0, clamped: false };
const UNREADABLE: Count = { tokens: 0, clamped: true };

/** A count from 0 to `max`. Fractions count as begun tokens. Null: no number at all. */
function readCount(value: unknown, max: number): Count | null {
  const said = typeof value === "string" && /^\s*-?\d+(\.\d+)?\s*$/.test(value) ? Number(value) : value;
  if (typeof said !== "number" || Number.isNaN(said)) return null;
  const tokens = Math.min(Math.max(Math.ceil(said), 0), max);
  return { tokens: tokens === 0 ? 0 : tokens, clamped: tokens !== value };
}

/** OpenAI and most of its kin, then DeepSeek, then Moonshot. Undefined or null: nothing was cached. */
function cachedTokensOf(usage: JsonObject): unknown {
  const details = usage["prompt_tokens_details"] ?? usage["input_tokens_details"];
  const detailed = isObject(details) ? details["cached_tokens"] : undefined;
  return detailed ?? usage["prompt_cache_hit_tokens"] ?? usage["cached_tokens"] ?? undefined;
}

/** Reasoning is part of the completion, except where the total shows that the upstream (xAI) counted it beside it. */
function reasoningApart(usage: JsonObject, input: number, output: number): number {
  const details = usage["completion_tokens_details"];
  const reasoning = isObject(details) ? details["reasoning_tokens"] : undefined;
  if (typeof reasoning !== "number" || !Number.isInteger(reasoning) || reasoning <= 0) return 0;
  return usage["total_tokens"] === input + output + reasoning ? reasoning : 0;
}
