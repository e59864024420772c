// The tools of a Gemini request. Only functions, which the client runs, have a form outside of Google's service.

import { isFullText, isObject, type JsonObject } from "../../request/field-rules.ts";
import type { Conversation, Tool, ToolChoice } from "../conversation.ts";
import type { Members } from "./members.ts";
import { plainSchema } from "./read-schema.ts";

const MAX_TOOLS = 1_000;
/** Google takes dots and colons as well, other upstreams do not. */
const TOOL_NAME = /^[\w-]{1,128}$/;
const NO_INPUT: JsonObject = { type: "object", properties: {} };

/** What a group of tools may have. All else in it are tools that Google runs, and charges for apart from tokens. */
const OWN_TOOLS: ReadonlySet<string> = new Set(["functionDeclarations"]);

/** The functions that a model may call. */
export function readTools(body: Members): Tool[] {
  const tools: Tool[] = [];
  const names = new Set<string>();
  for (const group of body.objects("tools", MAX_TOOLS)) {
    group.refuseOthers(OWN_TOOLS, "unpriced", "is a tool of the provider and is not offered");
    for (const declaration of group.objects("functionDeclarations", MAX_TOOLS)) {
      const tool = readFunction(declaration);
      if (tool === null) continue;
      if (names.has(tool.name)) declaration.refuse("name", "unique", "must differ from the names of the other tools");
      names.add(tool.name);
      tools.push(tool);
    }
  }
  return tools;
}

function readFunction(declaration: Members): Tool | null {
  const name = declaration.text("name", isFullText);
  if (name !== "" && !TOOL_NAME.test(name)) {
    declaration.refuse("name", "pattern", "must have 1 to 128 letters, digits, underscores and hyphens");
    return null;
  }
  const description = declaration.value("description");
  const schema = declaration.value("parametersJsonSchema") ?? declaration.value("parameters");
  if (schema !== null && !isObject(schema)) {
    const where = declaration.value("parametersJsonSchema") === null ? "parameters" : "parametersJsonSchema";
    declaration.refuse(where, "object", "must be an object");
    return null;
  }
  return {
    name,
    namespace: null,
    description: typeof description === "string" ? description : "",
    schema: schema === null ? NO_INPUT : plainSchema(schema),
    strict: null,
  };
}

type Choice = Pick<Conversation, "tools" | "toolChoice" | "parallelCalls">;

const MODES = new Map<unknown, "auto" | "any" | "none" | null>([
  ["MODE_UNSPECIFIED", null],
  ["AUTO", "auto"],
  ["VALIDATED", "auto"],
  ["ANY", "any"],
  ["NONE", "none"],
]);

/** Which functions may or must be called. Of several allowed names the other tools are left out: no other protocol has a list. */
export function readToolChoice(body: Members, tools: readonly Tool[]): Choice {
  const config = body.object("toolConfig")?.object("functionCallingConfig") ?? null;
  const unset = { tools, toolChoice: null, parallelCalls: null };
  if (config === null) return unset;
  const mode = config.value("mode");
  if (mode !== null && !MODES.has(mode)) config.refuse("mode", "in", `must be one of ${[...MODES.keys()].join(", ")}`);
  const kind = MODES.get(mode) ?? null;
  const allowed = allowedNames(config, tools);
  if (kind === null) return unset;
  if (allowed === null || kind === "none") return { ...unset, toolChoice: { kind } };
  const [only] = allowed;
  const isOne = kind === "any" && allowed.length === 1 && only !== undefined;
  const toolChoice: ToolChoice = isOne ? { kind: "tool", tool: { name: only, namespace: null } } : { kind };
  return { ...unset, tools: isOne ? tools : tools.filter(({ name }) => allowed.includes(name)), toolChoice };
}

/** Null: all of them. */
function allowedNames(config: Members, tools: readonly Tool[]): readonly string[] | null {
  const value = config.value("allowedFunctionNames");
  if (value === null || config.isEmptyList("allowedFunctionNames")) return null;
  const known = new Set(tools.map(({ name }) => name));
  if (Array.isArray(value) && value.every((name) => typeof name === "string" && known.has(name))) {
    return value as string[];
  }
  config.refuse("allowedFunctionNames", "in", "must be a list of names of the declared functions");
  return null;
}
