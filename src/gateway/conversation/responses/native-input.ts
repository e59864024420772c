// The items and tools of a request in its client's own bytes: what another server has made, or what has no price, is taken out of them.
// All other bytes stay.

import { isObject, type JsonObject } from "../../request/field-rules.ts";
import type { Span } from "../../request/json-scan.ts";
import { memberIn, objectsIn, type ScannedObject } from "../../request/object-list.ts";
import { type Edit, removeMembers } from "../../request/splice.ts";
import { plainCallId } from "../chat/call-ids.ts";
import { readCallIdText, readOpaqueText } from "../opaque-text.ts";

const CALLS: ReadonlySet<unknown> = new Set(["function_call", "custom_tool_call"]);
const RESULTS: ReadonlyMap<unknown, string> = new Map([
  ["function_call_output", "function_call"],
  ["custom_tool_call_output", "custom_tool_call"],
]);
const TOOL_HOLDERS: ReadonlySet<unknown> = new Set(["additional_tools", "tool_search_output"]);
/** Ids of items belong to the server that made them, and nothing is stored under them. The other one is of Codex and OpenAI alone. */
const REMOVED: ReadonlySet<string> = new Set(["id", "internal_chat_message_metadata_passthrough"]);

/** Whether the items are as OpenAI takes them. Others are read here, and written from their conversation: calls without results, and texts of other roles. */
export function areOwnItems(items: readonly JsonObject[]): boolean {
  const open = new Map<unknown, unknown>();
  for (const item of items) {
    const { type, call_id: id } = item;
    if (CALLS.has(type)) {
      if (open.has(id)) return false;
      open.set(id, type);
    } else if (RESULTS.has(type)) {
      if (open.get(id) !== RESULTS.get(type)) return false;
      open.delete(id);
    } else if (item["role"] === "assistant" && hasInputText(item)) return false;
  }
  return open.size === 0;
}

function hasInputText({ content }: JsonObject): boolean {
  return Array.isArray(content) && content.some((part) => isObject(part) && part["type"] === "input_text");
}

/** The edits of the items of a list, for the upstream of this id. Null: the model does not think, and takes no thoughts. */
export function itemEdits(body: Buffer, list: Span, items: readonly JsonObject[], origin: string | null): Edit[] {
  const spans = objectsIn(body, list);
  const stays = staying(items, origin);
  return [
    ...removed(spans, stays),
    ...spans.flatMap((span, at) => (stays[at] === true ? editsWithin(body, span, items[at] ?? {}) : [])),
  ];
}

/** The edits of a list of tools. */
export function toolEdits(body: Buffer, list: Span | undefined, tools: unknown): Edit[] {
  const stays = Array.isArray(tools) ? tools.map((tool) => isObject(tool) && isFree(tool)) : [];
  return list === undefined || stays.every(Boolean) ? [] : removed(objectsIn(body, list), stays);
}

/** Codex always sends both of these: a search of the web has a price, and a search for tools is run by the provider unless it is a client's. */
function isFree({ type, execution }: JsonObject): boolean {
  if (type === "tool_search") return execution === "client";
  return type !== "web_search";
}

/** Which items go on. Read from behind: a provider refuses reasoning without the output that followed it, as in an answer that was cut. */
function staying(items: readonly JsonObject[], origin: string | null): readonly boolean[] {
  const stays: boolean[] = [];
  let leadsToOutput = false;
  for (let at = items.length - 1; at >= 0; at -= 1) {
    const item = items[at] ?? {};
    if (item["type"] === "reasoning") {
      stays[at] = origin !== null && leadsToOutput && opaqueOf(item)?.origin === origin;
      continue;
    }
    stays[at] = isReadAgain(item);
    if (stays[at] === true) leadsToOutput = isOfModel(item);
  }
  return stays;
}

/** Searches that a provider ran belong to its own answer. */
function isReadAgain({ type, execution }: JsonObject): boolean {
  if (type === "tool_search_call" || type === "tool_search_output") return execution === "client";
  return type !== "web_search_call";
}

function isOfModel({ type, role }: JsonObject): boolean {
  return role === "assistant" || CALLS.has(type) || type === "tool_search_call";
}

/** What another upstream has encrypted, or an unknown one, cannot be read by this one. */
function opaqueOf({ encrypted_content: encrypted }: JsonObject) {
  return typeof encrypted === "string" ? readOpaqueText(encrypted) : null;
}

/** Takes objects out of a list. The others keep the commas between them. */
function removed(spans: readonly Span[], stays: readonly boolean[]): Edit[] {
  const first = stays.indexOf(true);
  const [begin] = spans;
  const end = (first < 0 ? spans.at(-1)?.end : spans[first]?.start) ?? 0;
  const before = begin === undefined || first === 0 ? [] : [{ start: begin.start, end, text: "" }];
  const behind = spans.flatMap((span, at): Edit[] => {
    if (first < 0 || at <= first || stays[at] === true) return [];
    return [{ start: spans[at - 1]?.end ?? span.start, end: span.end, text: "" }];
  });
  return [...before, ...behind];
}

function editsWithin(body: Buffer, span: ScannedObject, item: JsonObject): Edit[] {
  const { type, call_id: callId, tools } = item;
  const edits = removeMembers(span.members, REMOVED).map((edit): Edit => {
    return { ...edit, start: span.start + edit.start, end: span.start + edit.end };
  });
  const set = (name: string, text: string): void => {
    const member = memberIn(span, name);
    if (member !== undefined) edits.push({ start: member.start, end: member.end, text: JSON.stringify(text) });
  };
  if (type === "reasoning") set("encrypted_content", opaqueOf(item)?.blob ?? "");
  if ((CALLS.has(type) || RESULTS.has(type)) && typeof callId === "string") {
    const plain = plainCallId(readCallIdText(callId).id);
    if (plain !== callId) set("call_id", plain);
  }
  if (TOOL_HOLDERS.has(type)) edits.push(...toolEdits(body, memberIn(span, "tools"), tools));
  return edits;
}
