// The names that Messages has for members, at the time of writing.

import type { JsonObject } from "../../request/field-rules.ts";
import { refuseOtherSpellings as refuseOtherNames } from "../known-names.ts";
import type { Problems } from "../problems.ts";

/** Members of a body that are read, checked or known to change no price. */
const TOP_LEVEL: ReadonlySet<string> = new Set(
  (
    "model max_tokens messages system tools tool_choice thinking output_config output_format temperature top_p top_k stop_sequences " +
    "stream metadata cache_control service_tier speed inference_geo context_management safeguards diagnostics container thread " +
    "compaction fallbacks mcp_servers billing_policy fallback_credit_token user_profile_id"
  ).split(" "),
);
/** Members within messages, blocks, tools and settings. */
const WITHIN =
  "role content type text source media_type data url file_id title context citations thinking signature id name input tool_use_id " +
  "is_error tool tool_name ttl description input_schema strict defer_loading eager_input_streaming input_examples allowed_callers " +
  "max_uses budget_tokens display effort format schema disable_parallel_tool_use user_id edits previous_message_id";
const NAMES: ReadonlySet<string> = new Set([...TOP_LEVEL, ...WITHIN.split(" ")]);
/** What lies within them is the client's own JSON. */
const OWN_JSON: ReadonlySet<string> = new Set(["input", "input_schema", "schema", "input_examples"]);

/** Names each member that differs from a known one by its case alone, wherever it is. */
export function refuseOtherSpellings(value: unknown, where: string, problems: Problems): void {
  refuseOtherNames(value, where, { names: NAMES, ownJson: OWN_JSON }, problems);
}

/** The members of a body that have no name here, but for nulls. */
export function unknownMembers(body: JsonObject): readonly string[] {
  return Object.keys(body).filter((name) => !TOP_LEVEL.has(name) && body[name] !== null);
}
