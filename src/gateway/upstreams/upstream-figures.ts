// How calls to each upstream went, for the operator: counted in memory by every process, and added to one row for each upstream
// and minute now and then. A request costs a few additions; no charge depends on these figures.

import type { Pool } from "pg";

/** Upper bounds of the classes of times until an answer begins, in milliseconds; longer ones are counted in the last. */
export const FIRST_BYTE_BOUNDS_MS = [
  100, 200, 300, 500, 800, 1_200, 2_000, 3_000, 5_000, 8_000, 15_000, 30_000, 60_000, 120_000, 900_000,
];
/** How long figures are kept. */
const KEPT = "1 day";
/** The longest message of an upstream that is kept. */
const MAX_FAILURE_LENGTH = 200;

type Counts = { answered: number; failed: number; firstByte: number[]; lastFailure: string | null };

// The classes are few, so they are searched one by one.
const classOf = (ms: number): number => {
  const at = FIRST_BYTE_BOUNDS_MS.findIndex((bound) => ms <= bound);
  return at === -1 ? FIRST_BYTE_BOUNDS_MS.length - 1 : at;
};

const ADD = `
INSERT INTO upstream_minute AS m (upstream, minute, answered, failed, first_byte, last_failed_at, last_failure)
VALUES ($1, date_trunc('minute', clock_timestamp()), $2::bigint, $3::bigint, $4::bigint[],
        CASE WHEN $5::text IS NOT NULL THEN clock_timestamp() END, $5::text)
ON CONFLICT (upstream, minute) DO UPDATE SET
  answered = m.answered + excluded.answered, failed = m.failed + excluded.failed,
  first_byte = ARRAY(SELECT coalesce(a, 0) + coalesce(b, 0) FROM unnest(m.first_byte, excluded.first_byte) AS classes (a, b)),
  last_failed_at = coalesce(excluded.last_failed_at, m.last_failed_at),
  last_failure = coalesce(excluded.last_failure, m.last_failure)`;
const FORGET = `DELETE FROM upstream_minute WHERE minute < clock_timestamp() - interval '${KEPT}'`;

/** The counts of one process that the database does not have yet. */
export class UpstreamCounts {
  #counts = new Map<string, Counts>();

  /** An answer that was billed, and when it began. */
  answered(upstream: string, firstByteMs: number | null): void {
    const counts = this.#of(upstream);
    counts.answered += 1;
    if (firstByteMs === null) return;
    const at = classOf(firstByteMs);
    counts.firstByte[at] = (counts.firstByte[at] ?? 0) + 1;
  }

  /** An attempt that failed, or a stream that broke. */
  failed(upstream: string, reason: string): void {
    const counts = this.#of(upstream);
    counts.failed += 1;
    counts.lastFailure = reason.slice(0, MAX_FAILURE_LENGTH);
  }

  /** Adds the counts to the database. Counts that cannot be written are added in the next round. */
  async flush(pool: Pick<Pool, "query">): Promise<void> {
    const counted = this.#counts;
    this.#counts = new Map();
    for (const [upstream, counts] of counted) {
      try {
        const { answered, failed, firstByte, lastFailure } = counts;
        await pool.query(ADD, [upstream, answered, failed, firstByte, lastFailure]);
        counted.delete(upstream);
      } catch (error) {
        for (const [left, unwritten] of counted) this.#putBack(left, unwritten);
        throw error;
      }
    }
  }

  #of(upstream: string): Counts {
    let counts = this.#counts.get(upstream);
    if (counts === undefined) {
      counts = { answered: 0, failed: 0, firstByte: FIRST_BYTE_BOUNDS_MS.map(() => 0), lastFailure: null };
      this.#counts.set(upstream, counts);
    }
    return counts;
  }

  #putBack(upstream: string, unwritten: Counts): void {
    const counts = this.#of(upstream);
    counts.answered += unwritten.answered;
    counts.failed += unwritten.failed;
    counts.firstByte = counts.firstByte.map((count, at) => count + (unwritten.firstByte[at] ?? 0));
    counts.lastFailure ??= unwritten.lastFailure;
  }
}

/** Deletes figures that are too old to be shown. */
export async function forgetFigures(pool: Pick<Pool, "query">): Promise<void> {
  await pool.query(FORGET);
}

