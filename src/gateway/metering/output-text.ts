// The text that a model wrote, in whichever member of a message or a delta an upstream puts it.

import { isObject, type JsonObject } from "../request/field-rules.ts";

/** Sound in base64 has about one token for so many characters, in each of the usual formats. */
export const SOUND_CHARACTERS_PER_TOKEN = 1_024;
/** The tokens of a picture: the figure of Gemini's and OpenAI's smaller sizes. */
export const TOKENS_OF_A_PICTURE = 1_290;
/** One token of every tokenizer, and as many bytes as the slab gate counts for a token. */
const ONE_TOKEN = " a";

/** The text of all choices in a chunk of a stream. */
export function textOfChunk(chunk: JsonObject): string {
  return choicesOf(chunk).map(textOfChoice).join("");
}

export function choicesOf({ choices }: JsonObject): JsonObject[] {
  return Array.isArray(choices) ? choices.filter(isObject) : [];
}

/** What a choice of a chunk adds to the answer. */
export function textOfChoice({ delta, message, text, finish_reason: finish }: JsonObject): string {
  const deltaText = isObject(delta) ? outputTextOf(delta) : "";
  if (deltaText !== "") return deltaText;
  // Some upstreams repeat the whole answer as the message of the choice that ends. A choice without a delta has it only there.
  const isRepeated = typeof finish === "string" && finish !== "" && isObject(delta);
  return textOfMessage({ message: isRepeated ? null : message, text });
}

/** The text of a choice of a whole answer. */
export function textOfMessage({ message, text }: JsonObject): string {
  return (isObject(message) ? outputTextOf(message) : "") || textOf(text);
}

/**
 * Everything the model wrote. Where it is in none of the known members, the other strings are taken for it. Beside known text
 * only long strings are taken that look like text and do not repeat it: short ones and codes describe the text.
 */
export function outputTextOf(message: JsonObject): string {
  const known = knownTextOf(message);
  if (known === "") return otherTextOf(message);
  let text = known;
  for (const [name, member] of Object.entries(message)) {
    if (KNOWN.has(name) || NOT_WRITTEN.test(name) || NO_TEXT.test(name)) continue;
    for (const other of stringsOf(member)) {
      if (other.length >= LEAST_UNKNOWN && LOOKS_LIKE_TEXT.test(other) && !text.includes(other)) text += other;
    }
  }
  return text;
}

/** The members that `knownTextOf` reads. */
const KNOWN: ReadonlySet<string> = new Set([
  "content",
  "refusal",
  "reasoning_content",
  "reasoning",
  "reasoning_details",
  "tool_calls",
  "function_call",
  "audio",
  "images",
]);
/** Members with what a model was given, what a proxy adds, or media. */
const NOT_WRITTEN =
  /search|citation|source|document|context|results?$|executed|provider|metadata|reference|image|video|file/;
const LEAST_UNKNOWN = 64;
const LOOKS_LIKE_TEXT = /[\s\u0080-\uffff]/;

/**
 * Text, reasoning, a refusal, calls of tools, and for sound and pictures a text of about as many tokens. What is written twice,
 * as reasoning and in its details, counts once.
 */
export function knownTextOf(message: JsonObject): string {
  let text = textOf(message["content"]) + textOf(message["refusal"]) + reasoningOf(message);
  const calls: readonly unknown[] = Array.isArray(message["tool_calls"]) ? message["tool_calls"] : [];
  for (const call of [...calls, { function: message["function_call"] }]) {
    if (!isObject(call)) continue;
    const { function: called, custom } = call;
    if (isObject(called)) text += textOf(called["name"]) + textOf(called["arguments"]);
    if (isObject(custom)) text += textOf(custom["name"]) + textOf(custom["input"]);
  }
  return text + mediaTextOf(message);
}

/** Members whose strings describe others, or are media, or bytes that do not show the length of a text. */
export const NO_TEXT = /^(?:role|id|type|format|index|status|data|b64_json|url|annotations)$|_id$|signature|encrypted/;

/** All strings in an object but those of such members. */
export function otherTextOf(message: JsonObject): string {
  return stringsOf(message).join("");
}

function stringsOf(value: unknown): string[] {
  const strings: string[] = [];
  const rest: unknown[] = [value];
  while (rest.length > 0) {
    const next = rest.pop();
    if (typeof next === "string") strings.push(next);
    else if (Array.isArray(next)) for (const item of next) rest.push(item);
    else if (isObject(next)) {
      for (const [name, member] of Object.entries(next)) if (!NO_TEXT.test(name)) rest.push(member);
    }
  }
  return strings;
}

/** Providers have three names for it, and some use two of them at once for the same text. */
function reasoningOf(message: JsonObject): string {
  const plain = textOf(message["reasoning_content"]) || textOf(message["reasoning"]);
  if (plain !== "" || !Array.isArray(message["reasoning_details"])) return plain;
  const details = message["reasoning_details"].filter(isObject);
  // Encrypted reasoning was written too, but its bytes do not show its length.
  return details.map((detail) => textOf(detail["text"]) + textOf(detail["summary"])).join("");
}

function mediaTextOf(message: JsonObject): string {
  const { audio } = message;
  const transcript = isObject(audio) ? textOf(audio["transcript"]) : "";
  return transcript + ONE_TOKEN.repeat(mediaTokensOf(message));
}

/** Tokens of the sound and the pictures in a message or a delta. */
function mediaTokensOf({ audio, images }: JsonObject): number {
  const data = isObject(audio) ? audio["data"] : "";
  const sound = typeof data === "string" ? Math.ceil(data.length / SOUND_CHARACTERS_PER_TOKEN) : 0;
  return sound + (Array.isArray(images) ? TOKENS_OF_A_PICTURE * images.length : 0);
}

/** Tokens of the sound and the pictures in a choice. */
export function mediaTokensOfChoice({ delta, message }: JsonObject): number {
  return [delta, message].filter(isObject).reduce((tokens, part) => tokens + mediaTokensOf(part), 0);
}

/** A string, or a list of parts that have text or thinking, which may be such a list again. */
export function textOf(value: unknown): string {
  if (typeof value === "string") return value;
  if (!Array.isArray(value)) return "";
  return value
    .filter(isObject)
    .map((part) => textOf(part["text"]) + textOf(part["thinking"]))
    .join("");
}
