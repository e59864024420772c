/** How many answers without a client are read to their end at once, and for how long each. */
export type DrainLimits = { readonly most: number; readonly withinMs: number };

/** So long an upstream may go on for a client that has left, before what was relayed is all that is billed. */
export const DRAIN_WITHIN_MS = 30_000;

/**
 * Answers whose client has left and that are read on, for their usage: it is what the upstream charges. Bounded, because
 * each keeps a connection and nobody waits for it.
 */
export class Drains {
  readonly #limits: DrainLimits;
  readonly #running = new Set<() => void>();
  #isStopped = false;

  constructor(limits: DrainLimits) {
    this.#limits = limits;
  }

  /** How many run now. */
  get running(): number {
    return this.#running.size;
  }

  /** Begins one and gives what ends it; null where no more may run. `giveUp` is called when it takes too long. */
  begin(giveUp: () => void): (() => void) | null {
    if (this.#isStopped || this.#running.size >= this.#limits.most) return null;
    const timer = setTimeout(stop, this.#limits.withinMs);
    const running = this.#running;
    running.add(stop);
    return end;

    function end(): void {
      clearTimeout(timer);
      running.delete(stop);
    }
    function stop(): void {
      end();
      giveUp();
    }
  }

  /** Gives up those that run, and begins none any more: the process is about to end. */
  stop(): void {
    this.#isStopped = true;
    for (const stop of this.#running) stop();
  }
}
