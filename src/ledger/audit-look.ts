// How the audit reads: one short statement at a time, each with a snapshot of its own, and a pause behind each. A long
// snapshot would keep dead rows from being cleaned, and reading without a pause would take the processor from requests.

import { setTimeout as sleep } from "node:timers/promises";
import type { Pool } from "pg";
import { withTransaction } from "../database/transactions.ts";

/** Something that must never be. `subject` is the id it was found at. */
export type Violation = { readonly check: string; readonly subject: string; readonly detail: string };

/** Runs one statement of the audit and gives its rows. */
export type Look = <Row extends object>(text: string, values?: readonly unknown[]) => Promise<Row[]>;

/** How many violations of one check are told. */
export const MAX_VIOLATIONS_PER_CHECK = 100;
/** A statement with a very busy account takes its time; nobody's request waits for it. */
const ANSWER_WITHIN_MS = 600_000;
const LONGEST_PAUSE_MS = 5_000;

/**
 * Makes the reader. `share` is the part of the time that the database works for the audit: at 0.1 nine tenths are pauses;
 * at 1 there are none. Aborted, it throws before the next statement.
 */
export function createLook(pool: Pool, { share, signal }: { share: number; signal?: AbortSignal }): Look {
  return async <Row extends object>(text: string, values: readonly unknown[] = []) => {
    signal?.throwIfAborted();
    const startedAt = performance.now();
    const rows = await readOnce<Row>(pool, text, values);
    const pauseMs = Math.min(((performance.now() - startedAt) * (1 - share)) / share, LONGEST_PAUSE_MS);
    // Cut short by a stop: the next statement then says so.
    if (pauseMs >= 1) await sleep(pauseMs, undefined, signal === undefined ? {} : { signal }).catch(() => {});
    return rows;
  };
}

// Serving sessions run without nested loops, which suits lists of a group. The audit goes from a few rows to what their keys
// lead to; without nested loops it would read whole tables instead. With bitmap scans it would do so too, where one account
// has most of the records: by the index on the time of requests. SET LOCAL, because a pooler may hand the session on.
const BY_KEY = `
SET LOCAL enable_nestloop = on; SET LOCAL enable_bitmapscan = off; SET LOCAL enable_hashjoin = off; SET LOCAL enable_mergejoin = off`;

function readOnce<Row extends object>(pool: Pool, text: string, values: readonly unknown[]): Promise<Row[]> {
  return withTransaction({ pool }, async (client) => {
    await client.query(BY_KEY);
    const query = { text, values: [...values], query_timeout: ANSWER_WITHIN_MS };
    return (await client.query<Row>(query)).rows;
  });
}
