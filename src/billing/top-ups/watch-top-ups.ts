// Following top-ups. Another process may change one, so the rows are polled: one small statement now and then for
// all waiting calls of this process, and none while there are none.

import { setTimeout as sleep } from "node:timers/promises";
import type { Pool } from "pg";
import { LimitExceeded, NotFound, ServiceBusy } from "../../kernel/errors.ts";
import { isCredited } from "./states.ts";
import { selectTopUps } from "./store.ts";
import type { TopUp } from "./top-up.ts";

const LOOK_MS = 500;
/** A client that waits for longer calls again. */
const MOST_WATCH_MS = 30 * 60_000;
/** A browser has one for each tab in which a top-up is open. */
const MOST_WATCHERS_OF_ACCOUNT = 10;
/** Of all accounts. */
const MOST_WATCHERS = 1_000;
/** A database that is away for longer ends the watching with an error, and the client tries again. */
const MOST_FAILED_LOOKS = 10;

type Watcher = {
  readonly topUpId: string;
  readonly revision: number;
  readonly endsAt: number;
  readonly resolve: (next: TopUp | null) => void;
  readonly reject: (error: Error) => void;
};

export class TopUpWatch {
  readonly #pool: Pool;
  readonly #waiting = new Set<Watcher>();
  readonly #stopping = new AbortController();
  readonly #watchersOf = new Map<string, number>();
  #watchers = 0;
  #isLooking = false;

  constructor(pool: Pool) {
    this.#pool = pool;
  }

  /** How many are being followed. */
  get watchers(): number {
    return this.#watchers;
  }

  /**
   * Returns a top-up as it is and then as often as it changes, until it is credited, the client leaves, this process stops, or half an
   * hour has passed. An order that was not paid in time is followed on: money that comes late still credits. Errors: NotFound,
   * also for another account's; LimitExceeded when the account follows too many; ServiceBusy.
   */
  async *watch(
    { accountId, topUpId }: { accountId: string; topUpId: string },
    signal: AbortSignal,
  ): AsyncGenerator<TopUp, void> {
    if (this.#watchers >= MOST_WATCHERS) throw new ServiceBusy();
    const watchers = this.#watchersOf.get(accountId) ?? 0;
    if (watchers >= MOST_WATCHERS_OF_ACCOUNT)
      throw new LimitExceeded(`No more than ${MOST_WATCHERS_OF_ACCOUNT} top-ups can be watched at a time.`);
    this.#watchersOf.set(accountId, watchers + 1);
    this.#watchers += 1;
    try {
      let [seen] = await selectTopUps(this.#pool, [topUpId]);
      if (seen?.accountId !== accountId) throw new NotFound("There is no such top-up.");
      const endsAt = performance.now() + MOST_WATCH_MS;
      const ended = AbortSignal.any([signal, this.#stopping.signal]);
      yield seen;
      while (!isCredited(seen.state)) {
        const next: TopUp | null = await this.#nextOf(seen, endsAt, ended);
        if (next === null) return;
        yield (seen = next);
      }
    } finally {
      this.#watchers -= 1;
      const left = (this.#watchersOf.get(accountId) ?? 1) - 1;
      if (left === 0) this.#watchersOf.delete(accountId);
      else this.#watchersOf.set(accountId, left);
    }
  }

  /** Ends all watching, now and from now on: each still gets to see the state it asked for. */
  stop(): void {
    this.#stopping.abort();
  }

  /** The top-up once it is another than was seen; null: the watching ends. */
  async #nextOf({ topUpId, revision }: TopUp, endsAt: number, ended: AbortSignal): Promise<TopUp | null> {
    if (ended.aborted) return null;
    const { promise, resolve, reject } = Promise.withResolvers<TopUp | null>();
    const watcher = { topUpId, revision, endsAt, resolve, reject };
    const end = (): void => resolve(null);
    ended.addEventListener("abort", end, { once: true });
    this.#waiting.add(watcher);
    void this.#look();
    try {
      return await promise;
    } finally {
      this.#waiting.delete(watcher);
      ended.removeEventListener("abort", end);
    }
  }

  /** Polls for as long as a call waits. */
  async #look(): Promise<void> {
    if (this.#isLooking) return;
    this.#isLooking = true;
    let failures = 0;
    while (this.#waiting.size > 0) {
      await sleep(LOOK_MS, undefined, { ref: false });
      try {
        await this.#lookOnce();
        failures = 0;
      } catch (error) {
        failures += 1;
        if (failures < MOST_FAILED_LOOKS) continue;
        for (const { reject } of this.#waiting) reject(new ServiceBusy(undefined, { cause: error }));
        failures = 0;
      }
    }
    this.#isLooking = false;
  }

  async #lookOnce(): Promise<void> {
    const waiting = [...this.#waiting];
    const ids = [...new Set(waiting.map(({ topUpId }) => topUpId))];
    const rows = new Map((await selectTopUps(this.#pool, ids)).map((topUp) => [topUp.topUpId, topUp]));
    for (const { topUpId, revision, endsAt, resolve } of waiting) {
      const now = rows.get(topUpId);
      if (now !== undefined && now.revision > revision) resolve(now);
      else if (performance.now() > endsAt) resolve(null);
    }
  }
}
