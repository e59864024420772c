/** How many answers without a client are read to their end at once, and for how long each. */
export type DrainLimits = {
  readonly most: number;
  readonly withinMs: number;
  /** How many requests of one account may be left at a time before they are answered. Absent: `UNANSWERED_PER_ACCOUNT`. */
  readonly unansweredPerAccount?: number;
};

/**
 * How long an upstream may go on after its client has left. Then the call is aborted. Where the answer has begun, the input and
 * the relayed output are billed; where it has not, the request is free.
 */
export const DRAIN_WITHIN_MS = 30_000;

/**
 * More unanswered requests than this, left by one account, are no accident. Upstreams may charge for each, so the input of
 * those above the limit is billed.
 */
export const UNANSWERED_PER_ACCOUNT = 32;

/**
 * Answers that are read to their end after their client has left, because their usage is what the upstream charges. Their
 * number is bounded: each keeps a connection, and no client waits for it.
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

  /** How many may run at once. */
  get most(): number {
    return this.#limits.most;
  }

  /** How many requests were left before they were answered, as far as their time is not over. */
  get unanswered(): number {
    return this.#unanswered.values().reduce((sum, count) => sum + count, 0);
  }

  /** Begins a drain and returns the function that ends it; null where no more may run. `giveUp` is called after its time. */
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
   * Takes one of an account's places for a request that was left before it was answered, and returns the function that frees it.
   * The place frees itself after the time of a drain, so that an aborted call counts as long as one that is read on. Null: all
   * places are taken.
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

  /** Ends the running drains and begins no more: the process is about to end. */
  stop(): void {
    this.#isStopped = true;
    for (const stop of this.#running) stop();
  }
}
