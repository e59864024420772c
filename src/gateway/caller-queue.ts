// What waits for the caller of an RPC: the pieces of a stream, which it takes as fast as it can.

/** Pieces that may wait for a slow caller before the upstream is paused. */
const MAX_WAITING = 64;

export class CallerQueue<T> {
  readonly #signal: AbortSignal;
  #waiting: T[] = [];
  #isOver = false;
  #failure: unknown = null;
  #wake: (() => void) | null = null;
  #drained: (() => void) | null = null;
  #gone: (() => void) | null = null;

  constructor(signal: AbortSignal) {
    this.#signal = signal;
  }

  /** Ends the stream as the gateway's work on it ends. */
  follow(work: Promise<unknown>): void {
    void work.then(
      () => this.stop(null),
      (error: unknown) => this.stop(error),
    );
  }

  /** The caller takes no more pieces. */
  leave(): void {
    this.#gone?.();
  }

  /** The pieces of a stream. Errors: those of the gateway or of the stream. */
  async *taken(): AsyncGenerator<T> {
    for (;;) {
      const pieces = this.#waiting;
      this.#waiting = [];
      yield* pieces;
      if (this.#waiting.length > 0) continue;
      if (this.#failure !== null) throw this.#failure;
      if (this.#isOver) return;
      const drained = this.#drained;
      this.#drained = null;
      drained?.();
      await this.#more();
    }
  }

  /** Adds pieces. False: the caller is slow; wait for `onDrained`. */
  add(pieces: readonly T[]): boolean {
    for (const piece of pieces) this.#waiting.push(piece);
    this.#wake?.();
    return this.#waiting.length < MAX_WAITING;
  }

  /** Null: the stream is complete. */
  stop(failure: unknown): void {
    this.#isOver = true;
    this.#failure ??= failure;
    this.#wake?.();
  }

  onDrained(callback: () => void): void {
    this.#drained = callback;
  }

  onGone(callback: () => void): void {
    this.#gone = callback;
    if (this.#signal.aborted) callback();
    else this.#signal.addEventListener("abort", callback, { once: true });
  }

  async #more(): Promise<void> {
    if (this.#waiting.length > 0 || this.#isOver) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#wake = resolve;
    await promise;
    this.#wake = null;
  }
}
