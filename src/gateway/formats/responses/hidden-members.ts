// What of an answer stays here: the upstream's names of our customer and of its model, and facts of the account that all customers
// share. What is not known yet passes, unless it holds one of these.

import type { JsonObject } from "../../request/field-rules.ts";
import type { NativeClient, ShownAs } from "../shown-format.ts";

/** Members under which a provider names our customer or its account. A response repeats the first three. */
const HIDDEN: ReadonlySet<string> = new Set(
  "safety_identifier prompt_cache_key user billing access_programs organization project account conversation".split(
    " ",
  ),
);
/** The members that responses have, and that a client or the model writes. Others are searched for what is hidden. */
const KNOWN: ReadonlySet<string> = new Set(
  (
    "id object created_at completed_at status background error incomplete_details instructions max_output_tokens max_tool_calls metadata " +
    "model moderation image output output_text parallel_tool_calls previous_response_id prompt " +
    "prompt_cache_options prompt_cache_retention reasoning service_tier store temperature text tool_choice tool_usage tools top_logprobs " +
    "top_p truncation usage"
  ).split(" "),
);
/** The members that events and items have. Theirs is what the model wrote, and may name anything. */
const KNOWN_WITHIN: ReadonlySet<string> = new Set(
  (
    "type sequence_number item_id output_index content_index summary_index annotation_index delta text refusal arguments input name item " +
    "part response logprobs obfuscation annotation id role status content summary encrypted_content call_id namespace phase output " +
    "execution tools"
  ).split(" "),
);
const EVENTS: ReadonlySet<unknown> = new Set(
  [
    "created in_progress queued completed incomplete output_item.added output_item.done content_part.added content_part.done",
    "output_text.delta output_text.done output_text.annotation.added refusal.delta refusal.done",
    "function_call_arguments.delta function_call_arguments.done custom_tool_call_input.delta custom_tool_call_input.done",
    "reasoning_summary_part.added reasoning_summary_part.done reasoning_summary_text.delta reasoning_summary_text.done",
    "reasoning_text.delta reasoning_text.done",
  ]
    .join(" ")
    .split(" ")
    .map((name) => `response.${name}`),
);

/** The members of a response that differ for its client, by their names. `textOf`: the JSON of a member that the response has. */
export function replacedMembers(
  present: Iterable<string>,
  textOf: (name: string) => string,
  { names, native }: ShownAs,
): ReadonlyMap<string, unknown> {
  const replaced = new Map<string, unknown>(Object.entries(names));
  for (const name of present) {
    if (native !== undefined && native.repeated[name] !== undefined) replaced.set(name, native.repeated[name]);
    else if (HIDDEN.has(name)) replaced.set(name, null);
    else if (native !== undefined && !KNOWN.has(name) && holdsHidden(textOf(name), native)) replaced.set(name, null);
  }
  return replaced;
}

/** The same for the members of an item, or of an event outside its response. Known members never differ. Null: none differs. */
export function replacedWithin(object: JsonObject, { names, native }: ShownAs): ReadonlyMap<string, unknown> | null {
  let replaced: Map<string, unknown> | null = null;
  for (const name in object) {
    if (KNOWN_WITHIN.has(name)) continue;
    const isModel = name === "model";
    const isHidden = HIDDEN.has(name) || (native !== undefined && holdsHidden(JSON.stringify(object[name]), native));
    if (!isModel && !isHidden) continue;
    replaced ??= new Map();
    replaced.set(name, isModel ? names.model : null);
  }
  return replaced;
}

/** Whether an event is one that clients of the protocol do not get: it is not known, and holds what is hidden. */
export function isHiddenEvent(type: unknown, json: string, native: NativeClient): boolean {
  return !EVENTS.has(type) && holdsHidden(json, native);
}

/** Whether a JSON text has a string that is one of the texts, or begins with one: providers add dates to names of models. */
function holdsHidden(json: string, { hidden }: NativeClient): boolean {
  return hidden.some((text) => {
    const begin = JSON.stringify(text).slice(0, -1);
    for (let at = json.indexOf(begin); at >= 0; at = json.indexOf(begin, at + 1)) {
      if (ENDS_OF_NAMES.has(json[at + begin.length] ?? "")) return true;
    }
    return false;
  });
}

const ENDS_OF_NAMES: ReadonlySet<string> = new Set(['"', "-", ".", "@", ":", "/"]);