/** The figures of the calls to an upstream in the last minutes. */
export type UpstreamFigures = {
  readonly minutes: number;
  readonly answered: number;
  readonly failed: number;
  /** The bounds within which half, and nineteen of twenty, of the answers began. Null: there were none. */
  readonly firstByteP50Ms: number | null;
  readonly firstByteP95Ms: number | null;
};

/** An upstream's figures of the last minutes and hour, and what is known of the last day. */
export type UpstreamRecord = {
  readonly recent: UpstreamFigures;
  readonly hour: UpstreamFigures;
  readonly lastAnsweredAt: Date | null;
  readonly lastFailedAt: Date | null;
  readonly lastFailure: string | null;
};

const RECENT_MINUTES = 5;
const HOUR_MINUTES = 60;

const READ = `
SELECT upstream, answered::float8, failed::float8, first_byte::float8[] AS "firstByte", minute, last_failed_at AS "lastFailedAt",
       last_failure AS "lastFailure", extract(epoch FROM clock_timestamp() - minute)::float8 / 60 AS age
FROM upstream_minute WHERE minute > clock_timestamp() - interval '${KEPT}' ORDER BY minute DESC`;

type Row = {
  upstream: string;
  answered: number;
  failed: number;
  firstByte: number[];
  minute: Date;
  lastFailedAt: Date | null;
  lastFailure: string | null;
  /** Minutes since the minute began. */
  age: number;
};

/** Reads the figures of every upstream that was called within a day. */
export async function readUpstreamRecords(pool: Pick<Pool, "query">): Promise<Map<string, UpstreamRecord>> {
  const { rows } = await pool.query<Row>(READ);
  const byUpstream = Map.groupBy(rows, ({ upstream }) => upstream);
  return new Map([...byUpstream].map(([upstream, own]) => [upstream, toRecord(own)]));
}

const READ_CALLS = `
SELECT upstream, minute, answered::float8, failed::float8 FROM upstream_minute WHERE minute > clock_timestamp() - interval '${KEPT}'`;

/** The calls of one upstream in one minute. */
export type UpstreamCalls = Pick<Row, "upstream" | "minute" | "answered" | "failed">;

/** Reads how many calls of each minute within a day were answered and failed. */
export async function readUpstreamCalls(pool: Pick<Pool, "query">): Promise<readonly UpstreamCalls[]> {
  return (await pool.query<UpstreamCalls>(READ_CALLS)).rows;
}

/** The figures of an upstream that was not called. */
export const NO_RECORD: UpstreamRecord = toRecord([]);

/** `rows` of one upstream, newest first. */
function toRecord(rows: readonly Row[]): UpstreamRecord {
  const lastFailed = rows.find(({ lastFailedAt }) => lastFailedAt !== null);
  return {
    recent: figuresOf(rows, RECENT_MINUTES),
    hour: figuresOf(rows, HOUR_MINUTES),
    lastAnsweredAt: rows.find(({ answered }) => answered > 0)?.minute ?? null,
    lastFailedAt: lastFailed?.lastFailedAt ?? null,
    lastFailure: lastFailed?.lastFailure ?? null,
  };
}

function figuresOf(rows: readonly Row[], minutes: number): UpstreamFigures {
  const own = rows.filter(({ age }) => age <= minutes);
  const total = (countOf: (row: Row) => number): number => own.reduce((sum, row) => sum + countOf(row), 0);
  const classes = FIRST_BYTE_BOUNDS_MS.map((_bound, at) => total(({ firstByte }) => firstByte[at] ?? 0));
  return {
    minutes,
    answered: total(({ answered }) => answered),
    failed: total(({ failed }) => failed),
    firstByteP50Ms: boundOf(classes, 0.5),
    firstByteP95Ms: boundOf(classes, 0.95),
  };
}

/** The bound of the class in which this part of all is reached. */
function boundOf(classes: readonly number[], part: number): number | null {
  const wanted = classes.reduce((sum, count) => sum + count, 0) * part;
  let seen = 0;
  for (const [at, count] of classes.entries()) {
    seen += count;
    if (seen > 0 && seen >= wanted) return FIRST_BYTE_BOUNDS_MS[at] ?? null;
  }
  return null;
}
