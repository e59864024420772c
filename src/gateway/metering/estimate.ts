// Counts tokens where the upstream did not: a stream that was cut, an answer without usage. The tokenizer costs 130 ms to
// load, so it is loaded when first needed; a failure to load it leaves a coarser count by bytes.

import { setImmediate } from "node:timers/promises";
import { dataOf, splitEvents } from "../stream/sse.ts";
import { parseObject } from "../request/parse-object.ts";
import { countNonAscii } from "../request/count-bytes.ts";
import type { OutputReader } from "./output-reader.ts";
import { NO_TEXT, SOUND_CHARACTERS_PER_TOKEN, TOKENS_OF_A_PICTURE } from "./output-text.ts";
import { inputTextOf } from "../request/input-text.ts";
import { JsonScanError, scanObject, type Span } from "../request/json-scan.ts";
import type { ChatRequest } from "../request/read-request.ts";

export { textOfChunk } from "./output-text.ts";

type CountTokens = (text: string) => number;

/**
 * Merging is quadratic in unbroken text, so text is counted in slices; a cut adds one token at most. Of a text with more slices
 * so many are counted, spread over it.
 */
export type Slices = { readonly characters: number; readonly most: number };
const FEW_SLICES: Slices = { characters: 128, most: 64 };
/** Slices counted in one go, a millisecond or two of the worst text. Other work runs in between. */
const SLICES_AT_ONCE = 8;
/** JSON larger than this is not read for an estimate but counted by its bytes. */
const MAX_READ_BYTES = 131_072;
const TOKENS_AROUND_A_MESSAGE = 4;

/** A count without reading: four ASCII bytes make a token, and two of other scripts. */
function tokensOfBytes({ asciiBytes, otherBytes }: { asciiBytes: number; otherBytes: number }): number {
  return Math.ceil(asciiBytes / 4 + otherBytes / 2);
}

/** The same of a text. */
export function tokensOfText(text: Buffer): number {
  const otherBytes = countNonAscii(text);
  return tokensOfBytes({ asciiBytes: text.length - otherBytes, otherBytes });
}

let loading: Promise<CountTokens> | null = null;

/** Loads the tokenizer, a fifth of a second of work, before the first request that is counted needs it. */
export async function prepareTokenizer(): Promise<void> {
  loading ??= loadTokenizer();
  await loading;
}

