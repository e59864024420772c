// Top-ups as an operator goes through them: of all accounts, newest first, and what their providers told.

import type { Pool } from "pg";
import { COLUMNS, fromRow, type PaymentEvent, type Row } from "./store.ts";
import type { TopUp, TopUpState } from "./top-up.ts";

/** Which top-ups are meant; all that is not null must fit. */
export type TopUpFilter = {
  readonly accountId: string | null;
  readonly provider: string | null;
  readonly state: TopUpState | null;
  /** Whether only those are meant that need a look: in review, with a problem, or that left something owed. */
  readonly needsAttention: boolean;
};

const FIND = `
SELECT * FROM (
  SELECT ${COLUMNS} FROM top_up t
  WHERE t.id < coalesce($1::uuid, 'ffffffff-ffff-ffff-ffff-ffffffffffff') AND ($2::uuid IS NULL OR t.account_id = $2::uuid)
    AND ($3::text IS NULL OR t.provider = $3) AND ($4::text IS NULL OR t.state = $4)
    AND (NOT $5::boolean OR t.state = 'review' OR t.problem IS NOT NULL OR t.given_back > 0)
) t
WHERE NOT $5::boolean OR t.state = 'review' OR t.problem IS NOT NULL OR t.owed > 0
ORDER BY t.id DESC LIMIT $6::int`;
const EVENTS = `
SELECT id AS "eventId", provider, event_key AS "eventKey", order_id AS "orderId", top_up_id AS "topUpId", status, amount, finding,
       received_at AS "receivedAt"
FROM payment_event WHERE top_up_id = $1::uuid ORDER BY id DESC LIMIT $2::int`;

/** Top-ups with ids before `beforeId`, newest first; null: from the newest on. */
export async function findTopUps(
  pool: Pool,
  { filter, beforeId, limit }: { filter: TopUpFilter; beforeId: string | null; limit: number },
): Promise<TopUp[]> {
  const { accountId, provider, state, needsAttention } = filter;
  return (await pool.query<Row>(FIND, [beforeId, accountId, provider, state, needsAttention, limit])).rows.map(fromRow);
}

/** The last notifications of a top-up, newest first. */
export async function readEvents(
  pool: Pool,
  topUpId: string,
  limit: number,
): Promise<(PaymentEvent & { readonly receivedAt: Date })[]> {
  return (await pool.query<PaymentEvent & { receivedAt: Date }>(EVENTS, [topUpId, limit])).rows;
}
