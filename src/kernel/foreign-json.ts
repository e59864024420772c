// JSON that upstreams send. Parsing costs by its structure and not by its length: 4 MiB of brackets hold up the process for half a
// second, 4 MiB of a picture hardly at all. So the structure is counted first.

/**
 * The most brackets, braces, commas and colons outside of strings: parsing them takes about a fifth of a second. The
 * probabilities of 4 000 tokens, each with twenty others, are as many.
 */
export const MAX_FOREIGN_TOKENS = 1_000_000;
/** Parses a text. Undefined: it is no JSON, or has too many tokens. */
export function parseForeignJson(text: string): unknown {
  if (text.length > MAX_FOREIGN_TOKENS && !hasFewTokens(text)) return undefined;
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined; // Not JSON: the caller decides what that means.
  }
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
/** The brackets, the braces, the comma and the colon. */
const STRUCTURE: ReadonlySet<number> = new Set([0x5b, 0x5d, 0x7b, 0x7d, 0x2c, 0x3a]);

/** Reads every character once. Whether the text is sound is for JSON.parse to judge. */
function hasFewTokens(text: string): boolean {
  let tokens = 0;
  for (let at = 0; at < text.length; at += 1) {
    const character = text.charCodeAt(at);
    if (character === QUOTE) at = endOfJsonString(text, at + 1);
    else if (STRUCTURE.has(character)) tokens += 1;
    if (tokens > MAX_FOREIGN_TOKENS) return false;
  }
  return true;
}

/** The index of the quote that closes a JSON string whose content starts at `from`; the text's length where none does. */
export function endOfJsonString(text: string, from: number): number {
  for (let at = text.indexOf('"', from); at >= 0; at = text.indexOf('"', at + 1)) {
    let backslashes = 0;
    while (at - backslashes > from && text.charCodeAt(at - backslashes - 1) === BACKSLASH) backslashes += 1;
    if (backslashes % 2 === 0) return at;
  }
  return text.length;
}
