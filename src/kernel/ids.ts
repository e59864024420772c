// Ids. A UUIDv7 begins with the time it was made, so that rows lie in the order they came and partitions are ranges of ids.

import { randomFillSync } from "node:crypto";

const POOL_BYTES = 4096;
const DIGITS_PER_ID = 19;
/** The first digit of an id's fourth group: two fixed bits and two random ones. */
const VARIANT = "89ab";
const pool = Buffer.allocUnsafe(POOL_BYTES);
/** Random bytes in hexadecimal, two digits each, and how many digits are used up. */
let digits = "";
let usedDigits = 0;
/** The last millisecond and its digits: many ids are made in one. */
let lastMs = -1;
let lastTime = "";

/** Every id comes behind it: where going through a table in the order of ids begins. */
export const BEFORE_ALL_IDS = "00000000-0000-0000-0000-000000000000";

/** A new UUIDv7 of the given moment, in milliseconds of Unix time. */
export function uuidv7(nowMs: number = Date.now()): string {
  if (usedDigits + DIGITS_PER_ID > digits.length) {
    digits = randomFillSync(pool).toString("hex");
    usedDigits = 0;
  }
  const ms = Math.floor(nowMs);
  if (ms !== lastMs) {
    const time = ms.toString(16).padStart(12, "0");
    lastTime = `${time.slice(0, 8)}-${time.slice(8)}-7`;
    lastMs = ms;
  }
  const at = usedDigits;
  usedDigits += DIGITS_PER_ID;
  const variant = VARIANT[Number.parseInt(digits.charAt(at), 16) % VARIANT.length];
  return `${lastTime}${digits.slice(at + 1, at + 4)}-${variant}${digits.slice(at + 4, at + 7)}-${digits.slice(at + 7, at + 19)}`;
}

/** The smallest id of a moment: the border of a range of ids. */
export function uuidv7Floor(ms: number): string {
  const time = Math.floor(ms).toString(16).padStart(12, "0");
  return `${time.slice(0, 8)}-${time.slice(8)}-0000-0000-000000000000`;
}

/** The moment a UUIDv7 was made, in milliseconds of Unix time. */
export function timeOfUuidv7(id: string): number {
  return Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16);
}

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** Whether a text is a UUID of any version. */
export function isUuid(text: string): boolean {
  return UUID.test(text);
}
