// Ids. A UUIDv7 begins with the time it was made, so that rows lie in the order they came and partitions are ranges of ids.

import { randomFillSync } from "node:crypto";

const POOL_BYTES = 4096;
const BYTES_PER_ID = 10;
const pool = Buffer.allocUnsafe(POOL_BYTES);
let poolOffset = POOL_BYTES;

/** Makes ids; passed in where a test must hold them still. */
export type NewId = () => string;

/** A new UUIDv7 of the given moment, in milliseconds of Unix time. */
export function uuidv7(nowMs: number = Date.now()): string {
  if (poolOffset + BYTES_PER_ID > POOL_BYTES) {
    randomFillSync(pool);
    poolOffset = 0;
  }
  const time = Math.floor(nowMs).toString(16).padStart(12, "0");
  const random = pool.toString("hex", poolOffset, poolOffset + BYTES_PER_ID);
  poolOffset += BYTES_PER_ID;
  const variant = ((Number.parseInt(random[3] ?? "0", 16) & 0x3) | 0x8).toString(16);
  return `${time.slice(0, 8)}-${time.slice(8)}-7${random.slice(0, 3)}-${variant}${random.slice(4, 7)}-${random.slice(7, 19)}`;
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
