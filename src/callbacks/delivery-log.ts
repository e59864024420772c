// What a receiver's owner sees of its callbacks: deliveries with their attempts, and the order to deliver once more.

import type { Pool, PoolClient } from "pg";
import type { CallbackTables } from "./callback-tables.ts";
import { GIVE_UP_AFTER } from "./delivery-reasons.ts";
import type { AttemptFacts } from "./delivery-store.ts";

type Queryable = Pick<Pool | PoolClient, "query">;

/** The last attempts of each: three days of retrying are some eighty. */
const ATTEMPTS_SHOWN = 100;

export type DeliveryState = "pending" | "delivered" | "failed";

/** The delivery of one event to a receiver; it has the event's id. */
export type Delivery = {
  readonly eventId: string;
  readonly subjectId: string;
  /** What the event is about, such as the status that a transfer came to. */
  readonly about: string;
  readonly state: DeliveryState;
  /** Null: none is due, or one is running. */
  readonly nextAttemptAt: Date | null;
  readonly eventAt: Date;
  /** Why it was given up; null: it was not. */
  readonly note: string | null;
  /** Oldest first; only the last of very many. */
  readonly attempts: readonly AttemptFacts[];
};

type DeliveryColumns = {
  event_id: string;
  subject_id: string;
  about: string;
  state: DeliveryState;
  is_leased: boolean;
  next_attempt_at: Date | null;
  event_at: Date;
  note: string | null;
};
type AttemptColumns = {
  event_id: string;
  url: string;
  started_at: Date;
  duration_ms: number;
  http_status: number | null;
  problem: string | null;
};

export type DeliveryPage = {
  readonly receiverId: string;
  /** Null: of all subjects. */
  readonly subjectId: string | null;
  /** From before this event on. Null: from the newest. */
  readonly before: string | null;
  readonly limit: number;
};

/** The log of one kind of receivers. */
export type DeliveryLog = {
  /** Deliveries of a receiver, newest first. */
  readPage(client: Queryable, page: DeliveryPage): Promise<Delivery[]>;
  /** One delivery of a receiver. */
  readOne(client: Queryable, asked: { eventId: string; receiverId: string }): Promise<Delivery | undefined>;
  /** Makes a delivery due now, behind the settings' lock. */
  makeDue(client: PoolClient, asked: { eventId: string; receiverId: string }): Promise<void>;
};

function statementsOf({ delivery, attempt, receiver, subject, about }: CallbackTables) {
  const columns = `d.event_id, d.${subject} AS subject_id, e.${about.column} AS about, d.state, d.is_leased, d.next_attempt_at, d.event_at, d.note`;
  const from = `FROM ${delivery} d JOIN ${about.table} e ON e.id = d.event_id`;
  return {
    one: `SELECT ${columns} ${from} WHERE d.event_id = $1::uuid AND d.${receiver} = $2::uuid`,
    page: `
SELECT ${columns} ${from}
WHERE d.${receiver} = $1::uuid AND ($2::uuid IS NULL OR d.${subject} = $2::uuid)
  AND ($3::uuid IS NULL OR d.event_id < $3::uuid)
ORDER BY d.event_id DESC LIMIT $4`,
    attempts: `
SELECT a.* FROM unnest($1::uuid[]) AS asked (event_id) CROSS JOIN LATERAL (
  SELECT event_id, id, url, started_at, duration_ms, http_status, problem FROM ${attempt} c
  WHERE c.event_id = asked.event_id ORDER BY id DESC LIMIT ${ATTEMPTS_SHOWN}) a
ORDER BY a.id`,
    // A delivery that is being attempted is left to its process.
    resend: `
UPDATE ${delivery} SET state = 'pending', is_leased = false, is_passable = true, note = NULL,
  next_attempt_at = statement_timestamp(), give_up_at = statement_timestamp() + interval '${GIVE_UP_AFTER}'
WHERE event_id = $1::uuid AND ${receiver} = $2::uuid AND NOT (is_leased AND next_attempt_at > statement_timestamp())`,
  } as const;
}

/** Makes the log. */
export function createDeliveryLog(tables: CallbackTables): DeliveryLog {
  const sql = statementsOf(tables);
  const withAttempts = async (client: Queryable, rows: readonly DeliveryColumns[]): Promise<Delivery[]> => {
    const { rows: attempts } = await client.query<AttemptColumns>(sql.attempts, [rows.map((row) => row.event_id)]);
    return rows.map((row) => ({
      eventId: row.event_id,
      subjectId: row.subject_id,
      about: row.about,
      state: row.state,
      nextAttemptAt: row.is_leased ? null : row.next_attempt_at,
      eventAt: row.event_at,
      note: row.note,
      attempts: attempts.filter((attempt) => attempt.event_id === row.event_id).map(fromAttemptColumns),
    }));
  };
  return {
    async readPage(client, { receiverId, subjectId, before, limit }) {
      const { rows } = await client.query<DeliveryColumns>(sql.page, [receiverId, subjectId, before, limit]);
      return withAttempts(client, rows);
    },
    async readOne(client, { eventId, receiverId }) {
      const { rows } = await client.query<DeliveryColumns>(sql.one, [eventId, receiverId]);
      return (await withAttempts(client, rows))[0];
    },
    async makeDue(client, { eventId, receiverId }) {
      await client.query(sql.resend, [eventId, receiverId]);
    },
  };
}

function fromAttemptColumns(row: AttemptColumns): AttemptFacts {
  return {
    url: row.url,
    startedAt: row.started_at,
    durationMs: row.duration_ms,
    httpStatus: row.http_status,
    problem: row.problem,
  };
}
