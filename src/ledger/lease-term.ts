import { Slots } from "../kernel/slots.ts";

/** What requests ask of the lease under which they run. */
export interface RequestTerm {
  /** Whether nothing more may be sent to clients of requests that were admitted under it. */
  isOver(): boolean;
  /** Calls back once it is over, at once if it already is. Call what it returns when the request has ended. */
  whenOver(callback: () => void): () => void;
}

/** For requests whose holds nobody else can resolve. */
export const ENDLESS_TERM: RequestTerm = { isOver: () => false, whenOver: () => () => {} };

/**
 * The time in which this process surely was not declared dead. It ends for good when the process finds that it did not run for
 * as long as its lease, or that it was declared dead: another one may have charged its requests by what was recorded of
 * them, so they are ended. An outage of the database does not end it while the process tries to renew the lease: whether
 * another one has outlived that is known with the first renewal that comes through.
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
