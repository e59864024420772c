// Writes the turns of a conversation as the items of a Responses request. Items have no ids: those of answers are ours, and nothing
// is stored under them.

import { ValidationError } from "../../../kernel/errors.ts";
import { problem, type JsonObject } from "../../request/field-rules.ts";
import { plainCallId } from "../chat/call-ids.ts";
import {
  type CallPart,
  type Conversation,
  flatName,
  type ImagePart,
  type Part,
  type ReasoningPart,
  type ResultPart,
  type Turn,
} from "../conversation.ts";

const NO_RESULT = "no result";
const EMPTY_ERROR = "error";

/** The items. Errors: ValidationError where a result has no call, or a part has no form here. */
export function inputItems({ system, turns, tools }: Conversation, upstream: string): readonly JsonObject[] {
  const freeform = new Set(tools.filter(({ schema }) => schema === null).map(flatName));
  const writer = new ItemWriter({ freeform, upstream });
  // The first is in `instructions`.
  if (system.length > 1) writer.message("developer", system.slice(1));
  for (const { role, parts } of turns) writer.turn(role, parts);
  return writer.end();
}

type WriterFacts = { readonly freeform: ReadonlySet<string>; readonly upstream: string };

class ItemWriter {
  readonly #facts: WriterFacts;
  readonly #items: JsonObject[] = [];
  /** The calls of the last turn of the model that have no result yet. */
  readonly #calls = new Map<string, CallPart>();
  /** What has come since then. It follows the results. */
  #waiting: (() => void)[] = [];

  constructor(facts: WriterFacts) {
    this.#facts = facts;
  }

  end(): readonly JsonObject[] {
    this.#endCalls();
    return this.#items;
  }

  turn(role: Turn["role"], parts: readonly Part[]): void {
    if (role === "assistant") {
      this.#endCalls();
      this.#assistant(parts);
      return;
    }
    for (const part of parts) if (part.kind === "result") this.#result(part);
    const own = parts.filter((part) => part.kind !== "result");
    if (own.length === 0) return;
    const write = (): void => this.message(role === "system" ? "developer" : "user", own);
    if (this.#calls.size === 0) write();
    else this.#waiting.push(write);
  }

  message(role: "developer" | "user" | "assistant", parts: readonly Part[]): void {
    const type = role === "assistant" ? "output_text" : "input_text";
    const content = parts.flatMap((part) => (part.kind === "text" && part.text === "" ? [] : [contentOf(part, type)]));
    if (content.length > 0) this.#items.push({ type: "message", role, content });
  }

  #assistant(parts: readonly Part[]): void {
    const isLast = (at: number): boolean => parts.slice(at + 1).every(({ kind }) => kind === "reasoning");
    let texts: Part[] = [];
    for (const [at, part] of parts.entries()) {
      if (part.kind === "call" || part.kind === "reasoning") {
        this.message("assistant", texts);
        texts = [];
      }
      if (part.kind === "call") this.#call(part);
      // A provider refuses reasoning without the output that followed it, as in an answer that was cut.
      else if (part.kind !== "reasoning") texts.push(part);
      else if (!isLast(at)) this.#reasoning(part);
    }
    this.message("assistant", texts);
  }

  #reasoning({ text, opaque }: ReasoningPart): void {
    if (opaque?.origin !== this.#facts.upstream) return;
    const summary = text === "" ? [] : [{ type: "summary_text", text }];
    this.#items.push({ type: "reasoning", summary, encrypted_content: opaque.blob });
  }

  #call(call: CallPart): void {
    const { id, tool, input } = call;
    this.#calls.set(id, call);
    const called = {
      call_id: plainCallId(id),
      name: tool.name,
      ...(tool.namespace === null ? {} : { namespace: tool.namespace }),
    };
    if (this.#isFreeform(call)) this.#items.push({ type: "custom_tool_call", ...called, input });
    else this.#items.push({ type: "function_call", ...called, arguments: input.trim() === "" ? "{}" : input });
  }

  #isFreeform({ tool }: CallPart): boolean {
    return this.#facts.freeform.has(flatName(tool));
  }

  #result({ callId, parts, isError }: ResultPart): void {
    const call = this.#calls.get(callId);
    if (call === undefined) {
      const id = JSON.stringify(callId.slice(0, 100));
      throw refusal("result", `The result for ${id} answers no call of the turn before it, or answers one again`);
    }
    this.#calls.delete(callId);
    this.#output(call, parts.length === 0 && isError ? EMPTY_ERROR : outputOf(parts));
    if (this.#calls.size === 0) this.#endCalls();
  }

  /** Each call needs a result before anything else follows. */
  #endCalls(): void {
    for (const call of this.#calls.values()) this.#output(call, NO_RESULT);
    this.#calls.clear();
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const write of waiting) write();
  }

  #output(call: CallPart, output: string | readonly JsonObject[]): void {
    const type = this.#isFreeform(call) ? "custom_tool_call_output" : "function_call_output";
    this.#items.push({ type, call_id: plainCallId(call.id), output });
  }
}

/** A text alone needs no list, and not every upstream takes one. */
function outputOf(parts: ResultPart["parts"]): string | readonly JsonObject[] {
  const [first, ...others] = parts;
  if (first === undefined) return "";
  if (first.kind === "text" && others.length === 0) return first.text;
  return parts.map((part) => contentOf(part, "input_text"));
}

function contentOf(part: Part, textType: "input_text" | "output_text"): JsonObject {
  if (part.kind === "text") return { type: textType, text: part.text };
  if (textType === "input_text" && part.kind === "image") return imageOf(part);
  if (textType === "input_text" && part.kind === "document") {
    const { name, mediaType, data } = part;
    const filename = name === null ? {} : { filename: name };
    return { type: "input_file", ...filename, file_data: dataUrl(mediaType, data) };
  }
  throw refusal("modality", `This model takes no ${part.kind} there`);
}

function imageOf({ source, detail }: ImagePart): JsonObject {
  const url = source.kind === "url" ? source.url : dataUrl(source.mediaType, source.data);
  return { type: "input_image", image_url: url, ...(detail === null ? {} : { detail }) };
}

function dataUrl(mediaType: string, data: string): string {
  return `data:${mediaType};base64,${data}`;
}

/** Where it is wrong has another name in each protocol. */
function refusal(rule: string, message: string): ValidationError {
  return new ValidationError([problem("", rule, message)]);
}
