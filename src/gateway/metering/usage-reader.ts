import type { TokenCounts } from "../../kernel/token-prices.ts";
import type { JsonObject } from "../request/field-rules.ts";
import type { UsageReading } from "./read-usage.ts";

/** Reads the usage objects of one protocol. */
export interface UsageReader {
  /** Null: there is none, or it has no count at all. */
  readUsage(usage: JsonObject | null): UsageReading | null;
  /** Whether the object shows exactly these counts under its protocol's names, so that it can be shown unchanged. */
  showsCounts(usage: JsonObject, counts: TokenCounts): boolean;
}
