import { Slots } from "../kernel/slots.ts";

/** What a request needs from the lease under which it runs. */
export interface RequestTerm {
  /** Whether clients of requests that were admitted under this term may receive nothing more. */
  isOver(): boolean;
  /** Calls back when the term is over, at once if it is over already. Call the returned function when the request has ended. */
  whenOver(callback: () => void): () => void;
}

/** For requests whose holds no other process can resolve. */
export const ENDLESS_TERM: RequestTerm = { isOver: () => false, whenOver: () => () => {} };

/**
 * The time in which this process was certainly not declared dead. A term ends for good when the process finds that it was paused
 * for a whole lease, or that it was declared dead. Another process may then have charged its requests by their recorded progress,
 * so they are ended. An outage of the database does not end a term while the process retries its renewal: the first renewal that
 * succeeds shows whether another process has declared it dead.
 */
export class LeaseTerm implements RequestTerm {
  readonly #hasLapsed: () => boolean;
  readonly #callbacks = new Slots<() => void>();
  #isOver = false;

  /** `hasLapsed` is asked before each packet of each stream, because after a pause packets may come before any timer. */
  constructor(hasLapsed: () => boolean) {
    this.#hasLapsed = hasLapsed;
  }

  isOver(): boolean {
    if (!this.#isOver && this.#hasLapsed()) this.end();
    return this.#isOver;
  }

  whenOver(callback: () => void): () => void {
    if (this.isOver()) {
      callback();
      return () => {};
    }
    return this.#callbacks.add(callback);
  }

  /** Ends every request that runs under it. */
  end(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    for (const callback of this.#callbacks.values()) callback();
  }
}
