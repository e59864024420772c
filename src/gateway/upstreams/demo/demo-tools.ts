// Which tools the demo calls: `!tool` calls the first, `!tools=N` several at once, and a choice of the client does without a word.
// Once their results are there, its answer is about those.

import { isObject, type JsonObject } from "../../request/field-rules.ts";
import { instanceOf } from "./schema-instance.ts";

const MAX_CALLS = 16;
const SHOWN_CHARACTERS = 400;

/** A call with something plausible for its input. */
export type DemoCall = { readonly name: string; readonly arguments: string };

/** The calls for a request; empty for a text. `prompt`: the last message of the user, which asks if no result has come since. */
export function callsFor(body: JsonObject, prompt: string, isAnswered: boolean): readonly DemoCall[] {
  const tools = functionsIn(body);
  const choice = body["tool_choice"];
  const named = isObject(choice) && isObject(choice["function"]) ? choice["function"]["name"] : null;
  const [first] = named === null ? tools : tools.filter(({ name }) => name === named);
  if (first === undefined || choice === "none") return [];
  const isForced = named !== null || choice === "required";
  const asked = isAnswered ? null : /!tool(?:s=(\d{1,3}))?\b/.exec(prompt);
  if (asked === null && !isForced) return [];
  const wanted = Math.min(Number(asked?.[1] ?? 1), MAX_CALLS);
  const count = body["parallel_tool_calls"] === false ? Math.min(wanted, 1) : wanted;
  const offered = named === null ? tools : [first];
  return Array.from({ length: count }, (_, index) => callOf(offered[index % offered.length] ?? first));
}

/** The results that came since the last answer, as a text; null without any. */
export function aboutResults(messages: readonly JsonObject[], textOf: (message: JsonObject) => string): string | null {
  const last = messages.findLastIndex(({ role }) => role === "assistant");
  const results = messages.slice(last + 1).filter(({ role }) => role === "tool" || role === "function");
  if (results.length === 0) return null;
  const shown = results.map((result) => textOf(result).slice(0, SHOWN_CHARACTERS));
  return `${results.length === 1 ? "The tool returned" : `${results.length} tools returned`}: ${shown.join(" | ")}`;
}

type DemoFunction = { readonly name: string; readonly parameters: JsonObject };

function functionsIn({ tools }: JsonObject): readonly DemoFunction[] {
  return (Array.isArray(tools) ? tools : []).flatMap((tool: unknown): DemoFunction[] => {
    const definition = isObject(tool) ? tool["function"] : null;
    if (!isObject(definition)) return [];
    const { name, parameters } = definition;
    return [{ name: String(name), parameters: isObject(parameters) ? parameters : {} }];
  });
}

function callOf({ name, parameters }: DemoFunction): DemoCall {
  return { name, arguments: JSON.stringify(instanceOf({ ...parameters, type: "object" })) };
}
