// The blocks of a message as parts. Each role has blocks of its own.

import { isFullText, isJsonObject, isObject, isText, type JsonObject } from "../../request/field-rules.ts";
import type { Part, ResultPart, TextPart, Turn } from "../conversation.ts";
import type { Problems } from "../problems.ts";
import { readOpaqueText } from "../opaque-text.ts";
import { OWN_SIGNATURE } from "./own-signature.ts";
import { type PlainPart, readDocument, readImage, readSearchResult } from "./read-sources.ts";

/** The bound of the contract of RPC callers. */
const MAX_BLOCKS = 1_000;

type ReadBlock = (block: JsonObject, where: string, problems: Problems) => readonly Part[];
type ReadPlainBlock = (block: JsonObject, where: string, problems: Problems) => readonly PlainPart[];

const RESULT_BLOCKS: ReadonlyMap<unknown, ReadPlainBlock> = new Map<unknown, ReadPlainBlock>([
  ["text", (block, where, problems) => [readText(block, where, problems)]],
  ["image", readImage],
  ["document", (block, where, problems) => readDocument(block, where, problems, readPlainContent)],
  ["search_result", (block, where, problems) => readSearchResult(block, where, problems, readPlainContent)],
  ["tool_reference", (block, where, problems) => [nowAvailable(block["tool_name"], `${where}.tool_name`, problems)]],
]);

const BLOCKS: Readonly<Record<Turn["role"], ReadonlyMap<unknown, ReadBlock>>> = {
  system: new Map<unknown, ReadBlock>([
    ["text", (block, where, problems) => [readText(block, where, problems)]],
    ["tool_addition", readToolChange],
    ["tool_removal", readToolChange],
  ]),
  user: new Map<unknown, ReadBlock>([...RESULT_BLOCKS, ["tool_result", readResult]]),
  assistant: new Map<unknown, ReadBlock>([
    ["text", (block, where, problems) => [readText(block, where, problems)]],
    ["tool_use", readCall],
    ["thinking", readThinking],
    ["redacted_thinking", () => []],
  ]),
};

/** The parts of a message. */
export function readContent(role: Turn["role"], content: unknown, where: string, problems: Problems): Part[] {
  return readWith(BLOCKS[role], content, where, problems);
}

/** Instructions: a text or blocks of text. */
export function readSystem(content: unknown, where: string, problems: Problems): TextPart[] {
  return readWith(
    new Map([["text", (...of: Parameters<typeof readText>) => [readText(...of)]]]),
    content,
    where,
    problems,
  );
}

function readPlainContent(content: unknown, where: string, problems: Problems): PlainPart[] {
  return readWith(RESULT_BLOCKS, content, where, problems);
}

function readWith<T extends Part>(
  kinds: ReadonlyMap<unknown, (block: JsonObject, where: string, problems: Problems) => readonly T[]>,
  content: unknown,
  where: string,
  problems: Problems,
): (T | TextPart)[] {
  if (typeof content === "string") return [{ kind: "text", text: content }];
  if (!Array.isArray(content)) {
    problems.add(where, "type", "must be a string or an array of blocks");
    return [];
  }
  const parts: T[] = [];
  for (const [index, item] of problems.list(content, where, MAX_BLOCKS).entries()) {
    if (problems.isFull) break;
    const field = `${where}[${index}]`;
    const block = problems.object(item, field);
    if (block === null) continue;
    const read = kinds.get(block["type"]);
    if (read === undefined) refuseBlock(block["type"], field, [...kinds.keys()], problems);
    else parts.push(...read(block, field, problems));
  }
  return parts;
}

/** Blocks of tools that a provider runs, and of files that it keeps, are never sent by a client that got its answers here. */
function refuseBlock(type: unknown, field: string, offered: readonly unknown[], problems: Problems): void {
  problems.add(`${field}.type`, "in", `must be one of ${offered.join(", ")}`);
}

