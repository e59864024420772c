// SQL of deliveries. Every change of a receiver's deliveries, except creating them, is made behind the lock of the receiver's
// row of settings; so limits and order per receiver are exact over all nodes.

import type { Pool, PoolClient } from "pg";
import { uuidv7 } from "../kernel/ids.ts";
import type { CallbackTables } from "./callback-tables.ts";
import { END_TEXTS, STOP_AFTER } from "./delivery-reasons.ts";

type Queryable = Pick<Pool | PoolClient, "query">;

/** How long an attempt has a delivery for itself: far longer than it may take. */
const LEASE = "60 seconds";
/** One of its deliveries must have been tried for so long by then: a receiver that is called once a month does not stop at its first failure. */
const STOP_TRIED_FOR = "1 day";

/** The statements for the tables of one kind of receivers. */
function statementsOf({ settings, delivery, attempt, receiver, subject }: CallbackTables) {
  return {
    // Steps from receiver to receiver by the index: one that is away may leave many deliveries behind.
    waiting: `
WITH RECURSIVE waiting AS (
  (SELECT ${receiver} AS receiver_id, next_attempt_at FROM ${delivery} WHERE state = 'pending'
   ORDER BY ${receiver}, next_attempt_at LIMIT 1)
  UNION ALL
  SELECT next.* FROM waiting w CROSS JOIN LATERAL (
    SELECT d.${receiver}, d.next_attempt_at FROM ${delivery} d
    WHERE d.state = 'pending' AND d.${receiver} > w.receiver_id ORDER BY d.${receiver}, d.next_attempt_at LIMIT 1) next
)
SELECT w.receiver_id, s.failing_since IS NOT NULL AS is_failing
FROM waiting w JOIN ${settings} s ON s.${receiver} = w.receiver_id
WHERE w.next_attempt_at <= statement_timestamp() ORDER BY is_failing, w.next_attempt_at LIMIT $1`,
    // A subject has at most one attempt at a time: of the oldest event that is due.
    claim: `
WITH due AS (
  SELECT d.event_id FROM ${delivery} d
  WHERE d.${receiver} = $1::uuid AND d.state = 'pending' AND d.next_attempt_at <= statement_timestamp()
    AND NOT EXISTS (
      SELECT FROM ${delivery} o
      WHERE o.${subject} = d.${subject} AND o.state = 'pending' AND o.event_id <> d.event_id
        AND (o.is_leased AND o.next_attempt_at > statement_timestamp()
          OR (o.event_at, o.event_id) < (d.event_at, d.event_id)
            AND (NOT o.is_passable OR o.next_attempt_at <= statement_timestamp())))
  ORDER BY d.next_attempt_at
  LIMIT greatest(0, least($3::int, $2::int - (
    SELECT count(*)::int FROM ${delivery} r
    WHERE r.${receiver} = $1::uuid AND r.is_leased AND r.next_attempt_at > statement_timestamp())))
)
UPDATE ${delivery} d
SET attempts = attempts + 1, is_leased = true, next_attempt_at = statement_timestamp() + interval '${LEASE}'
FROM due WHERE d.event_id = due.event_id AND d.state = 'pending' AND d.next_attempt_at <= statement_timestamp()
RETURNING d.event_id, d.${subject} AS subject_id, d.${receiver} AS receiver_id, d.attempts`,
    insertAttempt: `
INSERT INTO ${attempt} (id, event_id, url, started_at, duration_ms, http_status, problem)
VALUES ($1::uuid, $2::uuid, $3, $4::timestamptz, $5, $6, $7)`,
    markDelivered: `
UPDATE ${delivery} SET state = 'delivered', is_leased = false, next_attempt_at = NULL, note = NULL
WHERE event_id = $1::uuid AND state = 'pending'`,
    dropOlder: `
UPDATE ${delivery} d SET state = 'failed', is_leased = false, next_attempt_at = NULL, note = $2
FROM ${delivery} me
WHERE me.event_id = $1::uuid AND d.${subject} = me.${subject} AND d.state = 'pending'
  AND (d.event_at, d.event_id) < (me.event_at, me.event_id)`,
    // Those that have only waited for this one, not those that a receiver did not take.
    hurryNewer: `
UPDATE ${delivery} d SET next_attempt_at = statement_timestamp()
FROM ${delivery} me
WHERE me.event_id = $1::uuid AND d.${subject} = me.${subject} AND d.state = 'pending' AND NOT d.is_leased
  AND d.attempts = 0 AND d.next_attempt_at > statement_timestamp()
  AND (d.event_at, d.event_id) > (me.event_at, me.event_id)`,
    // The result of an attempt whose lease ran out does not count: another process has the delivery.
    markTried: `
UPDATE ${delivery} SET is_leased = false, is_passable = $4,
  state = CASE WHEN statement_timestamp() + $3 * interval '1 ms' > give_up_at THEN 'failed' ELSE 'pending' END,
  note = CASE WHEN statement_timestamp() + $3 * interval '1 ms' > give_up_at THEN $5 END,
  next_attempt_at = CASE WHEN statement_timestamp() + $3 * interval '1 ms' > give_up_at THEN NULL
    ELSE statement_timestamp() + $3 * interval '1 ms' END
WHERE event_id = $1::uuid AND attempts = $2 AND is_leased RETURNING state`,
    delayNewer: `
UPDATE ${delivery} d SET next_attempt_at = me.next_attempt_at
FROM ${delivery} me
WHERE me.event_id = $1::uuid AND d.${subject} = me.${subject} AND d.state = 'pending' AND NOT d.is_leased
  AND d.next_attempt_at < me.next_attempt_at AND (d.event_at, d.event_id) > (me.event_at, me.event_id)`,
    noteSuccess: `
UPDATE ${settings} SET failing_since = NULL WHERE ${receiver} = $1::uuid AND failing_since IS NOT NULL`,
    noteFailure: `
UPDATE ${settings} SET failing_since = statement_timestamp() WHERE ${receiver} = $1::uuid AND failing_since IS NULL`,
    // Nothing waits any more, so nothing shows that it still fails: quiet weeks are no failure.
    noteSilence: `
UPDATE ${settings} s SET failing_since = NULL
WHERE s.${receiver} = $1::uuid AND NOT EXISTS (SELECT FROM ${delivery} d WHERE d.${receiver} = s.${receiver} AND d.state = 'pending')`,
    stop: `
UPDATE ${settings} s SET stopped_at = statement_timestamp()
WHERE s.${receiver} = $1::uuid AND stopped_at IS NULL AND failing_since < statement_timestamp() - interval '${STOP_AFTER}'
  AND EXISTS (SELECT FROM ${delivery} d WHERE d.${receiver} = s.${receiver} AND d.state = 'pending'
    AND d.event_at < statement_timestamp() - interval '${STOP_TRIED_FOR}')`,
    failPending: `
UPDATE ${delivery} SET state = 'failed', is_leased = false, next_attempt_at = NULL, note = $2
WHERE ${receiver} = $1::uuid AND state = 'pending'`,
  } as const;
}

