// The usage that one answer has reported so far. Upstreams send it once at the end, or in every chunk, or the prompt's part in
// the first chunk and the rest in the last.

import { isObject, type JsonObject } from "../request/field-rules.ts";
import type { UsageReader } from "./usage-reader.ts";

/** What an answer reported of its usage. */
export type ReportedUsage = {
  /** The usage object; null where there was none. */
  readonly usage: JsonObject | null;
  /** Whether more of the answer followed it: then its output count is partial, while its prompt side is final. */
  readonly isStale: boolean;
  /** Reads the object in its protocol. */
  readonly reader: UsageReader;
};

/** Nothing is nested deeper in any usage object that is known. */
const MAX_NESTING = 3;
/** Members that are derived from others: an older one does not belong to newer counts. */
const DERIVED = new Set(["total_tokens", "totalTokenCount"]);

/**
 * Keeps the last value of each field. A field that a later object lacks stays; counts are never added up and a smaller one
 * replaces a larger one, because upstreams report running totals and correct them.
 */
export class UsageSeen implements ReportedUsage {
  #usage: JsonObject | null = null;
  #isStale = false;
  readonly reader: UsageReader;

  constructor(reader: UsageReader) {
    this.reader = reader;
  }

  /** For an answer in one piece. */
  static of(usage: unknown, reader: UsageReader): UsageSeen {
    const seen = new UsageSeen(reader);
    if (isObject(usage)) seen.add(usage);
    return seen;
  }

  get usage(): JsonObject | null {
    return this.#usage;
  }

  get isStale(): boolean {
    return this.#isStale;
  }

  /** Whether usage was reported, and no output after it. */
  get isFinal(): boolean {
    return this.#usage !== null && !this.#isStale;
  }

  /** Takes the usage object of an event. If that event also has text of the answer, its usage covers the text. */
  add(usage: JsonObject): void {
    this.#usage = this.#usage === null ? usage : merge(this.#usage, usage, MAX_NESTING);
    this.#isStale = false;
  }

  /** More of the answer arrived without usage. */
  outputFollowed(): void {
    this.#isStale = this.#usage !== null;
  }
}

function merge(earlier: JsonObject, later: JsonObject, nesting: number): JsonObject {
  const merged: Record<string, unknown> = { ...later };
  for (const name of Object.keys(earlier)) {
    const before = earlier[name];
    const now = Object.hasOwn(later, name) ? later[name] : undefined;
    if (now === undefined || now === null) {
      if (!DERIVED.has(name)) define(merged, name, before);
    } else if (nesting > 1 && isObject(before) && isObject(now)) {
      define(merged, name, merge(before, now, nesting - 1));
    }
  }
  return merged;
}

/** An upstream may call a member `__proto__`: assigning to it would change the object's prototype. */
function define(object: Record<string, unknown>, name: string, value: unknown): void {
  Object.defineProperty(object, name, { value, enumerable: true, configurable: true, writable: true });
}
