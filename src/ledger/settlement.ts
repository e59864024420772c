// Settlement: the hold is deleted, the usage record is written and the account is updated, in one statement. Whoever
// deletes the hold settles; a settlement that finds no hold changes nothing and reads what the first one wrote.
// The charge is min(cost, hold + available), decided on the locked account row; what that leaves is booked as our loss.

import { InvariantError } from "../kernel/invariant.ts";
import type { LaneStatement } from "./lane-statement.ts";
import type { SettledUsage, Settlement } from "./ledger.ts";
import type { TextRows } from "./statement-pipeline.ts";
import { columnsOf, type Parameter, textsOf } from "./columns.ts";
import { systemAccounts } from "./system-accounts.ts";

/** The columns of a usage record that come with the settlement; the others were kept with the hold. */
const SETTLED_COLUMNS = [
  ["input_tokens_uncached", "int"],
  ["input_tokens_cached", "int"],
  ["output_tokens", "int"],
  ["basis", "text"],
  ["billing_day", "date"],
  ["upstream", "text"],
  ["upstream_model", "text"],
  ["upstream_request_id", "text"],
  ["upstream_cost", "bigint"],
  ["streamed", "boolean"],
  ["duration_ms", "int"],
  ["first_byte_ms", "int"],
  ["clamped", "boolean"],
] as const;

const settledNames = SETTLED_COLUMNS.map(([name]) => name).join(", ");
const FIRST_SETTLED_PARAMETER = 4;

/** What the hold kept since admission. */
export const HELD_COLUMNS = "key_id, model, input_price, output_price, cache_hit_price";
const heldFromHold = HELD_COLUMNS.replaceAll(/(\w+)/g, "h.$1");

/** Books what a charge leaves of its cost, from the rows that were just inserted as `ins`. */
export const UNCOLLECTED = `
  INSERT INTO posting (id, group_id, asset, debit, credit, amount, reason)
  SELECT request_id, request_id, 'IDR/6', '${systemAccounts.operatorLoss}', '${systemAccounts.revenue}', cost - charge, 'uncollected'
  FROM ins WHERE cost > charge`;

// $1 account, $2 request, $3 cost, then the settled columns.
const LONE = `
WITH acc AS MATERIALIZED (
  SELECT a.id, a.posted, a.held FROM account a WHERE a.id = $1::uuid FOR NO KEY UPDATE
), del AS (
  DELETE FROM hold h USING acc a WHERE h.account_id = a.id AND h.account_id = $1::uuid AND h.id = $2::uuid
  RETURNING h.account_id, h.id, h.amount, ${heldFromHold}, least($3::bigint, h.amount + a.posted - a.held) AS charge
), ins AS (
  INSERT INTO usage_record (account_id, request_id, cost, charge, ${HELD_COLUMNS}, ${settledNames})
  SELECT account_id, id, $3::bigint, charge, ${HELD_COLUMNS},
         ${SETTLED_COLUMNS.map(([, type], index) => `$${FIRST_SETTLED_PARAMETER + index}::${type}`).join(", ")}
  FROM del
  ON CONFLICT (account_id, request_id) DO NOTHING RETURNING account_id, request_id, cost, charge
), upd AS (
  UPDATE account a SET held = l.held - d.amount, posted = l.posted - coalesce(i.charge, 0)
  FROM acc l JOIN del d ON d.account_id = l.id LEFT JOIN ins i ON true WHERE a.id = l.id AND a.id = $1::uuid
), loss AS (${UNCOLLECTED}
)
SELECT request_id, cost, charge FROM ins`;

