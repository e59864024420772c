import { isAscii } from "node:buffer";

// Text is mostly ASCII with few other characters, so whole blocks are ruled out natively before bytes are looked at.
const BLOCK_BYTES = 1_024;

/** How many bytes belong to characters that are not ASCII. */
export function countNonAscii(bytes: Buffer): number {
  if (isAscii(bytes)) return 0;
  let count = 0;
  for (let start = 0; start < bytes.length; start += BLOCK_BYTES) {
    const block = bytes.subarray(start, start + BLOCK_BYTES);
    if (isAscii(block)) continue;
    for (let at = 0; at < block.length; at += 1) {
      if ((block[at] ?? 0) > 0x7f) count += 1;
    }
  }
  return count;
}
