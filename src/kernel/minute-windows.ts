// Bounds of what asks no database: so much a minute for each name, in the memory of one process.

import { LRUCache } from "lru-cache";
import type { Clock } from "./clock.ts";

const WINDOW_MS = 60_000;
/** The names in memory; the one that was not used for the longest is forgotten. */
const MOST_NAMES = 10_000;

type Window = { readonly endsAtMs: number; taken: number };

/** A minute begins for each name with what it takes first. */
export class MinuteWindows {
  readonly #windows = new LRUCache<string, Window>({ max: MOST_NAMES });
  readonly #most: number;
  readonly #clock: Clock;

  /** `most`: what a name may take in a minute. The clock must never go back. */
  constructor(most: number, clock: Clock = { now: () => performance.now() }) {
    this.#most = most;
    this.#clock = clock;
  }

  /** Takes a part of a minute, and returns 0. Where less is left, nothing is left then: the seconds until the minute ends. */
  take(name: string, amount = 1): number {
    const now = this.#clock.now();
    let window = this.#windows.get(name);
    if (window === undefined || window.endsAtMs <= now) {
      window = { endsAtMs: now + WINDOW_MS, taken: 0 };
      this.#windows.set(name, window);
    }
    const isFull = window.taken + amount > this.#most;
    window.taken = isFull ? this.#most : window.taken + amount;
    return isFull ? secondsUntil(window, now) : 0;
  }

  /** The seconds until a name whose minute is used up may take again; 0: it may now. */
  waitOf(name: string): number {
    const now = this.#clock.now();
    const window = this.#windows.get(name);
    if (window === undefined || window.endsAtMs <= now || window.taken < this.#most) return 0;
    return secondsUntil(window, now);
  }
}

function secondsUntil({ endsAtMs }: Window, now: number): number {
  return Math.max(1, Math.ceil((endsAtMs - now) / 1_000));
}
