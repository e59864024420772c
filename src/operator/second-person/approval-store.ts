// SQL of approvals that wait for a second operator. An approval never changes, and is decided once.

import type { Pool, PoolClient } from "pg";
import { NotFound } from "../../kernel/errors.ts";
import { isUuid } from "../../kernel/ids.ts";

export type Queryable = Pick<Pool | PoolClient, "query">;

const COLUMNS = `
  id AS "approvalId", kind, reference, subject, facts, payload, reason, ordered_by AS "requestedBy", ordered_at AS "requestedAt",
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
WHERE $2::text IS NULL OR o.state = $2 ORDER BY o."approvalId" DESC LIMIT $3`;
const COUNT_PENDING = `
SELECT count(*)::int AS pending FROM operator_order WHERE state = 'pending' AND expires_at > clock_timestamp()`;

export const APPROVAL_STATES = ["pending", "approved", "refused", "expired"] as const;
export type ApprovalState = (typeof APPROVAL_STATES)[number];

/** An approval as operators see it. `currencyCode` and `amount` are empty where it has no amount. */
export type ApprovalFacts = Readonly<Record<string, string | number | null>>;

export type NewApproval = {
  readonly approvalId: string;
  readonly kind: string;
  /** Names the approval among those of its kind, for ever. */
  readonly reference: string;
  readonly subject: string;
  readonly facts: ApprovalFacts;
  /** The approval itself, as its kind writes it. */
  readonly payload: Readonly<Record<string, unknown>>;
  readonly reason: string | null;
  readonly requestedBy: string;
};

export type StoredApproval = NewApproval & {
  readonly requestedAt: Date;
  readonly expiresAt: Date;
  readonly state: ApprovalState;
  readonly decidedBy: string | null;
  readonly decidedAt: Date | null;
  readonly decisionReason: string | null;
};

/** Adds an approval. Undefined: its reference was used. */
export async function insertApproval(
  client: PoolClient,
  approval: NewApproval,
  lifetimeMs: number,
): Promise<StoredApproval | undefined> {
  const { approvalId, kind, reference, subject, facts, payload, reason, requestedBy } = approval;
  const json = [JSON.stringify(facts), JSON.stringify(payload)];
  const values = [approvalId, kind, reference, subject, ...json, reason, requestedBy, lifetimeMs];
  return (await client.query<StoredApproval>(INSERT, values)).rows[0];
}

/** The approval of a reference. */
export async function readApprovalOfReference(
  client: Queryable,
  { kind, reference }: Pick<NewApproval, "kind" | "reference">,
): Promise<StoredApproval | undefined> {
  return (await client.query<StoredApproval>(BY_REFERENCE, [kind, reference])).rows[0];
}

/** A pending approval with the same content. */
export async function readSamePending(
  client: Queryable,
  { kind, subject, payload }: Pick<NewApproval, "kind" | "subject" | "payload">,
): Promise<StoredApproval | undefined> {
  return (await client.query<StoredApproval>(SAME_PENDING, [kind, subject, JSON.stringify(payload)])).rows[0];
}

/** Locks an approval. Errors: NotFound. */
export async function lockApproval(client: PoolClient, approvalId: string): Promise<StoredApproval> {
  const { rows } = await client.query<StoredApproval>(LOCK, [isUuid(approvalId) ? approvalId : null]);
  if (rows[0] === undefined) throw new NotFound("There is no such approval.");
  return rows[0];
}

/** Writes what was decided of a locked approval that is pending. */
export async function decideApproval(
  client: PoolClient,
  {
    approvalId,
    state,
    by,
    reason,
  }: { approvalId: string; state: "approved" | "refused"; by: string; reason: string | null },
): Promise<StoredApproval | undefined> {
  return (await client.query<StoredApproval>(DECIDE, [approvalId, state, by, reason])).rows[0];
}

/** Approvals with ids before `beforeId`, newest first. */
export async function listApprovals(
  client: Queryable,
  { state, beforeId, limit }: { state: ApprovalState | null; beforeId: string | null; limit: number },
): Promise<StoredApproval[]> {
  return (await client.query<StoredApproval>(LIST, [beforeId, state, limit])).rows;
}

/** How many approvals wait. */
export async function countPending(client: Queryable): Promise<number> {
  return (await client.query<{ pending: number }>(COUNT_PENDING)).rows[0]?.pending ?? 0;
}
