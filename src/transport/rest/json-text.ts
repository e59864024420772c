// Reads a JSON body without loss: numbers keep their source text, nesting and the number of values are bounded before the parser
// runs, and a repeated key is an error where that matters.

import { ValidationError } from "../../kernel/errors.ts";
import { endOfJsonString } from "../../kernel/foreign-json.ts";
import { MAX_JSON_DEPTH, MAX_JSON_TOKENS, TOO_COMPLEX } from "../../kernel/json-bounds.ts";

/** A number as it was written, before any rounding to binary floating point. */
export class JsonNumber {
  readonly source: string;
  constructor(source: string) {
    this.source = source;
  }
}

/** A parsed body: the result of JSON.parse, with a JsonNumber for each number. */
export type JsonBody =
  | null
  | boolean
  | string
  | JsonNumber
  | readonly JsonBody[]
  | { readonly [key: string]: JsonBody };

const decoder = new TextDecoder("utf-8", { fatal: true });

/**
 * Parses a body. Errors: ValidationError for anything that is not JSON, too deep, of too many values, or with one key twice
 * where that is refused.
 */
export function parseJsonBody(bytes: Buffer, options: { refuseDuplicateKeys: boolean }): JsonBody {
  const text = decode(bytes);
  checkStructure(text, options.refuseDuplicateKeys);
  try {
    return JSON.parse(text, (_key, value: unknown, context?: { source?: string }) =>
      typeof value === "number" ? new JsonNumber(context?.source ?? String(value)) : value,
    ) as JsonBody;
  } catch (cause) {
    throw malformed(cause);
  }
}

/** Whether a parsed body is an object with keys. */
export function isJsonObject(value: JsonBody): value is { readonly [key: string]: JsonBody } {
  return typeof value === "object" && value !== null && !Array.isArray(value) && !(value instanceof JsonNumber);
}

function decode(bytes: Buffer): string {
  try {
    return decoder.decode(bytes);
  } catch (cause) {
    throw malformed(cause);
  }
}

function malformed(cause: unknown): ValidationError {
  return new ValidationError([{ field: "", rule: "json", message: "The body must be valid JSON" }], { cause });
}

const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;

/**
 * Reads every character once, without recursion and without going back, so that the cost of any text is its length. JSON.parse
 * checks the characters between strings and structural characters.
 */
function checkStructure(text: string, refuseDuplicateKeys: boolean): void {
  // One entry per open object or array: its keys so far, or null where they are not checked.
  const open: (Set<string> | null)[] = [];
  let tokens = 0;
  // The place of the string that is the last token; -1: the last token is no string.
  let stringStart = -1;
  let stringEnd = -1;
  for (let at = 0; at < text.length; at += 1) {
    const character = text.charCodeAt(at);
    if (character === QUOTE) {
      stringStart = at;
      at = endOfJsonString(text, at + 1);
      if (at === text.length) throw malformed(new SyntaxError("a string has no end"));
      stringEnd = at + 1;
      continue;
    }
    if (character === OPEN_BRACE || character === OPEN_BRACKET) {
      if (open.length === MAX_JSON_DEPTH) throw tooDeep();
      open.push(character === OPEN_BRACE && refuseDuplicateKeys ? new Set() : null);
    } else if (character === CLOSE_BRACE || character === CLOSE_BRACKET) {
      open.pop();
    } else if (character === COLON) {
      const keys = open.at(-1) ?? null;
      if (keys !== null && stringStart >= 0) noteKey(keys, text.slice(stringStart, stringEnd));
    } else if (character !== COMMA) {
      continue;
    }
    stringStart = -1;
    tokens += 1;
    if (tokens > MAX_JSON_TOKENS) throw new ValidationError([TOO_COMPLEX]);
  }
}

function tooDeep(): ValidationError {
  const message = `The body must not be nested deeper than ${MAX_JSON_DEPTH} levels`;
  return new ValidationError([{ field: "", rule: "json.depth", message }]);
}

function noteKey(keys: Set<string>, quoted: string): void {
  const key = unquote(quoted);
  if (key === null) return;
  if (keys.has(key)) {
    throw new ValidationError([{ field: key, rule: "json.duplicate_key", message: "must be only once in the body" }]);
  }
  keys.add(key);
}

/** The key without quotes and escapes: `"a"` and `"\u0061"` are the same key. Null: not a string; JSON.parse refuses it. */
function unquote(quoted: string): string | null {
  try {
    const key: unknown = JSON.parse(quoted);
    return typeof key === "string" ? key : null;
  } catch {
    return null;
  }
}
