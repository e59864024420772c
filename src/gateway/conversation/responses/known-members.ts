// Which members of a request pass to a server of Responses: those that are read, checked or known to change no price. Whatever is new next
// month may have another price, and is refused by its name until it is known here.

import { isObject, type JsonObject } from "../../request/field-rules.ts";
import { NOT_KNOWN, refuseOtherSpellings } from "../known-names.ts";
import type { Problems } from "../problems.ts";

const namesIn = (names: string): ReadonlySet<string> => new Set(names.split(" "));

/** Members of a body that go on to the upstream. */
const PASSING = namesIn(
  "model input instructions tools tool_choice parallel_tool_calls max_output_tokens max_tool_calls temperature top_p top_logprobs " +
    "reasoning text include store stream stream_options prompt_cache_key prompt_cache_retention safety_identifier service_tier truncation",
);
/** Members that are read here or change nothing, and end here: some are refused unless their value changes nothing. */
const ENDING = namesIn(
  "background previous_response_id conversation prompt context_management speed inference_geo prompt_cache_options audio modalities " +
    "stop n seed logprobs logit_bias frequency_penalty presence_penalty user metadata client_metadata",
);
/** Members of settings, of which a new one might choose another price. */
const SETTINGS: Readonly<Record<string, ReadonlySet<string>>> = {
  reasoning: namesIn("effort summary generate_summary context mode"),
  text: namesIn("format verbosity"),
  stream_options: namesIn("include_obfuscation"),
};
/** Members within items, parts and tools. */
const WITHIN =
  "type role content id status phase call_id name namespace arguments output summary encrypted_content caller execution image_url detail " +
  "file_data file_id file_url filename refusal annotations description parameters strict format syntax definition defer_loading " +
  "allowed_callers async output_schema schema prompt_cache_breakpoint cache_control container container_id vector_store_ids";
const NAMES: ReadonlySet<string> = new Set([
  ...PASSING,
  ...ENDING,
  ...Object.values(SETTINGS).flatMap((names) => [...names]),
  ...WITHIN.split(" "),
]);
/** What lies within them is the client's own JSON. */
const OWN_JSON = namesIn("parameters output_schema schema arguments metadata client_metadata");
/** Names of what lies in the account at a provider, which all customers share. */
const STORED = namesIn("file_id container container_id vector_store_ids");

/** The members of a body that end here. */
export function endingMembers(members: Iterable<string>): readonly string[] {
  return [...members].filter((name) => !PASSING.has(name));
}

/** Names what may not pass as the client wrote it. The body was read by then. */
export function refuseUnknown(body: JsonObject, problems: Problems): void {
  refuseOtherSpellings(body, "", { names: NAMES, ownJson: OWN_JSON }, problems);
  for (const [name, value] of Object.entries(body)) {
    if (value === null || PASSING.has(name) || ENDING.has(name)) continue;
    problems.add(name, "unknown", NOT_KNOWN);
  }
  for (const [name, known] of Object.entries(SETTINGS)) {
    const setting = body[name];
    if (!isObject(setting)) continue;
    for (const each of Object.keys(setting)) {
      if (setting[each] !== null && !known.has(each)) problems.add(`${name}.${each}`, "unknown", NOT_KNOWN);
    }
  }
  refuseUnpriced(body, problems);
  refuseStored(body["input"], "input", problems);
  refuseStored(body["tools"], "tools", problems);
}

const UNPRICED = "is not offered, because it changes what the upstream charges";

function refuseUnpriced({ reasoning, context_management: management, input }: JsonObject, problems: Problems): void {
  const mode = isObject(reasoning) ? (reasoning["mode"] ?? "standard") : "standard";
  if (mode !== "standard") problems.add("reasoning.mode", "unpriced", UNPRICED);
  // A compaction is an answer of its own.
  const isEmpty =
    management === undefined || management === null || (Array.isArray(management) && management.length === 0);
  if (!isEmpty) problems.add("context_management", "unpriced", UNPRICED);
  if (!Array.isArray(input)) return;
  for (const [index, item] of input.entries()) {
    if (isObject(item) && item["type"] === "tool_search_output") refuseFoundTools(item, `input[${index}]`, problems);
  }
}

const FOUND_TOOLS: ReadonlySet<unknown> = new Set(["function", "custom", "namespace"]);

/** Tools that a client has found are tools of the request: none that the provider runs is among them. */
function refuseFoundTools({ tools }: JsonObject, where: string, problems: Problems): void {
  for (const [index, tool] of problems.list(tools ?? [], `${where}.tools`, Infinity).entries()) {
    const path = `${where}.tools[${index}]`;
    if (!isObject(tool) || !FOUND_TOOLS.has(tool["type"])) problems.add(`${path}.type`, "unpriced", UNPRICED);
    else if (tool["type"] === "namespace") refuseFoundTools(tool, path, problems);
  }
}

/** Names each reference to something stored, wherever it is. */
function refuseStored(value: unknown, where: string, problems: Problems): void {
  if (typeof value !== "object" || value === null || problems.isFull) return;
  if (Array.isArray(value)) {
    for (const [index, item] of value.entries()) refuseStored(item, `${where}[${index}]`, problems);
    return;
  }
  for (const [name, member] of Object.entries(value)) {
    if (OWN_JSON.has(name) || member === null) continue;
    if (STORED.has(name))
      problems.add(`${where}.${name}`, "stateless", "is not offered, because nothing is stored here");
    refuseStored(member, `${where}.${name}`, problems);
  }
}
