// The usage objects of chat: OpenAI's members, and those of whatever calls itself compatible.

import { inputTokensOf, outputTokensOf } from "../../billing/cost.ts";
import type { TokenCounts } from "../../kernel/token-prices.ts";
import type { JsonObject } from "../request/field-rules.ts";
import { readUsage } from "./read-usage.ts";
import type { UsageReader } from "./usage-reader.ts";

/** Reads them. An object of a compatible upstream may have the counts under names that clients do not know. */
export const CHAT_USAGE: UsageReader = { readUsage, showsCounts };

function showsCounts(usage: JsonObject, counts: TokenCounts): boolean {
  const [input, output] = [inputTokensOf(counts), outputTokensOf(counts)];
  if (usage["prompt_tokens"] !== input || usage["completion_tokens"] !== output) return false;
  if (usage["total_tokens"] !== input + output) return false;
  if (counts.inputTokensCached === 0) return true;
  const details = usage["prompt_tokens_details"];
  return (details as { cached_tokens?: unknown } | null | undefined)?.cached_tokens === counts.inputTokensCached;
}
