// Reads that may lag, such as lists and sums of usage: they go to a standby while one has what the primary had a short time ago, and to the
// primary otherwise. What decides about money or access never comes here (`test/architecture/lagging-reads.test.ts`).
//
// How old a standby's data is follows from the log and not from clocks: each second the primary's position is noted with its time, and a
// standby that has applied the log up to there has everything that was committed before that time.

import type { Pool } from "pg";
import { ValidationError } from "../kernel/errors.ts";
import { parseLsn } from "./backup/wal-position.ts";
import { HISTORY_COLUMNS, type History, isSameHistory } from "./history.ts";
import { isDatabaseAway, sqlState, sqlStates } from "./transactions.ts";

/** What was seen of the standby is believed for so long. */
const BELIEVED_MS = 5_000;
const LOOK_WITHIN_MS = 2_000;
// The time is read before the position: what was committed before it is below the position.
const MARK = {
  text: `SELECT clock_timestamp() AS at, pg_current_wal_flush_lsn()::text AS lsn, ${HISTORY_COLUMNS}`,
  query_timeout: LOOK_WITHIN_MS,
};
// With the numbers of the books: another database of the same server is not ours.
const POSITION = {
  text: `SELECT p.system, p.timeline, p.lsn::text AS lsn, h.books FROM standby_position() p, (SELECT ${HISTORY_COLUMNS}) h`,
  query_timeout: LOOK_WITHIN_MS,
};

/** Why the standby is not used: it does not answer, it is too far behind, its books are of another history, or a read failed there. */
export const FALLBACK_REASONS = ["away", "behind", "history", "conflict", "failed"] as const;
export type FallbackReason = (typeof FALLBACK_REASONS)[number];

/** Where a read takes its rows from: a pool, or a standby with the primary behind it. */
export type ReadSource = Pool | LaggingRead;

type Mark = { readonly at: Date; readonly atMs: number; readonly lsn: bigint };
type Asked = Pick<Pool, "query">;

export type LaggingReadsOptions = {
  readonly primary: Pool;
  /** Null: all reads go to the primary. */
  readonly standby: Pool | null;
  /** Data that is older is not shown. */
  readonly maxLagMs?: number;
  /** Called when the standby is no longer used, with the reason, and with null when it is used again. */
  readonly onChange?: (reason: FallbackReason | null) => void;
  readonly now?: () => number;
};

export const DEFAULT_MAX_LAG_MS = 60_000;

export class LaggingReads {
  readonly #primary: Pool;
  readonly #standby: Pool | null;
  readonly #maxLagMs: number;
  readonly #onChange: (reason: FallbackReason | null) => void;
  readonly #now: () => number;
  /** The primary's positions, the oldest first, all of one history. */
  #marks: Mark[] = [];
  #history: History | null = null;
  /** The newest of them that the standby has come to. */
  #reached: Mark | null = null;
  #seenAtMs = Number.NEGATIVE_INFINITY;
  #problem: FallbackReason = "away";
  #suspected: FallbackReason | null = null;
  #reported: FallbackReason | null = null;
  /** Reads by the server that answered. */
  readonly counts = { standby: 0, primary: 0 };
  /** Reads that went to the primary although there is a standby. */
  readonly fallbacks: Record<FallbackReason, number> = { away: 0, behind: 0, history: 0, conflict: 0, failed: 0 };

  constructor({
    primary,
    standby,
    maxLagMs = DEFAULT_MAX_LAG_MS,
    onChange = () => {},
    now = () => performance.now(),
  }: LaggingReadsOptions) {
    this.#primary = primary;
    this.#standby = standby;
    this.#maxLagMs = maxLagMs;
    this.#onChange = onChange;
    this.#now = now;
  }

  /** Whether a standby was named. */
  get hasStandby(): boolean {
    return this.#standby !== null;
  }

  /** How old the standby's data is. Null: unknown. */
  get lagSeconds(): number | null {
    return this.#reached === null ? null : (this.#now() - this.#reached.atMs) / 1_000;
  }

