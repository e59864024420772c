// Admission: one statement decides rate, revocation and balance on locked rows and places the hold. Rows are locked in one
// order everywhere, the account first, then its key, then its holds, each by what the lock before it gave, so that no two
// statements wait for each other in a ring and nothing is decided on a row that has changed since.
//
// A group may grant, limit and say revoked. Only a lone statement may refuse for money or grant less than was asked: a
// group cannot tell who of several would fit, so it answers `alone`, with the slot already taken.

import { InvariantError } from "../kernel/invariant.ts";
import type { RateState } from "../kernel/rate.ts";
import { columnsOf, textsOf } from "./columns.ts";
import type { LaneStatement } from "./lane-statement.ts";
import type { Admission, AdmissionRequest } from "./ledger.ts";

export type AdmissionMember = AdmissionRequest & {
  /** The process the hold will belong to. */
  readonly owner: string;
  /** Whether a group has counted the request in its key's window already. */
  readonly slotTaken: boolean;
};

/** What one run of the statement says. `alone`: ask again, alone. */
export type AdmissionDecision = Admission | { readonly outcome: "alone" };

// $1 account, $2 key, $3 request, $4 owner, $5 amount, $6 least amount, $7 slot taken, $8 model, $9-$11 prices.
// The clock is read in a later step than the locks: beside them it would be read before the wait.
const LONE = `
WITH acc AS MATERIALIZED (
  SELECT a.id, a.posted, a.held FROM account a WHERE a.id = $1::uuid FOR NO KEY UPDATE
), key AS MATERIALIZED (
  SELECT a.id AS account_id, a.posted - a.held AS available, k.id AS key_id, k.rate_limit, k.slots, k.slot_counts,
         k.revoked_at IS NOT NULL AS revoked
  FROM acc a JOIN api_key k ON k.account_id = a.id AND k.account_id = $1::uuid AND k.id = $2::uuid FOR NO KEY UPDATE OF k
), now AS MATERIALIZED (
  SELECT key.*, clock_timestamp() AS t FROM key
), rated AS MATERIALIZED (
  SELECT now.*, slots_used(slots, slot_counts, rate_limit, t) AS used, slots_reset_seconds(slots, slot_counts, rate_limit, t) AS reset_seconds FROM now
), decided AS MATERIALIZED (
  SELECT rated.*, least($5::bigint, available) AS granted,
         CASE WHEN revoked THEN 'revoked'
              WHEN rate_limit > 0 AND NOT $7::bool AND used >= rate_limit THEN 'limited'
              WHEN available >= $6::bigint THEN 'granted'
              ELSE 'refused' END AS decision
  FROM rated
), ins AS (
  INSERT INTO hold (account_id, id, owner, amount, key_id, model, input_price, output_price, cache_hit_price)
  SELECT account_id, $3::uuid, $4::uuid, granted, key_id, $8::text, $9::bigint, $10::bigint, $11::bigint
  FROM decided WHERE decision = 'granted'
), upd AS (
  UPDATE account a SET posted = l.posted, held = l.held + d.granted
  FROM decided d, acc l WHERE d.decision = 'granted' AND l.id = d.account_id AND a.id = d.account_id AND a.id = $1::uuid
), slot AS (
  UPDATE api_key k SET slots = slots_after(d.slots, d.slot_counts, d.rate_limit, d.t, 1),
                       slot_counts = slot_counts_after(d.slots, d.slot_counts, d.rate_limit, d.t, 1)
  FROM decided d
  WHERE k.account_id = d.account_id AND k.id = d.key_id AND k.account_id = $1::uuid AND k.id = $2::uuid
    AND d.rate_limit > 0 AND NOT $7::bool AND d.decision IN ('granted', 'refused')
)
SELECT 1 AS ord, decision, granted, available,
       rate_limit, greatest(0, rate_limit - used - CASE WHEN $7::bool OR decision = 'limited' THEN 0 ELSE 1 END) AS remaining, reset_seconds,
       CASE WHEN decision = 'limited' THEN slot_wait_ms(slots, slot_counts, rate_limit, t, 1) END AS wait_ms
FROM decided`;

