// The latest state, computed when it is asked for and at most once in fifteen seconds by a process: callers are strangers, in any
// number. With the database away there is an answer too, from what the process knows.

import { setTimeout as pause } from "node:timers/promises";
import type { Clock } from "../kernel/clock.ts";
import { type Component, overallState, type State, type Status } from "./status.ts";
import { type MinuteOfCalls, upstreamComponent } from "./upstream-states.ts";

/** An answer is given out for so long. */
export const FRESH_SECONDS = 15;
/** One without records for less long: they may be back. */
const FRESH_UNREAD_SECONDS = 3;
/** A read that takes longer counts as failed. */
const READ_WITHIN_MS = 5_000;
/** A payout that is older than this takes long. */
const LONG_PAYOUT_SECONDS = 1_800;

/** What a provider of payments answered about orders of the last day: how many were asked about, and of how many it gave no answer. */
export type ProviderAnswers = { readonly asked: number; readonly failing: number };

/** A wallet that pays transfers. */
export type PayingWallet = {
  /** Since when nothing is signed with it. Null: it pays. */
  readonly stoppedAt: Date | null;
  /** The age of its oldest payout that has not ended; 0: there is none. */
  readonly oldestPayoutSeconds: number;
};

/** The records of the topics. */
export type StatusSources = {
  /** Since when operators have stopped requests. Null: they have not. */
  readonly stoppedSince: () => Promise<Date | null>;
  /** Whether this process may answer requests: a standby that is required is there. */
  readonly mayServe: () => boolean;
  /** The calls of the last day of every upstream in use, by public name. */
  readonly upstreams: () => Promise<ReadonlyMap<string, readonly MinuteOfCalls[]>>;
  /** Null: nothing is sold. */
  readonly topUps: (() => Promise<ProviderAnswers>) | null;
  readonly wallets: () => Promise<readonly PayingWallet[]>;
};

export type StatusBoardOptions = {
  readonly sources: StatusSources;
  readonly clock: Clock;
  /** Ages are counted on a clock that never goes back. */
  readonly monotonicClock?: Clock;
  /** Left out: five seconds. */
  readonly readWithinMs?: number;
  /** Called when records could not be read. */
  readonly onUnread: (error: unknown) => void;
};

/** The board of one process. */
export class StatusBoard {
  readonly #options: Required<StatusBoardOptions>;
  #latest: { readonly status: Promise<Status>; until: number } | null = null;
  /** A read that is running; no second one is begun beside it. */
  #reading: Promise<readonly Component[]> | null = null;
  /** The upstreams of the last complete answer. */
  #names: readonly string[] = [];
  /** Since when records cannot be read, as far as this process was asked. */
  #unreadSince: Date | null = null;

  constructor(options: StatusBoardOptions) {
    this.#options = { monotonicClock: { now: () => performance.now() }, readWithinMs: READ_WITHIN_MS, ...options };
  }

  /** The state of the service. */
  current(): Promise<Status> {
    const { monotonicClock } = this.#options;
    if (this.#latest !== null && monotonicClock.now() < this.#latest.until) return this.#latest.status;
    // Until there is an answer everyone waits for the same one; its age counts from its arrival.
    const latest = { status: this.#compute(), until: Number.POSITIVE_INFINITY };
    this.#latest = latest;
    void this.#dateOnArrival(latest);
    return latest.status;
  }

  async #dateOnArrival(latest: { readonly status: Promise<Status>; until: number }): Promise<void> {
    const { isComplete } = await latest.status;
    const seconds = isComplete ? FRESH_SECONDS : FRESH_UNREAD_SECONDS;
    latest.until = this.#options.monotonicClock.now() + seconds * 1_000;
  }

  async #compute(): Promise<Status> {
    const { clock, onUnread } = this.#options;
    let components: readonly Component[];
    try {
      components = await this.#readInTime();
      this.#unreadSince = null;
      this.#names = components.filter(({ kind }) => kind === "upstream").map(({ name }) => name);
    } catch (error) {
      onUnread(error);
      this.#unreadSince ??= new Date(clock.now());
      components = this.#unread(this.#unreadSince);
    }
    return {
      state: overallState(components),
      asOf: new Date(clock.now()),
      isComplete: this.#unreadSince === null,
      components,
    };
  }

  async #readInTime(): Promise<readonly Component[]> {
    this.#reading ??= this.#read().finally(() => (this.#reading = null));
    const done = new AbortController();
    const late = pause(this.#options.readWithinMs, null, { signal: done.signal }).then(() => {
      throw new Error("The records of the status were not read in time.");
    });
    try {
      return await Promise.race([this.#reading, late]);
    } finally {
      done.abort();
      late.catch(() => {
        // The read was in time.
      });
    }
  }

  async #read(): Promise<readonly Component[]> {
    const { sources, clock } = this.#options;
    const [stoppedSince, upstreams, answers, wallets] = await Promise.all([
      sources.stoppedSince(),
      sources.upstreams(),
      sources.topUps?.() ?? null,
      sources.wallets(),
    ]);
    const nowMs = clock.now();
    return [
      part("gateway", stoppedSince === null && sources.mayServe() ? "operational" : "down", stoppedSince),
      ...[...upstreams].map(([name, minutes]) => upstreamComponent(name, minutes, nowMs)),
      ...(answers === null ? [] : [part("top_ups", stateOfProvider(answers), null)]),
      ...(wallets.length === 0 ? [] : [transfersOf(wallets, nowMs)]),
    ];
  }

  /** What is known without records: nothing that is paid for works, and upstreams are others' servers. */
  #unread(since: Date): readonly Component[] {
    const { topUps } = this.#options.sources;
    return [
      part("gateway", "down", since),
      ...this.#names.map((name): Component => ({ ...part("upstream", "unknown", null), name })),
      ...(topUps === null ? [] : [part("top_ups", "down", since)]),
      part("transfers", "down", since),
    ];
  }
}

function part(kind: Component["kind"], state: State, since: Date | null): Component {
  return { kind, name: "", state, since, incidents: [] };
}

/** One order without an answer may be at fault itself. */
function stateOfProvider({ asked, failing }: ProviderAnswers): State {
  if (failing === 0) return "operational";
  return failing > 1 && failing === asked ? "down" : "degraded";
}

function transfersOf(wallets: readonly PayingWallet[], nowMs: number): Component {
  const stops = wallets.flatMap(({ stoppedAt }) => (stoppedAt === null ? [] : [stoppedAt.getTime()]));
  const oldest = Math.max(...wallets.map(({ oldestPayoutSeconds }) => oldestPayoutSeconds));
  if (stops.length === wallets.length) return part("transfers", "down", new Date(Math.max(...stops)));
  if (stops.length > 0) return part("transfers", "degraded", new Date(Math.min(...stops)));
  if (oldest <= LONG_PAYOUT_SECONDS) return part("transfers", "operational", null);
  return part("transfers", "degraded", new Date(nowMs - (oldest - LONG_PAYOUT_SECONDS) * 1_000));
}
