/** How many requests an upstream carries at once, and how many more may wait. */
export type UpstreamLimits = { readonly connections: number; readonly waiting: number };

/**
 * The requests that may have a connection now. Requests wait here and not in undici, which would keep the body of an aborted
 * one until a connection is free.
 */
export class Turns {
  readonly #limits: UpstreamLimits;
  readonly #waiting = new Map<object, () => void>();
  #taken = 0;

  constructor(limits: UpstreamLimits) {
    this.#limits = limits;
  }

  get areAllTaken(): boolean {
    return this.#taken >= this.#limits.connections && this.#waiting.size >= this.#limits.waiting;
  }

  /** Starts a call when its turn comes, at the soonest when the code that asked has returned. */
  ask(call: object, start: () => void): void {
    if (this.#taken >= this.#limits.connections) this.#waiting.set(call, start);
    else this.#start(start);
  }

  /** A call that waited does so no longer. */
  giveUp(call: object): void {
    this.#waiting.delete(call);
  }

  /** A call that had its turn is done with its connection. */
  pass(): void {
    this.#taken -= 1;
    const next = this.#waiting.entries().next();
    if (next.done === true) return;
    const [call, start] = next.value;
    this.#waiting.delete(call);
    this.#start(start);
  }

  #start(start: () => void): void {
    this.#taken += 1;
    queueMicrotask(start);
  }
}
