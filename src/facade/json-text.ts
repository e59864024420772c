// Reading a JSON body so that nothing is lost on the way: numbers keep their source text, nesting is bounded before
// anything recurses into it, and a key that stands twice is noticed where that matters.

import { ValidationError } from "../kernel/errors.ts";

const MAX_DEPTH = 64;

/** A number as it was written, before any rounding to binary floating point. */
export class JsonNumber {
  readonly source: string;
  constructor(source: string) {
    this.source = source;
  }
}

/** A parsed body: what JSON.parse gives, with a JsonNumber for each number. */
export type JsonBody =
  | null
  | boolean
  | string
  | JsonNumber
  | readonly JsonBody[]
  | { readonly [key: string]: JsonBody };

const decoder = new TextDecoder("utf-8", { fatal: true });

/** Parses a body. Errors: ValidationError for anything that is not JSON, too deep, or says one key twice where refused. */
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

// A string with its quotes, or one structural character. Text between them is for JSON.parse to judge.
const TOKEN = /"(?:[^"\\]|\\.)*"|[{}[\],:]/gs;

/** Walks over the tokens once, without recursion: 200 000 opening brackets cost a counter. */
function checkStructure(text: string, refuseDuplicateKeys: boolean): void {
  // One entry per open object or array: the keys seen so far, or null where they are not watched.
  const open: (Set<string> | null)[] = [];
  let last = "";
  for (const [token] of text.matchAll(TOKEN)) {
    if (token === "{" || token === "[") {
      if (open.length === MAX_DEPTH) {
        throw new ValidationError([
          { field: "", rule: "json.depth", message: `The body must not be nested deeper than ${MAX_DEPTH} levels` },
        ]);
      }
      open.push(token === "{" && refuseDuplicateKeys ? new Set() : null);
    } else if (token === "}" || token === "]") {
      open.pop();
    } else if (token === ":") {
      noteKey(open.at(-1) ?? null, last);
    }
    last = token;
  }
}

function noteKey(keys: Set<string> | null, quoted: string): void {
  if (keys === null) return;
  const key = unquote(quoted);
  if (key === null) return;
  if (keys.has(key)) {
    throw new ValidationError([
      { field: key, rule: "json.duplicate_key", message: "must stand only once in the body" },
    ]);
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