// $1 accounts, $2 keys, $3 requests, $4 owners, $5 amounts, $6 models, $7-$9 prices.
// Conditions on $1 and $2 repeat what the joins say: they keep the planner on the keys when it plans without statistics.
// "now" counts every key row, because a locking select runs only as far as somebody reads it. What was decided carries all
// that the later steps need: joining these small lists again costs more than carrying them.
const GROUP = `
WITH req AS MATERIALIZED (
  SELECT * FROM unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::uuid[], $5::bigint[], $6::text[], $7::bigint[], $8::bigint[], $9::bigint[])
  WITH ORDINALITY AS r(account_id, key_id, id, owner, want, model, input_price, output_price, cache_hit_price, ord)
), acc AS MATERIALIZED (
  SELECT a.id, a.posted, a.held FROM account a WHERE a.id = ANY ($1::uuid[]) ORDER BY a.id FOR NO KEY UPDATE
), key AS MATERIALIZED (
  SELECT k.account_id, k.id, k.rate_limit, k.slots, k.slot_counts, k.revoked_at IS NOT NULL AS revoked
  FROM api_key k
  WHERE k.account_id = ANY ($1::uuid[]) AND k.id = ANY ($2::uuid[]) AND k.account_id = ANY (ARRAY(SELECT id FROM acc))
  ORDER BY k.account_id, k.id FOR NO KEY UPDATE
), now AS MATERIALIZED (
  SELECT clock_timestamp() AS t FROM (SELECT count(*) FROM key) every_lock_is_held
), ranked AS MATERIALIZED (
  SELECT r.*, a.posted - a.held AS available, k.rate_limit, k.slots, k.slot_counts, k.revoked, t,
         slots_used(k.slots, k.slot_counts, k.rate_limit, t) AS used,
         row_number() OVER (PARTITION BY r.account_id, r.key_id ORDER BY r.ord)::int AS nth
  FROM req r JOIN acc a ON a.id = r.account_id JOIN key k ON k.account_id = r.account_id AND k.id = r.key_id CROSS JOIN now
), decided AS MATERIALIZED (
  SELECT ord, account_id, key_id, id, owner, want, model, input_price, output_price, cache_hit_price, available, rate_limit,
         greatest(0, rate_limit - used - nth) AS remaining,
         slots_reset_seconds(slots, slot_counts, rate_limit, t) AS reset_seconds,
         CASE WHEN limited THEN slot_wait_ms(slots, slot_counts, rate_limit, t, nth) END AS wait_ms,
         CASE WHEN revoked THEN 'revoked' WHEN limited THEN 'limited'
              WHEN sum(want) FILTER (WHERE NOT revoked AND NOT limited) OVER (PARTITION BY account_id ORDER BY ord) <= available THEN 'granted'
              ELSE 'alone' END AS decision
  FROM (SELECT ranked.*, NOT revoked AND rate_limit > 0 AND used + nth > rate_limit AS limited FROM ranked) rated
), ins AS (
  INSERT INTO hold (account_id, id, owner, amount, key_id, model, input_price, output_price, cache_hit_price)
  SELECT account_id, id, owner, want, key_id, model, input_price, output_price, cache_hit_price
  FROM decided WHERE decision = 'granted'
), upd AS (
  UPDATE account a SET posted = l.posted, held = l.held + s.amount
  FROM (SELECT account_id, sum(want)::bigint AS amount FROM decided WHERE decision = 'granted' GROUP BY account_id) s
  JOIN acc l ON l.id = s.account_id
  WHERE a.id = s.account_id AND a.id = ANY ($1::uuid[])
), slot AS (
  UPDATE api_key k SET slots = slots_after(c.slots, c.slot_counts, c.rate_limit, s.t, s.n),
                       slot_counts = slot_counts_after(c.slots, c.slot_counts, c.rate_limit, s.t, s.n)
  FROM (SELECT account_id, key_id, count(*)::int AS n, (SELECT t FROM now) AS t
        FROM decided WHERE rate_limit > 0 AND decision IN ('granted', 'alone') GROUP BY 1, 2) s
  JOIN key c ON c.account_id = s.account_id AND c.id = s.key_id
  WHERE k.account_id = s.account_id AND k.id = s.key_id AND k.account_id = ANY ($1::uuid[]) AND k.id = ANY ($2::uuid[])
)
SELECT ord::int, decision, want, available, rate_limit, remaining, reset_seconds, wait_ms FROM decided`;

