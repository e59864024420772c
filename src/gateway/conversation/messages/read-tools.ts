// The tools of a Messages request. Only tools that the client runs have a form outside of their provider.

import { isFullText, isJsonObject, isObject, type JsonObject } from "../../request/field-rules.ts";
import type { Conversation, Tool, ToolChoice } from "../conversation.ts";
import type { Problems } from "../problems.ts";

const MAX_TOOLS = 1_000;
const TOOL_NAME = /^[\w-]{1,128}$/;

/** Claude Code marks with it that tools are hidden behind its own search. It has no use for a model. */
const PLACEHOLDER = "DeferredToolPlaceholder";

/** The tools. Those whose loading is deferred are ordinary ones to other models. */
export function readTools(value: unknown, problems: Problems): Tool[] {
  if (value === undefined || value === null) return [];
  const tools: Tool[] = [];
  const names = new Set<string>();
  for (const [index, item] of problems.list(value, "tools", MAX_TOOLS).entries()) {
    if (problems.isFull) break;
    const where = `tools[${index}]`;
    const tool = problems.object(item, where);
    if (tool === null) continue;
    const read = readTool(tool, where, problems);
    if (read === null || (read.name === PLACEHOLDER && tool["defer_loading"] === true)) continue;
    if (names.has(read.name)) problems.add(`${where}.name`, "unique", "must differ from the names of the other tools");
    names.add(read.name);
    tools.push(read);
  }
  return tools;
}

function readTool(tool: JsonObject, where: string, problems: Problems): Tool | null {
  const { type, name, description, input_schema: schema, strict } = tool;
  if (type !== undefined && type !== null && type !== "custom") {
    const shown = typeof type === "string" ? JSON.stringify(type.slice(0, 100)) : "this";
    problems.add(`${where}.type`, "unpriced", `must be custom: ${shown} is a tool of a provider and is not offered`);
    return null;
  }
  if (typeof name !== "string" || !TOOL_NAME.test(name)) {
    problems.add(`${where}.name`, "pattern", "must have 1 to 128 letters, digits, underscores and hyphens");
    return null;
  }
  if (!problems.holds(isJsonObject, schema, `${where}.input_schema`) || !isObject(schema)) return null;
  const text = typeof description === "string" ? description : "";
  return { name, namespace: null, description: text, schema, strict: typeof strict === "boolean" ? strict : null };
}

type Choice = Pick<Conversation, "toolChoice" | "parallelCalls">;

/** Which tool is to be called, and whether several may be. */
export function readToolChoice(value: unknown, tools: readonly Tool[], problems: Problems): Choice {
  const choice = value === undefined || value === null ? null : problems.object(value, "tool_choice");
  if (choice === null) return { toolChoice: null, parallelCalls: null };
  const disabled = choice["disable_parallel_tool_use"];
  return {
    toolChoice: toolChoiceOf(choice, tools, problems),
    parallelCalls: typeof disabled === "boolean" ? !disabled : null,
  };
}

function toolChoiceOf(choice: JsonObject, tools: readonly Tool[], problems: Problems): ToolChoice | null {
  const { type } = choice;
  if (type === "auto" || type === "any" || type === "none") return { kind: type };
  if (type !== "tool") {
    problems.add("tool_choice.type", "in", "must be one of auto, any, tool, none");
    return null;
  }
  const name = problems.text(isFullText, choice["name"], "tool_choice.name");
  if (name !== "" && !tools.some((tool) => tool.name === name)) {
    problems.add("tool_choice.name", "in", "must be the name of one of the tools");
  }
  return { kind: "tool", tool: { name, namespace: null } };
}
