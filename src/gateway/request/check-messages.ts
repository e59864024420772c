// The messages of a request: every shape that clients really send is accepted, and every other one is named in the error.

import type { MediaModality, Modality } from "../../catalog/catalog-model.ts";
import type { FieldProblem } from "../../kernel/errors.ts";
import type { CacheMarks } from "./cache-marks.ts";
import { isFullText, isObject, isText, problem, type JsonObject, type Rule } from "./field-rules.ts";
import { MEDIA_NAMES, MESSAGE_NAMES, otherSpellingIn, PART_NAMES } from "./known-names.ts";
import type { Span } from "./json-scan.ts";
import { originalLength, originalSpan } from "./skeleton.ts";

const ROLES: ReadonlySet<unknown> = new Set(["system", "developer", "user", "assistant", "tool", "function"]);
/** Roles that may have no content: their message is a tool call, or empty. */
const SILENT_ROLES: ReadonlySet<unknown> = new Set(["assistant", "function"]);
/** Checks stop here: of a million wrong messages the error names the first few. */
export const MAX_PROBLEMS = 20;

/** One part of media. `source`: its data or its address, as in the skeleton of the body. */
export type MediaItem = {
  readonly modality: MediaModality;
  readonly source: string;
  /** Of a picture; null: the client named none. */
  readonly detail: string | null;
};

/** The media of the messages. */
export type MediaFacts = {
  readonly items: readonly MediaItem[];
  /** How many of each kind. */
  readonly parts: ReadonlyMap<Modality, number>;
  /** How many bytes of the body are their data. */
  readonly dataBytes: number;
  /** Where their data lies in the body, in order. Short data is not among it. */
  readonly dataSpans: readonly Span[];
};

/** How each kind of content part is checked, and which modality it needs. */
type PartKind =
  | { readonly modality: "text"; readonly payload: string; readonly source: null }
  | { readonly modality: MediaModality; readonly payload: string; readonly source: string };
const PART_KINDS: ReadonlyMap<unknown, PartKind> = new Map<unknown, PartKind>([
  ["text", { modality: "text", payload: "text", source: null }],
  ["refusal", { modality: "text", payload: "refusal", source: null }],
  ["image_url", { modality: "image", payload: "image_url", source: "url" }],
  ["input_audio", { modality: "audio", payload: "input_audio", source: "data" }],
  ["video_url", { modality: "video", payload: "video_url", source: "url" }],
]);

/** The bounds of the lists, as the contract of RPC callers has them. */
const MAX_MESSAGES = 10_000;
const MAX_PARTS = 1_000;
const MAX_TOOL_CALLS = 1_000;

/** Checks the messages and collects their media and cache marks. Errors are added to `problems`. */
export function checkMessages(messages: unknown, problems: FieldProblem[], marks: CacheMarks): MediaFacts {
  const media = new MediaCount();
  if (!Array.isArray(messages)) {
    problems.push(problem("messages", "array", "must be an array of messages"));
  } else if (messages.length === 0) {
    problems.push(problem("messages", "min_items", "must hold at least one message"));
  } else if (messages.length > MAX_MESSAGES) {
    problems.push(problem("messages", "max_items", `must hold at most ${MAX_MESSAGES} messages`));
  } else {
    for (let index = 0; index < messages.length && problems.length < MAX_PROBLEMS; index += 1) {
      checkMessage(messages[index], `messages[${index}]`, { media, marks }, problems);
    }
  }
  return media;
}

/** The facts that the checks collect. */
type Found = { readonly media: MediaCount; readonly marks: CacheMarks };

class MediaCount implements MediaFacts {
  readonly parts = new Map<Modality, number>();
  readonly items: MediaItem[] = [];
  readonly dataSpans: Span[] = [];
  dataBytes = 0;

  add(modality: MediaModality, source: string, { detail }: JsonObject): void {
    this.items.push({ modality, source, detail: typeof detail === "string" ? detail : null });
    this.parts.set(modality, (this.parts.get(modality) ?? 0) + 1);
    // Sound comes as bare base64; images and videos as an address that counts as text, or as a data URL that does not.
    if (modality !== "audio" && !source.startsWith("data:")) return;
    this.dataBytes += originalLength(source);
    const span = originalSpan(source);
    if (span !== null) this.dataSpans.push(span);
  }
}

