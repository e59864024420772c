// The tools of a Responses request: functions, freeform tools and namespaces of both. Tools that a provider runs are refused,
// because they have no price here, apart from two that Codex sends with every request.

import { flatName, type Tool, type ToolChoice, type ToolName } from "../conversation.ts";
import { isObject, type JsonObject } from "../../request/field-rules.ts";
import type { ObjectReader } from "./object-reader.ts";

const MAX_TOOLS = 1_000;
/** What protocols without namespaces accept as a name, but for its length. */
const TOOL_NAME = /^[a-zA-Z0-9_-]{1,128}$/;
/** Codex works without them, and a user cannot stop it from sending them. */
const LEFT_OUT: ReadonlySet<unknown> = new Set(["web_search", "tool_search"]);
const NO_INPUT: JsonObject = { type: "object", properties: {} };

/** The tools of a request, from its list and from items of its input. */
export class ToolList {
  readonly #tools = new Map<string, Tool>();

  /** Adds the tools of a list. */
  read(holder: ObjectReader): void {
    for (const tool of holder.members("tools", MAX_TOOLS)) {
      if (tool.object["type"] === "namespace") this.#readNamespace(tool);
      else if (!LEFT_OUT.has(tool.object["type"])) this.#readTool(tool, null, "");
    }
  }

  all(): readonly Tool[] {
    return [...this.#tools.values()];
  }

  /** The tool that a call of the input, or the choice, names. */
  find(name: ToolName): Tool | undefined {
    return this.#tools.get(flatName(name));
  }

  /** Leaves the named tools alone. */
  keep(names: readonly ToolName[]): void {
    const kept = new Set(names.map(flatName));
    for (const name of this.#tools.keys()) if (!kept.has(name)) this.#tools.delete(name);
  }

  #readNamespace(reader: ObjectReader): void {
    const namespace = readToolName(reader, "name");
    // Only the first tool gets the description: repeated for each tool it could be most of the prompt.
    let about = reader.text("description");
    for (const tool of reader.members("tools", MAX_TOOLS)) {
      this.#readTool(tool, namespace, about);
      about = "";
    }
  }

  #readTool(reader: ObjectReader, namespace: string | null, about: string): void {
    const { type } = reader.object;
    if (type !== "function" && type !== "custom") {
      const shown = typeof type === "string" ? JSON.stringify(type.slice(0, 100)) : "that is sent";
      reader.refuse("type", "unpriced", `must be function, custom or namespace; the tool ${shown} is not offered`);
      return;
    }
    const name = { name: readToolName(reader, "name"), namespace };
    const grammar = type === "custom" ? grammarOf(reader) : null;
    const tool: Tool = {
      ...name,
      description: reader.text("description"),
      schema: type === "custom" ? null : (reader.member("parameters")?.object ?? NO_INPUT),
      strict: type === "custom" ? null : reader.boolean("strict"),
      ...(about === "" ? {} : { namespaceDescription: about }),
      ...(grammar === null ? {} : { grammar }),
    };
    if (this.find(name) !== undefined) reader.refuse("name", "unique", `must differ from ${flatName(name)} before it`);
    else if (this.#tools.size >= MAX_TOOLS) reader.refuse("", "max_items", `must be one of at most ${MAX_TOOLS} tools`);
    else this.#tools.set(flatName(name), tool);
  }
}

/** Reads the name of a tool or of a namespace. */
export function readToolName(reader: ObjectReader, field: string): string {
  const name = reader.fullText(field);
  if (name !== "" && !TOOL_NAME.test(name)) {
    reader.refuse(field, "pattern", "must have 1 to 128 letters, digits, underscores and hyphens");
  }
  return name;
}

function grammarOf(reader: ObjectReader): NonNullable<Tool["grammar"]> | null {
  const format = reader.member("format");
  if (format?.oneOf("type", ["text", "grammar"]) !== "grammar") return null;
  return { syntax: format.fullText("syntax"), definition: format.fullText("definition") };
}

const CHOICES: Readonly<Record<string, ToolChoice["kind"] & ("auto" | "any" | "none")>> = {
  auto: "auto",
  required: "any",
  none: "none",
};

/** The choice among tools that were read. A choice of some tools removes the others. */
export function readToolChoice(body: ObjectReader, tools: ToolList): ToolChoice | null {
  if (!body.has("tool_choice")) return null;
  const asked = body.object["tool_choice"];
  if (typeof asked === "string" && Object.hasOwn(CHOICES, asked))
    return withTools(body, tools, CHOICES[asked] ?? "auto");
  if (!isObject(asked)) {
    body.refuse("tool_choice", "in", "must be auto, required, none, or an object that names a tool");
    return null;
  }
  const choice = body.member("tool_choice");
  if (choice === null) return null;
  if (asked["type"] === "allowed_tools") {
    const names = [...choice.members("tools", MAX_TOOLS)].map((tool) => readNamed(tool, tools));
    tools.keep(names.filter((name) => name !== null));
    return withTools(body, tools, CHOICES[choice.oneOf("mode", ["auto", "required"]) ?? "auto"] ?? "auto");
  }
  const tool = readNamed(choice, tools);
  return tool === null ? null : { kind: "tool", tool };
}

/** Providers refuse a choice among no tools. */
function withTools(body: ObjectReader, tools: ToolList, kind: "auto" | "any" | "none"): ToolChoice | null {
  if (tools.all().length > 0) return { kind };
  if (kind === "any") body.refuse("tool_choice", "tools", "must not be required without a tool that can be called");
  return null;
}

function readNamed(reader: ObjectReader, tools: ToolList): ToolName | null {
  const { type } = reader.object;
  if (type !== "function" && type !== "custom") {
    reader.refuse("type", "unpriced", "must be function or custom; tools that a provider runs are not offered");
    return null;
  }
  const name = reader.fullText("name");
  const found = tools.find({ name, namespace: reader.has("namespace") ? reader.text("namespace") : null });
  if (found === undefined && name !== "") reader.refuse("name", "in", "must be the name of a tool of this request");
  return found === undefined ? null : { name: found.name, namespace: found.namespace };
}
