// Numbers as upstreams write them. They are untrusted: a value that is no whole number of tokens is corrected, and noted.

import { isObject, type JsonObject } from "../request/field-rules.ts";

/** A usage record keeps counts as 32-bit integers. */
export const MAX_COUNT = 2_147_483_647;

/** Reads the counts of one usage object and remembers whether any of them was impossible. */
export class CountReader {
  /** Whether a number had to be changed to be a count. */
  foundImpossible = false;

  /** A count from 0 to MAX_COUNT. Fractions count as begun tokens. Null: there is no number. */
  read(value: unknown): number | null {
    if (value === undefined || value === null) return null;
    const stated = typeof value === "string" && /^\s*-?\d+(\.\d+)?\s*$/.test(value) ? Number(value) : value;
    if (typeof stated !== "number" || Number.isNaN(stated)) {
      this.foundImpossible = true;
      return null;
    }
    const tokens = Math.min(Math.max(Math.ceil(stated), 0), MAX_COUNT);
    if (tokens !== value) this.foundImpossible = true;
    return tokens === 0 ? 0 : tokens;
  }

  /** The first of the members that is above zero, 0 where one is zero, null where there is none. */
  first(object: JsonObject | null, ...names: readonly string[]): number | null {
    let found: number | null = null;
    for (const name of names) {
      const tokens = object === null ? null : this.read(object[name]);
      if (tokens !== null && tokens > 0) return tokens;
      found ??= tokens;
    }
    return found;
  }

  /** At most `most` of a part that cannot be larger than its whole. */
  part(tokens: number, most: number): number {
    if (tokens <= most) return tokens;
    this.foundImpossible = true;
    return most;
  }
}

/** The first of the members that is an object. */
export function objectIn(object: JsonObject | null, ...names: readonly string[]): JsonObject | null {
  for (const name of names) {
    const value = object?.[name];
    if (isObject(value)) return value;
  }
  return null;
}
