// One pass over the bytes of a JSON object that finds where its top-level members lie, so that a member can be replaced
// without writing the rest anew. Long strings are jumped over natively: a prompt of 400 KB costs microseconds. The scan
// does not validate; readRequest lets JSON.parse judge the structure, with the long strings left out.

/** Deeper nesting than this is refused before anything recursive sees it. */
export const MAX_JSON_DEPTH = 64;

/** Strings of at least this many bytes are left out of what JSON.parse sees. */
const LONG_STRING_BYTES = 1_024;
/** Searching for the closing quote natively pays only where it is further away than this. */
const STEPPED_BYTES = 48;

/** A range of bytes, its end excluded. */
export type Span = { readonly start: number; readonly end: number };

export type ObjectScan = {
  /** The values of the top-level members by key. Of a repeated key the last. */
  readonly members: ReadonlyMap<string, Span>;
  /** Top-level keys that came more than once. */
  readonly repeated: readonly string[];
  /** The contents of the long strings, without their quotes, in order. */
  readonly longStrings: readonly Span[];
};

/** Why bytes could not be scanned. */
export class JsonScanError extends Error {
  readonly reason: "not_an_object" | "too_deep" | "truncated";
  constructor(reason: "not_an_object" | "too_deep" | "truncated") {
    super(`the JSON text is ${reason}`);
    this.reason = reason;
  }
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;

/** Finds the top-level members of a JSON object. Errors: JsonScanError. */
export function scanObject(bytes: Buffer): ObjectScan {
  const members = new Map<string, Span>();
  const repeated: string[] = [];
  const longStrings: Span[] = [];
  let at = skipSpace(bytes, 0);
  if (bytes[at] !== OPEN_BRACE) throw new JsonScanError("not_an_object");
  let depth = 0;
  let key: string | null = null;
  let valueStart = -1;
  while (at < bytes.length) {
    const byte = bytes[at];
    if (byte === QUOTE) {
      const end = endOfString(bytes, at + 1);
      if (end - at > LONG_STRING_BYTES) longStrings.push({ start: at + 1, end });
      if (depth === 1 && valueStart < 0) key = readKey(bytes, at, end + 1);
      at = end + 1;
      continue;
    }
    if (byte === OPEN_BRACE || byte === OPEN_BRACKET) {
      depth += 1;
      if (depth > MAX_JSON_DEPTH) throw new JsonScanError("too_deep");
    } else if (byte === CLOSE_BRACE || byte === CLOSE_BRACKET) {
      depth -= 1;
      if (depth === 0) {
        closeMember(at);
        return { members, repeated, longStrings };
      }
    } else if (depth === 1) {
      if (byte === COLON && valueStart < 0) valueStart = skipSpace(bytes, at + 1);
      else if (byte === COMMA) closeMember(at);
    }
    at += 1;
  }
  throw new JsonScanError("truncated");

  function closeMember(end: number): void {
    if (key === null || valueStart < 0) return;
    if (members.has(key)) repeated.push(key);
    members.set(key, { start: valueStart, end: trimEnd(bytes, end) });
    key = null;
    valueStart = -1;
  }
}

/** The index of the quote that closes a string whose content starts at `from`. */
function endOfString(bytes: Buffer, from: number): number {
  let at = from;
  for (;;) {
    // Most strings, and the pieces of text between escaped quotes, end soon: stepping there is cheaper than searching.
    const limit = Math.min(bytes.length, at + STEPPED_BYTES);
    for (; at < limit; at += 1) {
      const byte = bytes[at];
      if (byte === QUOTE) return at;
      if (byte === BACKSLASH) at += 1;
    }
    const quote = bytes.indexOf(QUOTE, at);
    if (quote < 0) throw new JsonScanError("truncated");
    // The quote closes the string unless an odd number of backslashes stands before it.
    let before = quote - 1;
    while (before >= at && bytes[before] === BACKSLASH) before -= 1;
    if ((quote - before) % 2 === 1) return quote;
    at = quote + 1;
  }
}

function readKey(bytes: Buffer, start: number, end: number): string {
  const text = bytes.toString("utf8", start + 1, end - 1);
  if (!text.includes("\\")) return text;
  try {
    // An escaped key is the same key: `"mod\u0065l"` is `model`.
    return String(JSON.parse(bytes.toString("utf8", start, end)));
  } catch {
    return text; // JSON.parse of the whole refuses it later.
  }
}

function skipSpace(bytes: Buffer, from: number): number {
  let at = from;
  while (isSpace(bytes[at])) at += 1;
  return at;
}

function trimEnd(bytes: Buffer, end: number): number {
  let at = end;
  while (isSpace(bytes[at - 1])) at -= 1;
  return at;
}

function isSpace(byte: number | undefined): boolean {
  return byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;
}
