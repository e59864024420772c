// How the audit and reports read beside a serving system: one short statement at a time, each with a snapshot of its own, and
// a pause behind each. A long snapshot would keep dead rows from being cleaned, and reading without a pause would take the
// processor from requests.

import { createHash } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { type ReadSource, readFrom } from "./lagging-reads.ts";
import { withTransaction } from "./transactions.ts";

/** Runs one statement and gives its rows. `table`: it passes once over a small table, which goes by no key. */
export type Look = <Row extends object>(text: string, values?: readonly unknown[], over?: "table") => Promise<Row[]>;

/** A statement with a very busy account takes long; no request waits for it. */
const ANSWER_WITHIN_MS = 600_000;
const LONGEST_PAUSE_MS = 5_000;
/** The limit of a read in one snapshot: its caller waits, and the snapshot keeps dead rows. */
const SNAPSHOT_WITHIN_MS = 20_000;

export type LookOptions = {
  /** The part of the time that the database works for it: at 0.1 nine tenths are pauses; at 1 there are none. */
  readonly share: number;
  /**
   * Whether statements go from a few rows to what their keys lead to, which the settings of a serving session do not suit.
   * Default true.
   */
  readonly byKey?: boolean;
  /** Aborted, the next statement is not run: AbortError. */
  readonly signal?: AbortSignal;
};

/** Makes the reader. */
export function createLook(source: ReadSource, { share, byKey = true, signal }: LookOptions): Look {
  return async <Row extends object>(text: string, values: readonly unknown[] = [], over?: "table") => {
    signal?.throwIfAborted();
    const settings = over === "table" ? OVER_TABLE : byKey ? BY_KEY : null;
    return restAfter(() => readOnce<Row>(source, text, { values, settings }), { share, ...(signal && { signal }) });
  };
}

/** Works, and then pauses for as long as the share of the time asks. */
export async function restAfter<Outcome>(
  work: () => Promise<Outcome>,
  { share, signal }: Pick<LookOptions, "share" | "signal">,
): Promise<Outcome> {
  const startedAt = performance.now();
  const outcome = await work();
  const pauseMs = Math.min(((performance.now() - startedAt) * (1 - share)) / share, LONGEST_PAUSE_MS);
  // Cut short by a stop, which the next piece of work reports.
  if (pauseMs >= 1) await sleep(pauseMs, undefined, signal === undefined ? {} : { signal }).catch(() => {});
  return outcome;
}

/** Runs all that the work reads in one snapshot, by keys. Errors: a database that answers too slowly counts as away. */
export function readOneSnapshot<Outcome>(source: ReadSource, work: (look: Look) => Promise<Outcome>): Promise<Outcome> {
  return readFrom(source, (pool) =>
    withTransaction({ pool }, async (client) => {
      await client.query(`SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY; ${BY_KEY}`);
      return work(async <Row extends object>(text: string, values: readonly unknown[] = []) => {
        const query = { name: nameOf(text), text, values: [...values], query_timeout: SNAPSHOT_WITHIN_MS };
        return (await client.query<Row>(query)).rows;
      });
    }),
  );
}

/**
 * Settings for statements that go by keys. Serving sessions run without nested loops, which suits lists of a group; what goes
 * from a few rows to what their keys lead to would read whole tables so. With bitmap scans it would too, where one account
 * has most of the records: by the index on the time of requests. SET LOCAL, because a pooler may hand the session on.
 */
export const BY_KEY = `
SET LOCAL enable_nestloop = on; SET LOCAL enable_bitmapscan = off; SET LOCAL enable_hashjoin = off; SET LOCAL enable_mergejoin = off`;

/** Settings for one pass over a table: serving sessions would go through it in the order of its key, a page for each row. */
const OVER_TABLE = "SET LOCAL enable_seqscan = on; SET LOCAL enable_indexscan = off; SET LOCAL enable_bitmapscan = off";

function readOnce<Row extends object>(
  source: ReadSource,
  text: string,
  { values, settings }: { values: readonly unknown[]; settings: string | null },
): Promise<Row[]> {
  return readFrom(source, (pool) =>
    withTransaction({ pool }, async (client) => {
      if (settings !== null) await client.query(settings);
      const name = settings === BY_KEY ? { name: nameOf(text) } : {};
      const query = { ...name, text, values: [...values], query_timeout: ANSWER_WITHIN_MS };
      return (await client.query<Row>(query)).rows;
    }),
  );
}

const names = new Map<string, string>();

/**
 * By a name a connection plans a statement once, which over all the partitions takes longer than reading a few rows. The plan
 * is good for ever: with the settings above there is no other way than by the keys.
 */
function nameOf(text: string): string {
  let name = names.get(text);
  if (name === undefined)
    names.set(text, (name = `look_${createHash("sha256").update(text).digest("hex").slice(0, 32)}`));
  return name;
}