// The same for many: $1 accounts, $2 requests, $3 costs, then one array for each settled column.
// walk/lost/charged give each settlement min(cost, hold + available) as if they came one after the other, those that free
// money first: s is what would be available if nothing were cut, and -min(s) so far is what had to be cut.
const GROUP = `
WITH acc AS MATERIALIZED (
  SELECT a.id, a.posted, a.held FROM account a WHERE a.id = ANY ($1::uuid[]) ORDER BY a.id FOR NO KEY UPDATE
), req AS MATERIALIZED (
  SELECT r.*, a.posted - a.held AS available
  FROM unnest($1::uuid[], $2::uuid[], $3::bigint[],
    ${SETTLED_COLUMNS.map(([, type], index) => `$${FIRST_SETTLED_PARAMETER + index}::${type}[]`).join(", ")})
  WITH ORDINALITY AS r(account_id, id, cost, ${settledNames}, ord)
  JOIN acc a ON a.id = r.account_id
), del AS (
  DELETE FROM hold h USING req r
  WHERE h.account_id = r.account_id AND h.id = r.id AND h.account_id = ANY ($1::uuid[]) AND h.id = ANY ($2::uuid[])
  RETURNING h.account_id, h.id, h.amount, ${heldFromHold}, r.ord, r.cost, ${SETTLED_COLUMNS.map(([name]) => `r.${name}`).join(", ")},
            r.available
), walk AS (
  SELECT d.*, available + sum(amount - cost) OVER w AS s FROM del d
  WINDOW w AS (PARTITION BY account_id ORDER BY amount - cost DESC, ord ROWS UNBOUNDED PRECEDING)
), lost AS (
  SELECT w.*, greatest(0, -min(s) OVER (PARTITION BY account_id ORDER BY amount - cost DESC, ord ROWS UNBOUNDED PRECEDING)) AS missing
  FROM walk w
), charged AS (
  SELECT l.*, (cost - (missing - coalesce(lag(missing) OVER (PARTITION BY account_id ORDER BY amount - cost DESC, ord), 0)))::bigint AS charge
  FROM lost l
), ins AS (
  INSERT INTO usage_record (account_id, request_id, cost, charge, ${HELD_COLUMNS}, ${settledNames})
  SELECT account_id, id, cost, charge, ${HELD_COLUMNS}, ${settledNames} FROM charged
  ON CONFLICT (account_id, request_id) DO NOTHING RETURNING account_id, request_id, cost, charge
), upd AS (
  UPDATE account a SET held = l.held - s.held, posted = l.posted - s.charge
  FROM acc l JOIN (
    SELECT account_id, sum(held)::bigint AS held, sum(charge)::bigint AS charge
    FROM (SELECT account_id, amount AS held, 0 AS charge FROM del UNION ALL SELECT account_id, 0, charge FROM ins) changes
    GROUP BY account_id
  ) s ON s.account_id = l.id
  WHERE a.id = l.id AND a.id = ANY ($1::uuid[])
), loss AS (${UNCOLLECTED}
)
SELECT request_id, cost, charge FROM ins`;

// $1 accounts, $2 requests: what is settled of these.
const RECALL = `
SELECT request_id, cost, charge FROM usage_record WHERE account_id = ANY ($1::uuid[]) AND request_id = ANY ($2::uuid[])`;

/** The settlement of a lane. Where the hold is gone somebody has settled before, and the record of the first is read. */
export const settlementStatement: LaneStatement<Settlement, SettledUsage> = {
  name: "settlement",
  // Something was delivered, or a hold has to be given back: that is worth waiting for.
  awayPatienceMs: 60_000,
  lockPatienceMs: 60_000,
  maxAttempts: 100,
  lone: (settlement) => ({ name: "settle", text: LONE, values: textsOf(valuesOf(settlement)) }),
  group: (settlements) => ({
    name: "settle_group",
    text: GROUP,
    values: columnsOf(settlements.map(valuesOf)),
  }),
  outcomes: settledOf,
  recall: (settlements) => ({
    name: "recall_usage",
    text: RECALL,
    values: columnsOf(settlements.map(({ accountId, requestId }) => [accountId, requestId])),
  }),
  recalled: settledOf,
  missing: ({ requestId }) => new InvariantError(`a request without a hold has been settled: ${requestId}`),
};

function settledOf(rows: TextRows, settlements: readonly Settlement[]): (SettledUsage | undefined)[] {
  const settled = new Map(
    rows.map(([requestId, cost, charge]) => [requestId, { cost: BigInt(cost ?? 0), charge: BigInt(charge ?? 0) }]),
  );
  return settlements.map(({ requestId }) => settled.get(requestId));
}

function valuesOf(settlement: Settlement): Parameter[] {
  return [
    settlement.accountId,
    settlement.requestId,
    settlement.cost,
    settlement.inputTokensUncached,
    settlement.inputTokensCached,
    settlement.outputTokens,
    settlement.basis,
    settlement.billingDay,
    settlement.upstream,
    settlement.upstreamModel,
    settlement.upstreamRequestId,
    settlement.upstreamCost,
    settlement.streamed,
    settlement.durationMs,
    settlement.firstByteMs,
    settlement.clamped,
  ];
}
