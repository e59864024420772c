// The vectors in an upstream's answer, and the same vectors in the form that the client asked for: JSON numbers, or the base64
// text of 32-bit numbers with the lowest byte first.

import { setImmediate } from "node:timers/promises";
import type { FailedAttempt } from "../answer/call-upstream.ts";
import type { FoundAnswer } from "../formats/answer-format.ts";
import { failed, findList, NOT_AN_ANSWER } from "../formats/find-list.ts";
import { failureAnnounced } from "../upstreams/http/announced-errors.ts";
import { JsonScanError, type ObjectScan, scanObject, type Span } from "../request/json-scan.ts";
import { parseObject } from "../request/parse-object.ts";
import { CountReader } from "../metering/count.ts";
import type { JsonObject } from "../request/field-rules.ts";
import type { Encoding } from "./read-embeddings.ts";

/** Where the vector of an input lies in the answer. */
type FoundVector = Span & { readonly encoding: Encoding };

const QUOTE = 0x22;
const OPEN_BRACE = 0x7b;
const OPEN_BRACKET = 0x5b;
const COMMA = 0x2c;
const SPACE = 0x20;
const BYTES_PER_NUMBER = 4;
/** Numbers, commas and spaces: every JSON array of numbers, and nothing that a client could not parse as one. */
const NUMBERS = /^\s*-?\d[\d.eE+-]*(?:\s*,\s*-?\d[\d.eE+-]*)*\s*$/;
const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/;
/** Vectors that are converted in one go, a millisecond or two. Other work runs in between. */
const CONVERTED_AT_ONCE = 16;

/** Reads answers to a request with so many inputs, and keeps where the vectors of the last one lie. */
export class VectorReader {
  readonly #count: number;
  #json: Buffer = Buffer.alloc(0);
  #vectors: readonly FoundVector[] = [];

  constructor(count: number) {
    this.#count = count;
  }

  /** Finds one sound vector for each input, or returns why there is none. */
  read(bytes: Buffer): FoundAnswer | FailedAttempt {
    const found = findList(bytes, "data", failureAnnounced);
    if ("kind" in found) return found;
    const vectors = findVectors(found.json, found.list, this.#count);
    if (vectors === null)
      return failed({ ...NOT_AN_ANSWER, reason: "the upstream did not answer with one vector for each input" });
    this.#json = found.json;
    this.#vectors = vectors;
    const usage = inputUsage(parseObject(found.textOf("usage") ?? ""));
    return { json: found.json, members: found.members, output: found.list, usage };
  }

  /** The JSON of each vector, in the order of the inputs. */
  async write(asked: Encoding): Promise<Buffer[]> {
    const written: Buffer[] = [];
    for (const [index, vector] of this.#vectors.entries()) {
      const bytes = this.#json.subarray(vector.start, vector.end);
      if (vector.encoding === asked) {
        written.push(bytes);
        continue;
      }
      if (index % CONVERTED_AT_ONCE === CONVERTED_AT_ONCE - 1) await setImmediate();
      written.push(asked === "base64" ? toBase64(bytes) : toNumbers(bytes));
    }
    return written;
  }
}

/** Null: they are not one sound vector for each input. */
function findVectors(json: Buffer, list: Span, count: number): readonly FoundVector[] | null {
  const vectors: FoundVector[] = [];
  let found = 0;
  let at = list.start + 1;
  for (; at < list.end - 1; at += 1) {
    const byte = json[at] ?? 0;
    if (byte <= SPACE || byte === COMMA) continue;
    if (byte !== OPEN_BRACE) return null;
    const item = scanItem(json.subarray(at, list.end));
    if (item === null) return null;
    const index = indexOf(json.subarray(at, list.end), item) ?? found;
    const vector = vectorOf(json, item.members.get("embedding"), at);
    if (vector === null || index >= count || vectors[index] !== undefined) return null;
    vectors[index] = vector;
    found += 1;
    at += item.end - 1;
  }
  return found === count ? vectors : null;
}

function scanItem(bytes: Buffer): ObjectScan | null {
  try {
    return scanObject(bytes);
  } catch (error) {
    if (error instanceof JsonScanError) return null;
    throw error;
  }
}

/** Null: the vectors lie in the order of the inputs. */
function indexOf(bytes: Buffer, { members }: ObjectScan): number | null {
  const span = members.get("index");
  const text = span === undefined ? "" : bytes.toString("latin1", span.start, span.end);
  return /^\d{1,9}$/.test(text) ? Number(text) : null;
}

function vectorOf(json: Buffer, span: Span | undefined, offset: number): FoundVector | null {
  if (span === undefined) return null;
  const [start, end] = [span.start + offset, span.end + offset];
  const text = json.toString("latin1", start + 1, end - 1);
  if (json[start] === OPEN_BRACKET) return NUMBERS.test(text) ? { start, end, encoding: "float" } : null;
  if (json[start] !== QUOTE) return null;
  return isSoundBase64(text) ? { start, end, encoding: "base64" } : null;
}

/** Whether it is whole 32-bit numbers. Not a number and infinity have no form in JSON. */
function isSoundBase64(text: string): boolean {
  const plain = text.replaceAll(String.raw`\/`, "/");
  if (!BASE64.test(plain)) return false;
  const bytes = Buffer.from(plain, "base64");
  if (bytes.length === 0 || bytes.length % BYTES_PER_NUMBER !== 0) return false;
  for (let at = 0; at < bytes.length; at += BYTES_PER_NUMBER) {
    if (!Number.isFinite(bytes.readFloatLE(at))) return false;
  }
  return true;
}

function toBase64(json: Buffer): Buffer {
  const numbers = JSON.parse(json.toString("latin1")) as number[];
  return Buffer.from(`"${encodeVector(numbers)}"`);
}

function toNumbers(json: Buffer): Buffer {
  return Buffer.from(JSON.stringify(decodeVector(JSON.parse(json.toString("latin1")) as string)));
}

/** The base64 text of a vector. */
export function encodeVector(numbers: readonly number[]): string {
  const bytes = Buffer.alloc(numbers.length * BYTES_PER_NUMBER);
  for (const [index, number] of numbers.entries()) bytes.writeFloatLE(number, index * BYTES_PER_NUMBER);
  return bytes.toString("base64");
}

/** The numbers of a base64 text. */
export function decodeVector(text: string): number[] {
  const bytes = Buffer.from(text, "base64");
  return Array.from({ length: bytes.length / BYTES_PER_NUMBER }, (_, index) =>
    bytes.readFloatLE(index * BYTES_PER_NUMBER),
  );
}

/**
 * The reported usage as input alone. Some upstreams report only a total, and what a total has beside the input cannot be output.
 * Null: no tokens are reported.
 */
function inputUsage(usage: JsonObject | null): JsonObject | null {
  const reader = new CountReader();
  const tokens = reader.first(usage, "prompt_tokens", "input_tokens", "total_tokens");
  if (usage === null || tokens === null) return null;
  return { prompt_tokens: tokens, ...("cost" in usage ? { cost: usage["cost"] } : {}) };
}
