/** How many answers without a client are read to their end at once, and for how long each. */
export type DrainLimits = {
  readonly most: number;
  readonly withinMs: number;
  /** How many requests of one account may be left at a time before they are answered. Absent: `UNANSWERED_PER_ACCOUNT`. */
  readonly unansweredPerAccount?: number;
};

/**
 * How long an upstream may go on for a client that has left. Then the call is aborted: an upstream that has begun to answer is
 * billed for the input and what was relayed, one that has not costs the client nothing.
 */
export const DRAIN_WITHIN_MS = 30_000;

/**
 * More requests than this, left by one account before they were answered, are no accident: upstreams may charge for each of
 * them, so the input of those beyond it is billed.
 */
export const UNANSWERED_PER_ACCOUNT = 32;

/**
 * Answers whose client has left and that are read on, for their usage: it is what the upstream charges. Bounded, because
 * each keeps a connection and nobody waits for it.
 */
export class Drains {
  readonly #limits: DrainLimits;
  readonly #running = new Set<() => void>();
  /** By account, how many requests were left before they were answered, as far as their time is not over. */
  readonly #unanswered = new Map<string, number>();
  #isStopped = false;

  constructor(limits: DrainLimits) {
    this.#limits = limits;
  }

  /** How many run now. */
  get running(): number {
    return this.#running.size;
  }

  /** How many requests were left before they were answered, as far as their time is not over. */
  get unanswered(): number {
    return this.#unanswered.values().reduce((sum, count) => sum + count, 0);
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

  /**
   * Takes one of the places of an account for a request that was left before it was answered, and gives what gives it back.
   * By itself it comes back after the time of a drain, so that a call that is aborted at once counts as long as one that is
   * waited for. Null: all are taken.
   */
  takeUnanswered(accountId: string): (() => void) | null {
    const taken = this.#unanswered.get(accountId) ?? 0;
    if (taken >= (this.#limits.unansweredPerAccount ?? UNANSWERED_PER_ACCOUNT)) return null;
    const unanswered = this.#unanswered;
    unanswered.set(accountId, taken + 1);
    let timer: NodeJS.Timeout | null = setTimeout(giveBack, this.#limits.withinMs).unref();
    return giveBack;

    function giveBack(): void {
      if (timer === null) return;
      clearTimeout(timer);
      timer = null;
      const left = (unanswered.get(accountId) ?? 1) - 1;
      if (left === 0) unanswered.delete(accountId);
      else unanswered.set(accountId, left);
    }
  }

  /** Gives up those that run, and begins none any more: the process is about to end. */
  stop(): void {
    this.#isStopped = true;
    for (const stop of this.#running) stop();
  }
}
