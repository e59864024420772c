// Counts tokens where the upstream did not: a stream that was cut, an answer without usage. The tokenizer costs 130 ms to
// load, so it is loaded when first needed; a failure to load it leaves a coarser count by bytes.

import { setImmediate } from "node:timers/promises";
import { dataOf, splitEvents } from "./sse.ts";
import { parseObject } from "./chunk.ts";
import { countNonAscii } from "./request/count-bytes.ts";
import { isObject, type JsonObject } from "./request/field-rules.ts";
import type { ChatRequest } from "./request/read-request.ts";

type CountTokens = (text: string) => number;

/** Merging is quadratic in unbroken text, so text is counted in slices; a cut adds one token at most. */
const SLICE_CHARACTERS = 128;
/** Of longer text as many slices are counted, spread over it. */
const MAX_SLICES = 64;
/** Slices counted in one go, a millisecond or two of the worst text: others have their turn between. */
const SLICES_AT_ONCE = 8;
/** JSON larger than this is not read for an estimate but counted by its bytes. */
const MAX_READ_BYTES = 131_072;
const TOKENS_AROUND_A_MESSAGE = 4;

/** A count without reading: four ASCII bytes make a token, and two of other scripts. */
function tokensOfBytes({ asciiBytes, otherBytes }: { asciiBytes: number; otherBytes: number }): number {
  return Math.ceil(asciiBytes / 4 + otherBytes / 2);
}

function tokensOfText(text: Buffer): number {
  const otherBytes = countNonAscii(text);
  return tokensOfBytes({ asciiBytes: text.length - otherBytes, otherBytes });
}

let loading: Promise<CountTokens> | null = null;

/** Counts the tokens of a text with OpenAI's newest encoding, which is close to that of most models. */
export async function countTokens(text: string): Promise<number> {
  if (text === "") return 0;
  loading ??= loadTokenizer();
  const count = await loading;
  const slices = Math.min(Math.ceil(text.length / SLICE_CHARACTERS), MAX_SLICES);
  const step = Math.max(SLICE_CHARACTERS, text.length / slices);
  let counted = 0;
  let tokens = 0;
  for (let slice = 0; slice < slices; slice += 1) {
    if (slice > 0 && slice % SLICES_AT_ONCE === 0) await setImmediate();
    const at = Math.floor(slice * step);
    const piece = text.slice(at, at + SLICE_CHARACTERS);
    counted += piece.length;
    tokens += count(piece);
  }
  return Math.ceil((tokens * text.length) / counted);
}

async function loadTokenizer(): Promise<CountTokens> {
  try {
    const { countTokens: count } = await import("gpt-tokenizer/encoding/o200k_base");
    // Text that spells a control token is text.
    return (text) => count(text, { allowedSpecial: new Set<string>(), disallowedSpecial: new Set<string>() });
  } catch {
    return (text) => tokensOfText(Buffer.from(text));
  }
}

/** Tokens of the output in relayed events. `scale`: how much was relayed for each byte that was kept. */
export async function estimateOutput(events: Buffer, scale: number): Promise<number> {
  const texts = new Map<unknown, string>();
  for (const event of splitEvents(events)) {
    const chunk = parseObject(dataOf(event) ?? "");
    for (const choice of chunk === null ? [] : choicesOf(chunk)) {
      const said = deltaTextOf(choice);
      if (said !== "") texts.set(choice["index"], (texts.get(choice["index"]) ?? "") + said);
    }
  }
  let tokens = 0;
  for (const text of texts.values()) tokens += await countTokens(text);
  return Math.ceil(tokens * scale);
}

/** The text of the output in a chunk of a stream. */
export function textOfChunk(chunk: JsonObject): string {
  return choicesOf(chunk).map(deltaTextOf).join("");
}

/** Tokens of the output of a complete answer. */
export async function estimateAnswer(json: Buffer): Promise<number> {
  if (json.length > MAX_READ_BYTES) return tokensOfText(json);
  const answer = parseObject(json.toString("utf8")) ?? {};
  let tokens = 0;
  for (const choice of choicesOf(answer)) {
    if (isObject(choice["message"])) tokens += await countTokens(outputTextOf(choice["message"]));
  }
  return tokens;
}

/** Tokens of the input: the texts of the messages and the tools, without media. */
export async function estimateInput(request: ChatRequest): Promise<number> {
  const around = TOKENS_AROUND_A_MESSAGE * request.messageCount;
  const body = request.body.length > MAX_READ_BYTES ? null : parseObject(request.body.toString("utf8"));
  if (body === null) return tokensOfBytes(request) + around;
  const texts: string[] = [];
  const messages = Array.isArray(body["messages"]) ? body["messages"].filter(isObject) : [];
  for (const message of messages) {
    const { content } = message;
    if (typeof content === "string") texts.push(content);
    else if (Array.isArray(content)) texts.push(...content.filter(isObject).map((part) => textOf(part["text"])));
    texts.push(outputTextOf({ ...message, content: "" }));
  }
  if (body["tools"] !== undefined) texts.push(JSON.stringify(body["tools"]));
  return (await countTokens(texts.join("\n"))) + around;
}

function choicesOf({ choices }: JsonObject): JsonObject[] {
  return Array.isArray(choices) ? choices.filter(isObject) : [];
}

function deltaTextOf({ delta }: JsonObject): string {
  return isObject(delta) ? outputTextOf(delta) : "";
}

/** Everything the model wrote: text, reasoning, a refusal, and the calls of tools. */
function outputTextOf(message: JsonObject): string {
  let text = textOf(message["content"]) + textOf(message["reasoning_content"]) + textOf(message["refusal"]);
  if (message["reasoning_content"] === undefined) text += textOf(message["reasoning"]);
  const calls: readonly unknown[] = Array.isArray(message["tool_calls"]) ? message["tool_calls"] : [];
  for (const call of [...calls, { function: message["function_call"] }]) {
    const called = isObject(call) ? call["function"] : undefined;
    if (isObject(called)) text += textOf(called["name"]) + textOf(called["arguments"]);
  }
  return text;
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}