/** Counts the tokens of a text with OpenAI's newest encoding, which is close to that of most models. */
export async function countTokens(text: string, { characters, most }: Slices = FEW_SLICES): Promise<number> {
  if (text === "") return 0;
  loading ??= loadTokenizer();
  const count = await loading;
  const slices = Math.min(Math.ceil(text.length / characters), most);
  const step = Math.max(characters, text.length / slices);
  let counted = 0;
  let tokens = 0;
  for (let slice = 0; slice < slices; slice += 1) {
    if (slice > 0 && slice % SLICES_AT_ONCE === 0) await setImmediate();
    // A client that could predict the samples could put spaces there.
    const at = Math.floor(slice * step + Math.random() * (step - characters));
    const piece = text.slice(at, at + characters);
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

/** Tokens of output, and how many of them are sound and pictures. */
export type OutputTokens = { readonly tokens: number; readonly media: number };

/** Relayed events, and how much was relayed for each byte of them that was kept. */
export type RelayedEvents = { readonly events: Buffer; readonly scale: number };

/** Tokens of the output in relayed events. */
export async function estimateOutput(relayed: RelayedEvents, reader: OutputReader): Promise<number> {
  return (await countOutput(relayed, reader)).tokens;
}

export async function countOutput({ events, scale }: RelayedEvents, reader: OutputReader): Promise<OutputTokens> {
  let media = 0;
  const texts = new Map<unknown, string>();
  for (const event of splitEvents(events)) {
    const part = parseObject(dataOf(event) ?? "");
    for (const { place, text, mediaTokens } of part === null ? [] : reader.piecesOfEvent(part)) {
      media += mediaTokens;
      if (text !== "") texts.set(place, (texts.get(place) ?? "") + text);
    }
  }
  let tokens = 0;
  for (const text of texts.values()) tokens += await countTokens(text);
  return { tokens: Math.ceil(tokens * scale), media: media * scale };
}

/** Tokens of the output of a complete answer. */
export async function estimateAnswer(json: Buffer, reader: OutputReader): Promise<number> {
  return (await countAnswer(json, reader)).tokens;
}

export async function countAnswer(json: Buffer, reader: OutputReader): Promise<OutputTokens> {
  if (json.length > MAX_READ_BYTES) return tokensOfLongAnswer(json);
  const answer = parseObject(json.toString("utf8")) ?? {};
  let [tokens, media] = [0, 0];
  for (const { text, mediaTokens } of reader.piecesOfAnswer(answer)) {
    tokens += await countTokens(text);
    media += mediaTokens;
  }
  return { tokens, media };
}

/** The name in the JSON before a long string. */
const NAME_BYTES = 64;
const NAME = /"(\w+)"\s*:\s*"$/;
const REASONING = ["reasoning_content", "reasoning"];
const DETAILS: ReadonlySet<string> = new Set(["text", "summary"]);
const TEXTS = new Set([
  "content",
  "refusal",
  "arguments",
  "input",
  "transcript",
  "text",
  "thinking",
  "summary",
  ...REASONING,
]);

/** A short string under one of these names. */
export const SHORT_TEXT = new RegExp(String.raw`"(${[...TEXTS].join("|")})"\s*:\s*"((?:[^"\\]|\\.)+)"`, "gs");
/** How much is searched for short texts in one go. */
const BYTES_AT_ONCE = 262_144;

/** Counts the strings that are text: around them may be log probabilities, pictures and signatures. */
async function tokensOfLongAnswer(json: Buffer): Promise<OutputTokens> {
  const long = longStringsOf(json);
  if (long === null) return { tokens: tokensOfText(json), media: 0 };
  let [media, others, hasReasoning] = [0, 0, false];
  const [written, details] = [new TextSample(), new TextSample()];
  const take = (name: string, text: Buffer): void => {
    if (REASONING.includes(name)) hasReasoning = true;
    (DETAILS.has(name) ? details : written).add(text);
  };
  let from = 0;
  for (const { start, end } of [...long, { start: json.length, end: json.length }]) {
    for (; from < start; from += BYTES_AT_ONCE) {
      const between = json.toString("latin1", from, Math.min(start, from + BYTES_AT_ONCE));
      for (const [, name = "", text = ""] of between.matchAll(SHORT_TEXT)) {
        take(name, Buffer.from(text, "latin1"));
      }
      if (between.length === BYTES_AT_ONCE) await setImmediate();
    }
    from = end;
    const name = nameOf(json, { start, end });
    if (TEXTS.has(name)) take(name, json.subarray(start, end));
    else if (name === "url" || name === "b64_json") media += TOKENS_OF_A_PICTURE;
    else if (name === "data") media += Math.ceil((end - start) / SOUND_CHARACTERS_PER_TOKEN);
    else if (!NO_TEXT.test(name)) others += tokensOfText(json.subarray(start, end));
  }
  // The details of the reasoning repeat its text.
  const tokens = (await written.tokens()) + (hasReasoning ? 0 : await details.tokens()) + media;
  return { tokens: tokens > 0 ? tokens : others, media };
}

/** How much text is kept for the tokenizer, which counts slices of it. The text after it is taken to be as dense. */
const SAMPLE_BYTES = 2 * 1_024 * 1_024;

/** The contents of JSON strings, whose tokens are counted together. */
class TextSample {
  readonly #parts: string[] = [];
  #bytes = 0;
  #keptBytes = 0;

  add(escaped: Buffer): void {
    this.#bytes += escaped.length;
    const kept = escaped.subarray(0, SAMPLE_BYTES - this.#keptBytes);
    if (kept.length === 0) return;
    this.#keptBytes += kept.length;
    this.#parts.push(contentOf(kept.toString("utf8")));
  }

  async tokens(): Promise<number> {
    if (this.#keptBytes === 0) return 0;
    return Math.ceil(((await countTokens(this.#parts.join(""))) * this.#bytes) / this.#keptBytes);
  }
}

/** What a JSON string spells; the string itself where it was cut inside of an escape. */
function contentOf(escaped: string): string {
  if (!escaped.includes("\\")) return escaped;
  try {
    return JSON.parse(`"${escaped}"`) as string;
  } catch {
    return escaped;
  }
}

function nameOf(json: Buffer, { start }: Span): string {
  return NAME.exec(json.toString("latin1", Math.max(0, start - NAME_BYTES), start))?.[1] ?? "";
}

function longStringsOf(json: Buffer): readonly Span[] | null {
  try {
    return scanObject(json).longStrings;
  } catch (error) {
    if (error instanceof JsonScanError) return null;
    throw error;
  }
}

/** Tokens of all that the model reads, without media. */
export async function estimateInput(request: ChatRequest): Promise<number> {
  const around = TOKENS_AROUND_A_MESSAGE * request.messageCount;
  const body = request.body.length > MAX_READ_BYTES ? null : parseObject(request.body.toString("utf8"));
  if (body === null) return tokensOfBytes(request) + around;
  return (await countTokens(inputTextOf(body))) + around;
}
