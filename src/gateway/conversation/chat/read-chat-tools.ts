// The tools of a chat request, in today's form or as `functions`, and which of them is to be called.

import { isObject, type JsonObject } from "../../request/field-rules.ts";
import type { Tool, ToolChoice } from "../conversation.ts";
import type { ChatAlone } from "./chat-alone.ts";

const NO_INPUT: JsonObject = { type: "object", properties: {} };

/** The tools. `hasFunctions`: they are in the older form. */
export function readTools({ tools, functions }: JsonObject): {
  readonly tools: readonly Tool[];
  readonly hasFunctions: boolean;
} {
  const own = objectsIn(tools).flatMap(({ type, function: definition, custom }) => {
    if (type === "custom") return isObject(custom) ? toolOf(custom, null).map(withGrammar(custom)) : [];
    return isObject(definition) ? toolOf(definition, parametersOf(definition)) : [];
  });
  const older = own.length > 0 ? [] : objectsIn(functions).flatMap((each) => toolOf(each, parametersOf(each)));
  return { tools: [...own, ...older], hasFunctions: older.length > 0 };
}

function parametersOf({ parameters }: JsonObject): JsonObject {
  return isObject(parameters) ? parameters : NO_INPUT;
}

function toolOf(definition: JsonObject, schema: JsonObject | null): Tool[] {
  const { name, description, strict } = definition;
  if (typeof name !== "string" || name === "") return [];
  return [
    {
      name,
      namespace: null,
      description: typeof description === "string" ? description : "",
      schema,
      strict: typeof strict === "boolean" ? strict : null,
    },
  ];
}

/** With what the input of a freeform tool has to match. */
function withGrammar({ format }: JsonObject): (tool: Tool) => Tool {
  const { syntax, definition } = isObject(format) && isObject(format["grammar"]) ? format["grammar"] : {};
  const grammar = typeof syntax === "string" && typeof definition === "string" ? { syntax, definition } : null;
  return (tool) => (grammar === null ? tool : { ...tool, grammar });
}

/** Which tool is to be called. Null: the request leaves it open. */
export function readToolChoice(
  { tool_choice: choice, function_call: older }: JsonObject,
  found: ChatAlone,
): ToolChoice | null {
  const field = choice === undefined || choice === null ? "function_call" : "tool_choice";
  const chosen = choice ?? older ?? null;
  if (chosen === null) return null;
  if (chosen === "auto" || chosen === "none") return { kind: chosen };
  if (chosen === "required" || chosen === "any") return { kind: "any" };
  const { function: called, custom, name: olderName } = isObject(chosen) ? chosen : {};
  const name = isObject(called) ? called["name"] : isObject(custom) ? custom["name"] : olderName;
  if (typeof name === "string" && name !== "") return { kind: "tool", tool: { name, namespace: null } };
  found.add(field, "in", "must be auto, none, required, or name a tool");
  return null;
}

function objectsIn(value: unknown): JsonObject[] {
  return Array.isArray(value) ? value.filter(isObject) : [];
}
