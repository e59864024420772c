// Writes the turns of a conversation as contents. Google wants the results of all calls of a turn in the content behind it, as many as
// there are calls and in their order. They have no ids here: it matches them by name and order.

import type { JsonObject } from "../../request/field-rules.ts";
import { parseObject } from "../../request/parse-object.ts";
import {
  type AudioPart,
  type CallPart,
  type Conversation,
  type DocumentPart,
  flatName,
  type ImagePart,
  type Part,
  type ResultPart,
  type Turn,
} from "../conversation.ts";
import { NO_SIGNATURE } from "./opaque-signature.ts";
import { refuseForGemini } from "./refuse-for-gemini.ts";

type Content = { readonly role: "user" | "model"; readonly parts: JsonObject[] };

export type ContentFacts = { readonly origin: string; readonly thinks: boolean };

/** Comes before an answer that no turn of the user precedes. */
const BEGINNING = "(The conversation begins here.)";
const NO_RESULT = "no result";

/** The contents. Errors: ValidationError where a part has no form, a result has no call, or nothing is left. */
export function writeContents({ turns, tools }: Conversation, facts: ContentFacts): Content[] {
  const freeform = new Set(tools.filter(({ schema }) => schema === null).map(flatName));
  const writer = new ContentWriter({ ...facts, freeform });
  for (const turn of turns) writer.add(turn);
  return writer.end();
}

type OpenCall = { readonly id: string; readonly name: string; result: ResultPart | null };

class ContentWriter {
  readonly #facts: ContentFacts & { readonly freeform: ReadonlySet<string> };
  readonly #contents: Content[] = [];
  #calls: OpenCall[] = [];
  #ofModel: JsonObject[] = [];
  #ofUser: JsonObject[] = [];
  /** The signature of the thought that the next part follows. */
  #signature: string | null = null;

  constructor(facts: ContentFacts & { readonly freeform: ReadonlySet<string> }) {
    this.#facts = facts;
  }

  add({ role, parts }: Turn): void {
    if (role === "assistant") {
      this.#closeUser();
      for (const part of parts) this.#ofModel.push(...this.#modelParts(part));
      return;
    }
    // Instructions in mid-conversation have no role of their own.
    for (const part of parts) {
      if (part.kind === "result") this.#take(part);
      else this.#ofUser.push(...plainParts(part));
    }
  }

  end(): Content[] {
    this.#closeUser();
    this.#closeModel();
    this.#closeUser();
    if (this.#contents.length === 0) throw refuseForGemini("messages", "min_items", "must hold text");
    if (this.#contents[0]?.role === "model") this.#contents.unshift({ role: "user", parts: [{ text: BEGINNING }] });
    return this.#contents;
  }

  /** A signature of this upstream goes back, and those of others are left out. No thought does: the model needs none. */
  #modelParts(part: Part): JsonObject[] {
    if (part.kind === "reasoning") {
      if (part.opaque?.origin !== this.#facts.origin) return [];
      const before = this.#unsigned();
      this.#signature = part.opaque.blob;
      return before;
    }
    return part.kind === "call" ? [this.#call(part)] : [...this.#unsigned(), ...plainParts(part)];
  }

  /** A signature that no call follows is a part of its own. */
  #unsigned(): JsonObject[] {
    const signature = this.#signature;
    this.#signature = null;
    return signature === null ? [] : [{ text: "", thoughtSignature: signature }];
  }

  /** Models that think demand a signature on the first call of a turn. */
  #call({ id, tool, input, opaque }: CallPart): JsonObject {
    const name = flatName(tool);
    const isFirst = this.#calls.length === 0;
    this.#calls.push({ id, name, result: null });
    const called = { functionCall: { name, args: this.#argsOf(name, input) } };
    const ofThought = this.#signature;
    this.#signature = null;
    // Protocols without a place for it in a call have it in the thought before.
    const own = opaque?.origin === this.#facts.origin ? opaque.blob : ofThought;
    if (own !== null) return { ...called, thoughtSignature: own };
    return this.#facts.thinks && isFirst ? { ...called, thoughtSignature: NO_SIGNATURE } : called;
  }

  /** An input is an object here. A text that is none may be a freeform tool's, or what a model wrote wrongly. */
  #argsOf(name: string, input: string): JsonObject {
    if (this.#facts.freeform.has(name)) return { input };
    return input.trim() === "" ? {} : (parseObject(input) ?? { input });
  }

  #take(result: ResultPart): void {
    const call = this.#calls.find((each) => each.id === result.callId && each.result === null);
    if (call !== undefined) {
      call.result = result;
      return;
    }
    const id = JSON.stringify(result.callId.slice(0, 100));
    throw refuseForGemini(
      "messages",
      "result",
      `must not hold a result for ${id}, which is no open call of the turn before it`,
    );
  }

  /** Results are gathered until the model goes on. */
  #closeUser(): void {
    if (this.#ofUser.length === 0 && this.#calls.every(({ result }) => result === null)) return;
    this.#closeModel();
    this.#pushResults();
  }

  #closeModel(): void {
    const parts = [...this.#ofModel, ...this.#unsigned()];
    this.#ofModel = [];
    if (parts.length > 0) this.#push("model", parts);
    // Calls without any result behind them are answered too.
    if (this.#calls.length > 0 && this.#ofUser.length === 0) this.#pushResults();
  }

  #pushResults(): void {
    const results = this.#calls.map(({ name, result }) => ({
      functionResponse: { name, response: responseOf(result) },
    }));
    const media = this.#calls.flatMap(({ result }) => result?.parts ?? []).filter(({ kind }) => kind !== "text");
    const parts = [...results, ...media.flatMap(plainParts), ...this.#ofUser];
    this.#calls = [];
    this.#ofUser = [];
    if (parts.length > 0) this.#push("user", parts);
  }

  #push(role: Content["role"], parts: JsonObject[]): void {
    const last = this.#contents.at(-1);
    if (last?.role === role) last.parts.push(...parts);
    else this.#contents.push({ role, parts });
  }
}

/** What a tool returned: its text in the member in which Google's own clients have it. Pictures follow the results. */
function responseOf(result: ResultPart | null): JsonObject {
  if (result === null) return { output: NO_RESULT };
  const text = result.parts.flatMap((part) => (part.kind === "text" ? [part.text] : [])).join("\n\n");
  return result.isError ? { error: text === "" ? "error" : text } : { output: text };
}

/** Other files are read by none of Google's models, or as texts. */
const PDF = "application/pdf";

function documentOf({ mediaType, data, where }: DocumentPart): JsonObject {
  if (mediaType === PDF) return { inlineData: { mimeType: mediaType, data } };
  throw refuseForGemini(where, "modality", "must be no document: this model takes none of its type");
}

/** A text, a picture, a document or a sound. Errors: ValidationError. */
function plainParts(part: Part): JsonObject[] {
  switch (part.kind) {
    case "text":
      return part.text === "" ? [] : [{ text: part.text }];
    case "image":
      return [imageOf(part)];
    case "audio":
      return [soundOf(part)];
    case "document":
      return [documentOf(part)];
    case "call":
    case "result":
    case "reasoning":
      break;
  }
  throw refuseForGemini("messages", "modality", `must hold no ${part.kind} there: this model takes none`);
}

function imageOf({ source }: ImagePart): JsonObject {
  if (source.kind === "data") return { inlineData: { mimeType: source.mediaType, data: source.data } };
  throw refuseForGemini("messages", "modality", "must hold the data of pictures: this model reads no addresses");
}

function soundOf({ format, data }: AudioPart): JsonObject {
  return { inlineData: { mimeType: `audio/${format}`, data } };
}