// $1 accounts, $2 requests: the holds of these that are there, with the window as it is now.
const RECALL = `
SELECT h.id, h.amount, k.rate_limit, greatest(0, k.rate_limit - slots_used(k.slots, k.slot_counts, k.rate_limit, t)),
       slots_reset_seconds(k.slots, k.slot_counts, k.rate_limit, t)
FROM hold h JOIN api_key k ON k.account_id = h.account_id AND k.id = h.key_id CROSS JOIN (SELECT clock_timestamp() AS t) now
WHERE h.account_id = ANY ($1::uuid[]) AND h.id = ANY ($2::uuid[]) AND k.account_id = ANY ($1::uuid[])`;

export const admissionStatement: LaneStatement<AdmissionMember, AdmissionDecision> = {
  name: "admission",
  // A caller would rather hear "busy" now: nothing is delivered yet.
  awayPatienceMs: 0,
  lockPatienceMs: 3_000,
  maxAttempts: 12,
  lone: (member) => ({
    name: "admit",
    text: LONE,
    values: textsOf([
      member.accountId,
      member.keyId,
      member.requestId,
      member.owner,
      member.amount,
      member.leastAmount,
      member.slotTaken,
      member.model,
      member.prices.input,
      member.prices.output,
      member.prices.cacheHit,
    ]),
  }),
  group: (members) => ({
    name: "admit_group",
    text: GROUP,
    values: columnsOf(
      members.map((member) => [
        member.accountId,
        member.keyId,
        member.requestId,
        member.owner,
        member.amount,
        member.model,
        member.prices.input,
        member.prices.output,
        member.prices.cacheHit,
      ]),
    ),
  }),
  // A member without a row has no such account or key: as good as revoked.
  outcomes: (rows, members) => {
    const decisions = members.map((): AdmissionDecision => ({ outcome: "revoked" }));
    for (const [ordinal, ...columns] of rows) decisions[Number(ordinal) - 1] = decisionOf(columns);
    return decisions;
  },
  recall: (members) => ({
    name: "recall_holds",
    text: RECALL,
    values: columnsOf(members.map(({ accountId, requestId }) => [accountId, requestId])),
  }),
  recalled: (rows, members) => {
    const holds = new Map(
      rows.map(([id, ...columns]) => {
        const [amount, limit, remaining, resetSeconds] = columns;
        return [
          id,
          { outcome: "granted", amount: BigInt(amount ?? 0), rate: rateOf(limit, remaining, resetSeconds) } as const,
        ];
      }),
    );
    return members.map(({ requestId }) => holds.get(requestId));
  },
  missing: () => new InvariantError("an admission decides on each of its members"),
};

function decisionOf(row: readonly (string | null)[]): AdmissionDecision {
  const [decision, amount, available, limit, remaining, resetSeconds, waitMs] = row;
  const outcome = String(decision);
  const rate = rateOf(limit, remaining, resetSeconds);
  switch (outcome) {
    case "granted":
      return { outcome, amount: BigInt(amount ?? 0), rate };
    case "limited":
      return { outcome, retryAfterMs: Number(waitMs ?? 1), rate };
    case "refused":
      return { outcome, available: BigInt(available ?? 0), rate };
    case "alone":
    case "revoked":
      return { outcome };
    default:
      throw new InvariantError(`an admission has a known outcome, not ${outcome}`);
  }
}

function rateOf(...columns: readonly (string | null | undefined)[]): RateState {
  const [limit = 0, remaining = 0, resetSeconds = 0] = columns.map(Number);
  return { limit, remaining, resetSeconds };
}
