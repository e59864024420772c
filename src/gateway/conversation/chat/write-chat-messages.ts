// Writes the turns of a conversation as chat messages. Chat wants each call answered by a message of its own, directly after the
// calls and in their order; other protocols only want an answer somewhere in the next turn.

import { ValidationError } from "../../../kernel/errors.ts";
import { problem } from "../../request/field-rules.ts";
import { parseObject } from "../../request/parse-object.ts";
import {
  type AudioPart,
  type CallPart,
  type Conversation,
  flatName,
  type ImagePart,
  type Part,
  type ResultPart,
  type TextPart,
} from "../conversation.ts";
import { plainCallId } from "./call-ids.ts";
import { wrapInput } from "../freeform-input.ts";

const NO_RESULT = "no result";
const EMPTY_ERROR = "error";
/** Between texts that are parts of their own in other protocols: not every upstream takes more than one. */
const BETWEEN_TEXTS = "\n\n";

/** The messages. Errors: ValidationError where a result has no call, or a part has no form in chat. */
export function chatMessages({ system, turns, tools }: Conversation): object[] {
  const freeform = new Set(tools.filter(({ schema }) => schema === null).map(flatName));
  const writer = new MessageWriter(freeform);
  if (system.length > 0) writer.add({ role: "system", content: joined(system) });
  let ofModel: Part[] | null = null;
  for (const { role, parts } of turns) {
    if (role === "assistant") {
      if (ofModel === null) ofModel = [...parts];
      else ofModel.push(...parts);
      continue;
    }
    if (ofModel !== null) writer.assistant(ofModel);
    ofModel = null;
    if (role === "system") writer.add({ role, content: joined(parts.map(requireText)) });
    else writer.user(parts);
  }
  if (ofModel !== null) writer.assistant(ofModel);
  return writer.end();
}

/** A call that waits for its result. */
type OpenCall = { readonly id: string; result: ResultPart | null };

class MessageWriter {
  readonly #freeform: ReadonlySet<string>;
  readonly #messages: object[] = [];
  /** The calls of the last turn of the model. */
  #calls: OpenCall[] = [];
  /** What came since then. It follows the results. */
  #behindResults: object[] = [];

  constructor(freeform: ReadonlySet<string>) {
    this.#freeform = freeform;
  }

  add(message: object): void {
    this.#behindResults.push(message);
  }

  /** A turn of the model. What it thought stays out: only some upstreams take that back, and none takes another's. */
  assistant(parts: readonly Part[]): void {
    this.#closeCalls();
    const calls = parts.filter((part) => part.kind === "call");
    const text = joined(parts.filter((part) => part.kind !== "call" && part.kind !== "reasoning").map(requireText));
    if (calls.length === 0) {
      if (text !== "") this.#messages.push({ role: "assistant", content: text });
      return;
    }
    this.#calls = calls.map(({ id }) => ({ id, result: null }));
    this.#messages.push({
      role: "assistant",
      content: text === "" ? null : text,
      tool_calls: calls.map((call) => this.#callOf(call)),
    });
  }

  /** A turn of the client: results of calls, and all else as a message. */
  user(parts: readonly Part[]): void {
    const own: (TextPart | ImagePart | AudioPart)[] = [];
    for (const part of parts) {
      if (part.kind === "result") this.#take(part);
      else own.push(requireUserPart(standIn(part)));
    }
    if (own.length > 0) this.add({ role: "user", content: contentOf(own) });
  }

  end(): object[] {
    this.#closeCalls();
    return this.#messages;
  }

  #take(result: ResultPart): void {
    const call = this.#calls.find(({ id, result: earlier }) => id === result.callId && earlier === null);
    if (call === undefined) {
      const id = JSON.stringify(result.callId.slice(0, 100));
      throw refuse("result", `The result for ${id} answers no call of the turn before it, or answers one again`);
    }
    call.result = result;
  }

  #closeCalls(): void {
    const images: object[] = [];
    for (const { id, result } of this.#calls) {
      this.#messages.push({ role: "tool", tool_call_id: plainCallId(id), content: resultText(result) });
      if (result !== null) images.push(...imagesOf(result));
    }
    if (images.length > 0) this.#messages.push({ role: "user", content: images });
    this.#messages.push(...this.#behindResults);
    this.#calls = [];
    this.#behindResults = [];
  }

  #callOf({ id, tool, input }: CallPart): object {
    const name = flatName(tool);
    const called = { name, arguments: this.#argumentsOf(name, input) };
    return { id: plainCallId(id), type: "function", function: called };
  }

  /** Upstreams parse arguments, and fail on a text that is no object: a client may send back what a model wrote wrongly. */
  #argumentsOf(name: string, input: string): string {
    if (this.#freeform.has(name)) return wrapInput(input);
    if (input.trim() === "") return "{}";
    return parseObject(input) === null ? wrapInput(input) : input;
  }
}

function resultText(result: ResultPart | null): string {
  if (result === null) return NO_RESULT;
  const text = joined(result.parts.filter((part) => part.kind !== "image").map((part) => requireText(standIn(part))));
  return text === "" && result.isError ? EMPTY_ERROR : text;
}

/** Messages of tools hold text only, so pictures follow in one of the user. */
function imagesOf({ callId, parts }: ResultPart): object[] {
  const images = parts.filter((part) => part.kind === "image");
  if (images.length === 0) return [];
  return [{ type: "text", text: `The pictures in the result of ${plainCallId(callId)}:` }, ...images.map(partOf)];
}

function contentOf(parts: readonly (TextPart | ImagePart | AudioPart)[]): string | object[] {
  const texts = parts.filter((part) => part.kind === "text");
  if (texts.length === parts.length) return joined(texts);
  return parts.filter((part) => part.kind !== "text" || part.text !== "").map(partOf);
}

function partOf(part: TextPart | ImagePart | AudioPart): object {
  if (part.kind === "text") return { type: "text", text: part.text };
  if (part.kind === "audio") return { type: "input_audio", input_audio: { data: part.data, format: part.format } };
  const { source, detail } = part;
  const url = source.kind === "url" ? source.url : `data:${source.mediaType};base64,${source.data}`;
  return { type: "image_url", image_url: { url, ...(detail === null ? {} : { detail }) } };
}

function joined(parts: readonly TextPart[]): string {
  return parts
    .map(({ text }) => text)
    .filter((text) => text !== "")
    .join(BETWEEN_TEXTS);
}

/**
 * Chat has no form of a document. No upstream that speaks chat gets a conversation with one (`../../answer/route-requests.ts`), and what is
 * held for it is not counted by its chat form.
 */
function standIn(part: Part): Part {
  return part.kind === "document" ? { kind: "text", text: "(a document)" } : part;
}

function requireText(part: Part): TextPart {
  if (part.kind === "text") return part;
  throw refuse("modality", `This model takes no ${part.kind} there`);
}

function requireUserPart(part: Part): TextPart | ImagePart | AudioPart {
  if (part.kind === "text" || part.kind === "image" || part.kind === "audio") return part;
  throw refuse("modality", `This model takes no ${part.kind} there`);
}

/** Where it is wrong has another name in each protocol. */
function refuse(rule: string, message: string): ValidationError {
  return new ValidationError([problem("", rule, message)]);
}
