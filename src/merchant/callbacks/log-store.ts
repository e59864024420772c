// SQL of what a merchant sees of its callbacks: deliveries with their attempts, and the order to deliver once more.

import type { Pool, PoolClient } from "pg";
import type { TransferStatus } from "../transfers/transfer.ts";
import { type AttemptFacts, GIVE_UP_AFTER } from "./store.ts";

type Queryable = Pick<Pool | PoolClient, "query">;

const COLUMNS = `d.event_id, d.transfer_id, e.status, d.state, d.is_leased, d.next_attempt_at, d.event_at, d.note`;
const FROM = `FROM callback_delivery d JOIN transfer_event e ON e.id = d.event_id`;
const ONE = `SELECT ${COLUMNS} ${FROM} WHERE d.event_id = $1::uuid AND d.merchant_id = $2::uuid`;
const PAGE = `
SELECT ${COLUMNS} ${FROM}
WHERE d.merchant_id = $1::uuid AND ($2::uuid IS NULL OR d.transfer_id = $2::uuid)
  AND ($3::uuid IS NULL OR d.event_id < $3::uuid)
ORDER BY d.event_id DESC LIMIT $4`;
/** The last attempts of each: three days of retrying are some eighty. */
const ATTEMPTS_SHOWN = 100;
const ATTEMPTS = `
SELECT a.* FROM unnest($1::uuid[]) AS asked (event_id) CROSS JOIN LATERAL (
  SELECT event_id, id, url, started_at, duration_ms, http_status, problem FROM callback_attempt c
  WHERE c.event_id = asked.event_id ORDER BY id DESC LIMIT ${ATTEMPTS_SHOWN}) a
ORDER BY a.id`;
// A delivery that is being attempted is left to its process.
const RESEND = `
UPDATE callback_delivery SET state = 'pending', is_leased = false, is_passable = true, note = NULL,
  next_attempt_at = statement_timestamp(), give_up_at = statement_timestamp() + interval '${GIVE_UP_AFTER}'
WHERE event_id = $1::uuid AND merchant_id = $2::uuid AND NOT (is_leased AND next_attempt_at > statement_timestamp())`;

export type DeliveryState = "pending" | "delivered" | "failed";

/** The delivery of one event to a merchant; it has the event's id. */
export type Delivery = {
  readonly eventId: string;
  readonly transferId: string;
  /** The status the transfer came to. */
  readonly status: TransferStatus;
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
  transfer_id: string;
  status: TransferStatus;
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

/** Deliveries of a merchant, newest first, from before an event on. */
export async function readDeliveries(
  client: Queryable,
  page: { merchantId: string; transferId: string | null; before: string | null; limit: number },
): Promise<Delivery[]> {
  const values = [page.merchantId, page.transferId, page.before, page.limit];
  return withAttempts(client, (await client.query<DeliveryColumns>(PAGE, values)).rows);
}

/** One delivery of a merchant. */
export async function readDelivery(
  client: Queryable,
  { eventId, merchantId }: { eventId: string; merchantId: string },
): Promise<Delivery | undefined> {
  const { rows } = await client.query<DeliveryColumns>(ONE, [eventId, merchantId]);
  return (await withAttempts(client, rows))[0];
}

/** Makes a delivery due now, behind the settings' lock. */
export async function makeDue(
  client: PoolClient,
  { eventId, merchantId }: { eventId: string; merchantId: string },
): Promise<void> {
  await client.query(RESEND, [eventId, merchantId]);
}

async function withAttempts(client: Queryable, rows: readonly DeliveryColumns[]): Promise<Delivery[]> {
  const { rows: attempts } = await client.query<AttemptColumns>(ATTEMPTS, [rows.map((row) => row.event_id)]);
  return rows.map((row) => ({
    eventId: row.event_id,
    transferId: row.transfer_id,
    status: row.status,
    state: row.state,
    nextAttemptAt: row.is_leased ? null : row.next_attempt_at,
    eventAt: row.event_at,
    note: row.note,
    attempts: attempts.filter((attempt) => attempt.event_id === row.event_id).map(fromAttemptColumns),
  }));
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
