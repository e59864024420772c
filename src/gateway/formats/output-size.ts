import { countNonAscii } from "../request/count-bytes.ts";
import type { OutputSize } from "../stream/output-limit.ts";

/** The size of an event without output. */
export const NO_OUTPUT: OutputSize = { asciiBytes: 0, otherBytes: 0, events: 0, hasMedia: false };

/** The size of an event with this text of the answer. `hasMedia`: it carries sound or pictures too. */
export function sizeOfText(text: string, hasMedia = false): OutputSize {
  const bytes = Buffer.from(text);
  const otherBytes = countNonAscii(bytes);
  return { asciiBytes: bytes.length - otherBytes, otherBytes, events: text === "" ? 0 : 1, hasMedia };
}
