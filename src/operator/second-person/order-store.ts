// SQL of orders that wait for a second operator. An order never changes, and is decided once.

import type { Pool, PoolClient } from "pg";
import { NotFound } from "../../kernel/errors.ts";
import { isUuid } from "../../kernel/ids.ts";

export type Queryable = Pick<Pool | PoolClient, "query">;

const COLUMNS = `
  id AS "orderId", kind, reference, subject, facts, payload, reason, ordered_by AS "orderedBy", ordered_at AS "orderedAt",
  expires_at AS "expiresAt", decided_by AS "decidedBy", decided_at AS "decidedAt", decision_reason AS "decisionReason",
  CASE WHEN state = 'pending' AND expires_at <= clock_timestamp() THEN 'expired' ELSE state END AS state`;
const INSERT = `
INSERT INTO operator_order (id, kind, reference, subject, facts, payload, reason, ordered_by, expires_at)
VALUES ($1::uuid, $2, $3, $4, $5::jsonb, $6::jsonb, $7, $8, clock_timestamp() + $9::float8 * interval '1 ms')
ON CONFLICT ON CONSTRAINT operator_order_reference DO NOTHING RETURNING ${COLUMNS}`;
const BY_REFERENCE = `SELECT ${COLUMNS} FROM operator_order WHERE kind = $1 AND reference = $2`;
const SAME_PENDING = `
SELECT ${COLUMNS} FROM operator_order
WHERE state = 'pending' AND kind = $1 AND subject = $2 AND payload = $3::jsonb AND expires_at > clock_timestamp()
ORDER BY id LIMIT 1`;
const LOCK = `SELECT ${COLUMNS} FROM operator_order WHERE id = $1::uuid FOR UPDATE`;
const DECIDE = `
UPDATE operator_order SET state = $2, decided_by = $3, decided_at = clock_timestamp(), decision_reason = $4
WHERE id = $1::uuid RETURNING ${COLUMNS}`;
const LIST = `
SELECT * FROM (SELECT ${COLUMNS} FROM operator_order WHERE ($1::uuid IS NULL OR id < $1)
  AND ($2::text IS NULL OR state = CASE WHEN $2 = 'expired' THEN 'pending' ELSE $2 END)) o
WHERE $2::text IS NULL OR o.state = $2 ORDER BY o."orderId" DESC LIMIT $3`;
const COUNT_PENDING = `
SELECT count(*)::int AS pending FROM operator_order WHERE state = 'pending' AND expires_at > clock_timestamp()`;

export const ORDER_STATES = ["pending", "approved", "refused", "expired"] as const;
export type OrderState = (typeof ORDER_STATES)[number];

/** An order as operators see it. `currencyCode` and `amount` are empty where it has no amount. */
export type OrderFacts = Readonly<Record<string, string | number | null>>;

export type NewOrder = {
  readonly orderId: string;
  readonly kind: string;
  /** Names the order among those of its kind, for ever. */
  readonly reference: string;
  readonly subject: string;
  readonly facts: OrderFacts;
  /** The order itself, as its kind writes it. */
  readonly payload: Readonly<Record<string, unknown>>;
  readonly reason: string | null;
  readonly orderedBy: string;
};

export type StoredOrder = NewOrder & {
  readonly orderedAt: Date;
  readonly expiresAt: Date;
  readonly state: OrderState;
  readonly decidedBy: string | null;
  readonly decidedAt: Date | null;
  readonly decisionReason: string | null;
};

/** Adds an order. Undefined: its reference was used. */
export async function insertOrder(
  client: PoolClient,
  order: NewOrder,
  lifetimeMs: number,
): Promise<StoredOrder | undefined> {
  const { orderId, kind, reference, subject, facts, payload, reason, orderedBy } = order;
  const json = [JSON.stringify(facts), JSON.stringify(payload)];
  const values = [orderId, kind, reference, subject, ...json, reason, orderedBy, lifetimeMs];
  return (await client.query<StoredOrder>(INSERT, values)).rows[0];
}

/** The order of a reference. */
export async function readOrderOfReference(
  client: Queryable,
  { kind, reference }: Pick<NewOrder, "kind" | "reference">,
): Promise<StoredOrder | undefined> {
  return (await client.query<StoredOrder>(BY_REFERENCE, [kind, reference])).rows[0];
}

/** A pending order with the same content. */
export async function readSamePending(
  client: Queryable,
  { kind, subject, payload }: Pick<NewOrder, "kind" | "subject" | "payload">,
): Promise<StoredOrder | undefined> {
  return (await client.query<StoredOrder>(SAME_PENDING, [kind, subject, JSON.stringify(payload)])).rows[0];
}

/** Locks an order. Errors: NotFound. */
export async function lockOrder(client: PoolClient, orderId: string): Promise<StoredOrder> {
  const { rows } = await client.query<StoredOrder>(LOCK, [isUuid(orderId) ? orderId : null]);
  if (rows[0] === undefined) throw new NotFound("There is no such order.");
  return rows[0];
}

/** Writes what was decided of a locked order that is pending. */
export async function decideOrder(
  client: PoolClient,
  { orderId, state, by, reason }: { orderId: string; state: "approved" | "refused"; by: string; reason: string | null },
): Promise<StoredOrder | undefined> {
  return (await client.query<StoredOrder>(DECIDE, [orderId, state, by, reason])).rows[0];
}

/** Orders with ids before `beforeId`, newest first. */
export async function listOrders(
  client: Queryable,
  { state, beforeId, limit }: { state: OrderState | null; beforeId: string | null; limit: number },
): Promise<StoredOrder[]> {
  return (await client.query<StoredOrder>(LIST, [beforeId, state, limit])).rows;
}

/** How many orders wait. */
export async function countPending(client: Queryable): Promise<number> {
  return (await client.query<{ pending: number }>(COUNT_PENDING)).rows[0]?.pending ?? 0;
}