function checkMessage(message: unknown, field: string, found: Found, problems: FieldProblem[]): void {
  if (!isObject(message)) {
    problems.push(problem(field, "object", "must be an object"));
    return;
  }
  const misspelled = otherSpellingIn(message, MESSAGE_NAMES, field);
  if (misspelled !== null) problems.push(misspelled);
  found.marks.look(message, field);
  lookWithinMembers(message, field, found.marks, problems);
  const { role, content } = message;
  if (!ROLES.has(role)) {
    problems.push(problem(`${field}.role`, "in", `must be one of ${[...ROLES].join(", ")}`));
    return;
  }
  if (Array.isArray(content)) {
    checkParts(content, `${field}.content`, found, problems);
  } else if (typeof content !== "string") {
    const isSilent = (content === null || content === undefined) && SILENT_ROLES.has(role);
    if (!isSilent) problems.push(problem(`${field}.content`, "type", "must be a string or an array of parts"));
  }
  if (message["audio"] !== undefined && message["audio"] !== null) {
    problems.push(problem(`${field}.audio`, "stored", "must not name a sound that the provider keeps: send its text"));
  }
  checkOptional(message, "name", isText, field, problems);
  checkOptional(message, "tool_call_id", isText, field, problems);
  if (message["tool_calls"] !== undefined && message["tool_calls"] !== null) {
    checkToolCalls(message["tool_calls"], `${field}.tool_calls`, problems);
  }
}

function checkParts(parts: readonly unknown[], field: string, { media, marks }: Found, problems: FieldProblem[]): void {
  if (parts.length > MAX_PARTS) {
    problems.push(problem(field, "max_items", `must hold at most ${MAX_PARTS} parts`));
    return;
  }
  for (let index = 0; index < parts.length && problems.length < MAX_PROBLEMS; index += 1) {
    const part: unknown = parts[index];
    const where = `${field}[${index}]`;
    if (!isObject(part)) {
      problems.push(problem(where, "object", "must be an object"));
      continue;
    }
    const misspelled = otherSpellingIn(part, PART_NAMES, where);
    if (misspelled !== null) problems.push(misspelled);
    marks.look(part, where);
    lookWithinMembers(part, where, marks, problems);
    const kind = PART_KINDS.get(part["type"]);
    if (kind === undefined) {
      problems.push(problem(`${where}.type`, "in", `must be one of ${[...PART_KINDS.keys()].join(", ")}`));
      continue;
    }
    const payload = part[kind.payload];
    if (kind.source === null) {
      if (typeof payload !== "string") problems.push(problem(`${where}.${kind.payload}`, "string", "must be a string"));
      continue;
    }
    const wrongName = isObject(payload) ? otherSpellingIn(payload, MEDIA_NAMES, `${where}.${kind.payload}`) : null;
    if (wrongName !== null) problems.push(wrongName);
    const source = isObject(payload) ? payload[kind.source] : undefined;
    if (isObject(payload) && typeof source === "string" && source !== "") media.add(kind.modality, source, payload);
    else
      problems.push(problem(`${where}.${kind.payload}.${kind.source}`, "string", "must be a string that is not empty"));
  }
}

/** Marks and misspelled marks may lie in any object of a message or a part. The parts of a message are checked by themselves. */
function lookWithinMembers(object: JsonObject, field: string, marks: CacheMarks, problems: FieldProblem[]): void {
  for (const name of Object.keys(object)) {
    const member = object[name];
    if (typeof member !== "object" || member === null || name === "cache_control") continue;
    if (name === "content" && object["role"] !== undefined) continue;
    const misspelled = marks.lookWithin(member, `${field}.${name}`);
    if (misspelled !== null) problems.push(misspelled);
  }
}

function checkToolCalls(calls: unknown, field: string, problems: FieldProblem[]): void {
  if (!Array.isArray(calls)) {
    problems.push(problem(field, "array", "must be an array of tool calls"));
    return;
  }
  if (calls.length > MAX_TOOL_CALLS) {
    problems.push(problem(field, "max_items", `must hold at most ${MAX_TOOL_CALLS} tool calls`));
    return;
  }
  for (let index = 0; index < calls.length && problems.length < MAX_PROBLEMS; index += 1) {
    const call: unknown = calls[index];
    const where = `${field}[${index}]`;
    if (!isObject(call)) {
      problems.push(problem(where, "object", "must be an object"));
      continue;
    }
    const called = call["function"];
    if (called === undefined && call["type"] !== undefined && call["type"] !== "function") continue;
    if (!isObject(called)) {
      problems.push(problem(`${where}.function`, "object", "must be an object"));
      continue;
    }
    const wrongName = isFullText(called["name"], `${where}.function.name`);
    if (wrongName !== null) problems.push(wrongName);
    checkOptional(called, "arguments", isText, `${where}.function`, problems);
  }
}

function checkOptional(object: JsonObject, name: string, rule: Rule, field: string, problems: FieldProblem[]): void {
  const value = object[name];
  if (value === undefined || value === null) return;
  const found = rule(value, `${field}.${name}`);
  if (found !== null) problems.push(found);
}