/** A delivery that one attempt has for itself. */
export type ClaimedDelivery = {
  readonly eventId: string;
  readonly subjectId: string;
  readonly receiverId: string;
  /** Which attempt this is, from 1. */
  readonly attempt: number;
};

/** A receiver that has something due. `isFailing`: its last attempt was not taken. */
export type WaitingReceiver = { readonly receiverId: string; readonly isFailing: boolean };

/** The result of an attempt. */
export type AttemptFacts = {
  readonly url: string;
  readonly startedAt: Date;
  readonly durationMs: number;
  /** Null: there was no answer. */
  readonly httpStatus: number | null;
  /** Null: the receiver has taken it. */
  readonly problem: string | null;
};

/** The deliveries of one kind of receivers. */
export class DeliveryStore {
  readonly #sql: ReturnType<typeof statementsOf>;

  constructor(tables: CallbackTables) {
    this.#sql = statementsOf(tables);
  }

  /** Receivers that have something due: those that accept callbacks first, then those that wait longest. */
  async readWaiting(client: Queryable, limit: number): Promise<WaitingReceiver[]> {
    const { rows } = await client.query<{ receiver_id: string; is_failing: boolean }>(this.#sql.waiting, [limit]);
    return rows.map((row) => ({ receiverId: row.receiver_id, isFailing: row.is_failing }));
  }

  /** Takes deliveries that are due, behind the settings' lock: at most `atMost`, and `perReceiver` at a time over all nodes. */
  async claimDue(
    client: PoolClient,
    { receiverId, perReceiver, atMost }: { receiverId: string; perReceiver: number; atMost: number },
  ): Promise<ClaimedDelivery[]> {
    type Row = { event_id: string; subject_id: string; receiver_id: string; attempts: number };
    const { rows } = await client.query<Row>(this.#sql.claim, [receiverId, perReceiver, atMost]);
    return rows.map((row) => ({
      eventId: row.event_id,
      subjectId: row.subject_id,
      receiverId: row.receiver_id,
      attempt: row.attempts,
    }));
  }

  /** Adds an attempt to the log. */
  async insertAttempt(client: PoolClient, eventId: string, attempt: AttemptFacts): Promise<void> {
    const { url, startedAt, durationMs, httpStatus, problem } = attempt;
    const values = [uuidv7(), eventId, url, startedAt, durationMs, httpStatus, problem];
    await client.query(this.#sql.insertAttempt, values);
  }

  /** Behind the settings' lock: the receiver has accepted it, from this process or another. Older events of the subject are not sent any more. */
  async markDelivered(client: PoolClient, { eventId, receiverId }: ClaimedDelivery): Promise<void> {
    await client.query(this.#sql.noteSuccess, [receiverId]);
    if ((await client.query(this.#sql.markDelivered, [eventId])).rowCount === 0) return;
    await client.query(this.#sql.dropOlder, [eventId, END_TEXTS.laterDelivered]);
    await client.query(this.#sql.hurryNewer, [eventId]);
  }

  /** Behind the settings' lock: it was not taken and is tried again after a while, or given up. */
  async markTried(
    client: PoolClient,
    { eventId, receiverId, attempt }: ClaimedDelivery,
    { retryAfterMs, isPassable }: { retryAfterMs: number; isPassable: boolean },
  ): Promise<void> {
    await client.query(this.#sql.noteFailure, [receiverId]);
    const values = [eventId, attempt, retryAfterMs, isPassable, END_TEXTS.triedForDays];
    const { rows } = await client.query<{ state: string }>(this.#sql.markTried, values);
    if (rows[0] === undefined) return;
    if (rows[0].state === "failed") await client.query(this.#sql.noteSilence, [receiverId]);
    const { hurryNewer, delayNewer } = this.#sql;
    await client.query(rows[0].state === "failed" || isPassable ? hurryNewer : delayNewer, [eventId]);
  }

  /** Behind the settings' lock: stops calling a receiver whom nothing has reached for days. Whether it did. */
  async stopIfHopeless(client: PoolClient, receiverId: string): Promise<boolean> {
    if ((await client.query(this.#sql.stop, [receiverId])).rowCount === 0) return false;
    await this.failPending(client, receiverId, END_TEXTS.stopped);
    return true;
  }

  /** Behind the settings' lock: gives up everything that waits. */
  async failPending(client: PoolClient, receiverId: string, note: string): Promise<void> {
    await client.query(this.#sql.failPending, [receiverId, note]);
  }
}
