import { inputTokensOf, outputTokensOf } from "../../../billing/cost.ts";
import { readResponsesUsage } from "../../metering/responses-usage.ts";
import type { JsonObject } from "../../request/field-rules.ts";
import type { AnswerUsage } from "../answer-events.ts";

/** The usage of an answer without any. */
export const NO_USAGE: AnswerUsage = {
  input: 0,
  cached: 0,
  written: 0,
  written1h: 0,
  output: 0,
  reasoning: 0,
  costIdr: "0",
};

/** The billed usage, as the gateway writes it into the response. */
export function shownUsage(usage: JsonObject): AnswerUsage {
  const reading = readResponsesUsage(usage);
  if (reading === null) return NO_USAGE;
  const { counts, reasoningTokens } = reading;
  const { cacheWrite = 0, cacheWrite1h = 0 } = counts.otherTokens ?? {};
  return {
    input: inputTokensOf(counts),
    cached: counts.inputTokensCached,
    written: cacheWrite,
    written1h: cacheWrite1h,
    output: outputTokensOf(counts),
    reasoning: reasoningTokens,
    costIdr: typeof usage["cost_idr"] === "string" ? usage["cost_idr"] : NO_USAGE.costIdr,
  };
}
