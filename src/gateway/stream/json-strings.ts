// Finds the strings of a JSON text without parsing it.

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;

/** A string that is a value: the path to it, and its bytes between the quotes. */
type FoundString = { readonly path: string; readonly start: number; readonly end: number };

/** The strings of a sound JSON text that are values, each with the path to it: `choices.[].delta.content`. */
export function* stringsIn(json: Buffer): Generator<FoundString> {
  const path: string[] = [];
  let isKey = false;
  for (let at = 0; at < json.length; at += 1) {
    const byte = json[at];
    if (byte === QUOTE) {
      const end = closingQuote(json, at + 1);
      if (isKey) path[path.length - 1] = json.toString("utf8", at + 1, end);
      else yield { path: path.join("."), start: at + 1, end };
      at = end;
    } else if (byte === OPEN_BRACE || byte === OPEN_BRACKET) {
      path.push(byte === OPEN_BRACE ? "" : "[]");
      isKey = byte === OPEN_BRACE;
    } else if (byte === CLOSE_BRACE || byte === CLOSE_BRACKET) {
      path.pop();
      isKey = false;
    } else if (byte === COLON) isKey = false;
    else if (byte === COMMA) isKey = path.at(-1) !== "[]";
  }
}

function closingQuote(json: Buffer, from: number): number {
  let at = from;
  while (at < json.length && json[at] !== QUOTE) at += json[at] === BACKSLASH ? 2 : 1;
  return at;
}
