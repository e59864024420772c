import { inputTokensOf, outputTokensOf } from "../../billing/cost.ts";
import type { JsonObject } from "../request/field-rules.ts";
import type { UsageReader } from "./usage-reader.ts";

/** Whether a usage object counts any token at all. */
export function reportsTokens(usage: JsonObject | null, reader: UsageReader): boolean {
  const reading = reader.readUsage(usage);
  return reading !== null && inputTokensOf(reading.counts) + outputTokensOf(reading.counts) > 0;
}
