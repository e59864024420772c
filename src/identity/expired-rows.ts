// What sign-in and limits leave behind: sessions and links that are over, buckets that are full again, unused windows,
// people who never showed that an address is read, and old lines of the security log.

import type { Pool } from "pg";

/** How long what has no end of its own is kept. */
export type KeptFor = { readonly securityLogDays: number; readonly unverifiedDays: number };

const MOST_AT_ONCE = 1_000;
/** Batches of one kind in a round: more than any load makes in the minute between two rounds. */
const MOST_BATCHES = 100;
/** However long its lines are kept: an attack that goes on for months must not fill the disk. */
const MOST_SECURITY_EVENTS = 2_000_000;

// By primary key in the outer statement: a row that was prolonged meanwhile is looked at again, and stays.
const STATEMENTS = [
  ["auth.session", "id", "expires_at"],
  ["auth.verification", "id", "expires_at"],
  ["auth.throttle", "bucket", "booked_until"],
].map(
  ([table, key, over]) => `
DELETE FROM ${table} WHERE ${over} < clock_timestamp() AND ${key} IN (
  SELECT ${key} FROM ${table} WHERE ${over} < clock_timestamp() ORDER BY ${over} LIMIT ${MOST_AT_ONCE} FOR UPDATE SKIP LOCKED)`,
);

const IS_IDLE = `coalesce(slots[cardinality(slots)], '-infinity') < clock_timestamp() - interval '10 minutes'`;
const WINDOWS = `
DELETE FROM caller_window WHERE ${IS_IDLE} AND caller IN (
  SELECT caller FROM caller_window WHERE ${IS_IDLE} LIMIT ${MOST_AT_ONCE} FOR UPDATE SKIP LOCKED)`;

// Without an account, because that comes with the first call after the address was verified.
const IS_UNVERIFIED = `NOT email_verified AND account_id IS NULL AND NOT is_operator
  AND updated_at < clock_timestamp() - $1 * interval '1 day'`;
const UNVERIFIED = `
DELETE FROM auth.person WHERE ${IS_UNVERIFIED} AND id IN (
  SELECT id FROM auth.person WHERE ${IS_UNVERIFIED} ORDER BY updated_at LIMIT ${MOST_AT_ONCE} FOR UPDATE SKIP LOCKED)`;

// The serving role deletes no line itself: a function of the database does, and it keeps the lines of the last days in any case.
const FORGET_EVENTS = `SELECT auth.forget_security_events($1, ${10 * MOST_AT_ONCE})`;
/** What the function of the database keeps in any case. */
export const LEAST_SECURITY_LOG_DAYS = 7;
// The planner's own count is near enough, and costs nothing.
const EVENTS_TOO_MANY = `SELECT FROM pg_class WHERE oid = 'auth.security_event'::regclass AND reltuples > ${MOST_SECURITY_EVENTS}`;

/** Removes what is over, in batches: each is a short transaction. Full ones are followed by more, up to a bound. */
export async function removeExpired(pool: Pool, { securityLogDays, unverifiedDays }: KeptFor): Promise<void> {
  for (const statement of [...STATEMENTS, WINDOWS]) await inBatches(() => removed(pool, statement));
  await inBatches(() => removed(pool, UNVERIFIED, unverifiedDays));
  await pool.query(FORGET_EVENTS, [securityLogDays]);
  if ((await pool.query(EVENTS_TOO_MANY)).rowCount === 1) await pool.query(FORGET_EVENTS, [LEAST_SECURITY_LOG_DAYS]);
}

async function inBatches(removeBatch: () => Promise<number>): Promise<void> {
  for (let batch = 0; batch < MOST_BATCHES; batch += 1) if ((await removeBatch()) < MOST_AT_ONCE) return;
}

async function removed(pool: Pool, statement: string, ...values: number[]): Promise<number> {
  return (await pool.query(statement, values)).rowCount ?? 0;
}
