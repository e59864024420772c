// Counts the elements of a JSON message over its bytes before it is parsed. Three bytes can become an object of a hundred, so
// the size of a message alone does not bound the cost of parsing it. `wire-elements.ts` does the same for protobuf.

import { ValidationError } from "../../kernel/errors.ts";

/** The most fields, list items and map entries of one message, nested ones included. */
export const MAX_ELEMENTS = 100_000;

/** The refusal of a message with more elements. */
export function tooManyElements(): ValidationError {
  const message = `must have at most ${MAX_ELEMENTS} fields and list items, nested ones included`;
  return new ValidationError([{ field: "", rule: "message.elements", message }]);
}

const QUOTE = 0x22;
const COMMA = 0x2c;
const OPEN_LIST = 0x5b;
const BACKSLASH = 0x5c;
const OPEN_OBJECT = 0x7b;

/** Throws unless a JSON text has at most MAX_ELEMENTS elements. It need not be valid. Errors: ValidationError. */
export function boundJsonElements(bytes: Uint8Array): void {
  let elements = 0;
  for (let i = 0; i < bytes.length; i += 1) {
    const byte = bytes[i];
    if (byte === QUOTE) {
      i = endOfString(bytes, i);
    } else if (byte === COMMA || byte === OPEN_OBJECT || byte === OPEN_LIST) {
      elements += 1;
      if (elements > MAX_ELEMENTS) throw tooManyElements();
    }
  }
}

/** A search by the engine costs more than a short text has bytes, and a tenth of the loop for a long one. */
const SHORT_TEXT_BYTES = 128;

/** The position of the quote that ends the string begun at `start`, or the end of the text. */
function endOfString(bytes: Uint8Array, start: number): number {
  const near = Math.min(bytes.length, start + SHORT_TEXT_BYTES);
  let at = start + 1;
  while (at < near) {
    const byte = bytes[at];
    if (byte === QUOTE) return at;
    at += byte === BACKSLASH ? 2 : 1;
  }
  return endOfLongString(bytes, at);
}

/** The same where the text from `from` on is known to be inside the string. */
function endOfLongString(bytes: Uint8Array, start: number): number {
  let from = start;
  for (;;) {
    const quote = bytes.indexOf(QUOTE, from);
    if (quote < 0) return bytes.length;
    // A quote after an odd number of backslashes is part of the text. `from` bounds the way back, so all ways together are one pass.
    let backslash = quote;
    while (backslash > from && bytes[backslash - 1] === BACKSLASH) backslash -= 1;
    if ((quote - backslash) % 2 === 0) return quote;
    from = quote + 1;
  }
}