  /** Why the standby is not used now. Null: it is used. */
  get problem(): FallbackReason | null {
    if (this.#now() - this.#seenAtMs > BELIEVED_MS) return "away";
    if (this.#reached === null) return this.#problem;
    return this.#now() - this.#reached.atMs > this.#maxLagMs ? "behind" : null;
  }

  /** Begins a read of one or several statements. It stays with the primary once it had to go there. */
  beginRead(): LaggingRead {
    const { problem } = this;
    if (this.#standby === null || problem !== null || this.#reached === null) {
      if (this.#standby !== null) this.#noteFallback(problem ?? "away");
      return new LaggingRead({ primary: this.#primary, standby: null, counts: this.counts, onFailure: () => {} });
    }
    return new LaggingRead({
      primary: this.#primary,
      standby: { pool: this.#standby, asOf: this.#reached.at },
      counts: this.counts,
      onFailure: (error) => this.#noteFailure(error),
    });
  }

  /** Looks how far the standby is. It is called each second. Errors: those of the primary. */
  async look(): Promise<void> {
    if (this.#standby === null) return;
    try {
      await this.#lookAtStandby(this.#standby);
      await this.#mark();
    } finally {
      this.#report(this.problem);
    }
  }

  /** At a start, and for a moment, a standby is behind without any trouble: a problem that is seen twice is one. */
  #report(problem: FallbackReason | null): void {
    const isSure = problem === null || problem === this.#suspected;
    this.#suspected = problem;
    if (!isSure || problem === this.#reported) return;
    this.#reported = problem;
    this.#onChange(problem);
  }

  /** Looks until the standby is used, or so many times. For a program that reads once. */
  async lookOften(times: number, pause: () => Promise<unknown>): Promise<void> {
    for (let time = 0; this.hasStandby && time < times && this.problem !== null; time += 1) {
      if (time > 0) await pause();
      await this.look();
    }
  }

  async #mark(): Promise<void> {
    const atMs = this.#now();
    const { rows } = await this.#primary.query<
      Omit<History, "timeline"> & { timeline: number | null; at: Date; lsn: string }
    >(MARK);
    const [row] = rows;
    if (row === undefined || row.timeline === null) return; // none of the servers is the primary now
    const { system, timeline, books } = row;
    const history = { system, timeline, books };
    if (this.#history === null || !isSameHistory(this.#history, history)) this.#marks = [];
    this.#history = history;
    const oldest = atMs - this.#maxLagMs;
    this.#marks = [...this.#marks.filter((mark) => mark.atMs >= oldest), { at: row.at, atMs, lsn: parseLsn(row.lsn) }];
  }

  async #lookAtStandby(standby: Asked): Promise<void> {
    try {
      const { rows } = await standby.query<Omit<History, "timeline"> & { timeline: number | null; lsn: string | null }>(
        POSITION,
      );
      const { system = "", timeline = null, books = null, lsn = null } = rows[0] ?? {};
      this.#seenAtMs = this.#now();
      this.#reached = null;
      const isSame =
        this.#history !== null &&
        lsn !== null &&
        timeline !== null &&
        isSameHistory({ system, timeline, books }, this.#history);
      if (!isSame) {
        this.#problem = this.#history === null ? "behind" : "history";
        return;
      }
      this.#reached = this.#marks.findLast((mark) => mark.lsn <= parseLsn(lsn)) ?? null;
      this.#problem = "behind";
    } catch {
      // What is wrong with it is the operator's matter: the reads go to the primary, and the change is reported.
      this.#reached = null;
      this.#problem = "away";
    }
  }

  #noteFallback(reason: FallbackReason): void {
    this.fallbacks[reason] += 1;
  }

  #noteFailure(error: unknown): void {
    const isAway = isDatabaseAway(error);
    // Until the next look no other read waits for it.
    if (isAway) [this.#reached, this.#problem] = [null, "away"];
    this.#noteFallback(isAway ? "away" : sqlState(error) === sqlStates.serializationFailure ? "conflict" : "failed");
  }
}

type ReadParts = {
  readonly primary: Pool;
  readonly standby: { readonly pool: Pool; readonly asOf: Date } | null;
  readonly counts: { standby: number; primary: number };
  readonly onFailure: (error: unknown) => void;
};

/** One read, in as many statements as it takes. */
export class LaggingRead {
  readonly #parts: ReadParts;
  #standby: ReadParts["standby"];
  #wasOnStandby = false;

  constructor(parts: ReadParts) {
    this.#parts = parts;
    this.#standby = parts.standby;
  }

  /** Everything that was committed before this moment is in what was read. Null: it is as new as the answer. */
  get asOf(): Date | null {
    return this.#wasOnStandby ? (this.#parts.standby?.asOf ?? null) : null;
  }

  /** Runs the work on the standby, or on the primary where that fails. Errors: those of the work on the primary; a wrong question. */
  async run<T>(work: (pool: Pool) => Promise<T>): Promise<T> {
    const { primary, counts, onFailure } = this.#parts;
    if (this.#standby !== null) {
      try {
        const value = await work(this.#standby.pool);
        counts.standby += 1;
        this.#wasOnStandby = true;
        return value;
      } catch (error) {
        if (error instanceof ValidationError || sqlState(error) === sqlStates.invalidParameter) throw error;
        // Most often a row that the read needs was removed on the primary, and the standby had to follow.
        this.#standby = null;
        onFailure(error);
      }
    }
    counts.primary += 1;
    return work(primary);
  }
}

/** Runs the work on what a source reads from. */
export function readFrom<T>(source: ReadSource, work: (pool: Pool) => Promise<T>): Promise<T> {
  return source instanceof LaggingRead ? source.run(work) : work(source);
}