function readText(block: JsonObject, where: string, problems: Problems): TextPart {
  const cacheMark = readCacheMark(block, where, problems);
  const text = problems.text(isText, block["text"], `${where}.text`);
  return { kind: "text", text, ...(cacheMark === null ? {} : { cacheMark }) };
}

/** The lifetime that a mark asks for; null without a mark. */
export function readCacheMark(object: JsonObject, where: string, problems: Problems): "5m" | "1h" | null {
  const control = object["cache_control"];
  if (control === undefined || control === null) return null;
  const field = where === "" ? "cache_control" : `${where}.cache_control`;
  if (!isObject(control) || control["type"] !== "ephemeral") {
    problems.add(field, "type", "must be an object whose type is ephemeral");
    return null;
  }
  const { ttl } = control;
  if (ttl === undefined || ttl === null || ttl === "5m") return "5m";
  if (ttl !== "1h") problems.add(`${field}.ttl`, "in", "must be 5m or 1h");
  return "1h";
}

/** The last text with a mark; without a text there is no place for it. */
export function withCacheMark<T extends Part>(parts: readonly T[], mark: "5m" | "1h" | null): T[] {
  const last = parts.findLastIndex(({ kind }) => kind === "text");
  return parts.map((part, index) => (mark !== null && index === last ? { ...part, cacheMark: mark } : part));
}

function readCall(block: JsonObject, where: string, problems: Problems): Part[] {
  const id = problems.text(isFullText, block["id"], `${where}.id`);
  const name = problems.text(isFullText, block["name"], `${where}.name`);
  const input = block["input"];
  problems.holds(isJsonObject, input, `${where}.input`);
  return [{ kind: "call", id, tool: { name, namespace: null }, input: JSON.stringify(input ?? {}) }];
}

function readResult(block: JsonObject, where: string, problems: Problems): ResultPart[] {
  const callId = problems.text(isFullText, block["tool_use_id"], `${where}.tool_use_id`);
  const { content } = block;
  const isAbsent = content === undefined || content === null;
  const parts = isAbsent ? [] : readPlainContent(content, `${where}.content`, problems);
  const mark = readCacheMark(block, where, problems);
  return [{ kind: "result", callId, parts: withCacheMark(parts, mark), isError: block["is_error"] === true }];
}

/**
 * A thought that the client sends back. Its signature is of this service, of another one, or missing. One of this service names the
 * upstream that wants it back; a thought that was not shown is that alone.
 */
function readThinking(block: JsonObject, where: string, problems: Problems): Part[] {
  const text = problems.text(isText, block["thinking"], `${where}.thinking`);
  const { signature } = block;
  const opaque = typeof signature === "string" && signature !== OWN_SIGNATURE ? readOpaqueText(signature) : null;
  return text === "" && opaque === null ? [] : [{ kind: "reasoning", text, opaque }];
}

/** Types of what names a tool of the request. Any other defines one, perhaps one that the provider runs. */
const NAMED_TOOLS: ReadonlySet<unknown> = new Set([null, "tool_reference", "custom"]);

/** A change of the tools in mid-conversation. All tools of the request are sent to other models, so the change is a text. */
function readToolChange(block: JsonObject, where: string, problems: Problems): TextPart[] {
  const { type, tool } = block;
  const name = isObject(tool) ? (tool["name"] ?? tool["tool_name"]) : block["tool_name"];
  const field = `${where}.tool`;
  if (isObject(tool) && !NAMED_TOOLS.has(tool["type"] ?? null)) {
    problems.add(field, "type", "must name a tool of the request");
    return [];
  }
  if (type === "tool_addition") return [nowAvailable(name, field, problems)];
  return [{ kind: "text", text: `The tool ${problems.text(isFullText, name, field)} is not available any more.` }];
}

function nowAvailable(name: unknown, field: string, problems: Problems): TextPart {
  return { kind: "text", text: `The tool ${problems.text(isFullText, name, field)} is now available.` };
}
