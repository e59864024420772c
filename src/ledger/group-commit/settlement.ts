// Settlement: the database functions settle_request and commit_requests delete the hold, write the usage record and update the
// account, in one statement. The statement that deletes the hold settles. A settlement that finds no hold changes nothing: it
// reads the first record, and whether recovery wrote it (late-usage.ts continues there). The charge is min(cost, hold +
// available), decided on the locked account row; the rest is posted as our loss.

import { InvariantError } from "../../kernel/invariant.ts";
import { columnsOf, type Parameter, textsOf } from "./columns.ts";
import { type LaneStatement, memberRows } from "./lane-statement.ts";
import type { SettledUsage, Settlement } from "../ledger.ts";
import { meteringColumn, otherTokensColumn } from "./token-columns.ts";

const LONE = `SELECT * FROM settle_request($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20)`;

const SETTLED = "account_id = ANY ($1::uuid[]) AND request_id = ANY ($2::uuid[])";
// $1 accounts, $2 requests: the settled ones of these. A spool may be older than the archive: what recovery wrote is still at hand then.
const RECALL = `
SELECT request_id, cost, charge, basis = 'recovered' FROM usage_record WHERE ${SETTLED}
UNION
SELECT request_id, cost, charge, true FROM usage_kept WHERE basis = 'recovered' AND ${SETTLED}`;

/** The written record of a settlement, new or old. Only recovery writes the basis `recovered`. */
export type WrittenUsage = SettledUsage & { readonly isRecovered: boolean };

/** The settlement of a lane. Where the hold is gone an earlier settlement has deleted it, and the first record is read. */
export const settlementStatement: LaneStatement<Settlement, WrittenUsage> = {
  name: "settlement",
  letter: "s",
  // An answer was delivered, or a hold has to be released: both are worth waiting for.
  awayPatienceMs: 60_000,
  lockPatienceMs: 60_000,
  maxAttempts: 100,
  lone: (settlement) => ({ name: "settlement", text: LONE, values: textsOf(settlementParameters(settlement)) }),
  width: 20,
  parameters: settlementParameters,
  outcomes: (rows, settlements) =>
    memberRows(rows, settlements).map((row) =>
      row === undefined ? undefined : { cost: row.amount, charge: row.other, isRecovered: false },
    ),
  recall: (settlements) => ({
    name: "recall_usage",
    text: RECALL,
    values: columnsOf(settlements.map(({ accountId, requestId }) => [accountId, requestId])),
  }),
  recalled: (rows, settlements) => {
    const settled = new Map(
      rows.map(([requestId, cost, charge, recovered]) => [
        requestId,
        { cost: BigInt(cost ?? 0), charge: BigInt(charge ?? 0), isRecovered: recovered === "t" },
      ]),
    );
    return settlements.map(({ requestId }) => settled.get(requestId));
  },
  missing: ({ requestId }) => new InvariantError(`a request without a hold has been settled: ${requestId}`),
};

/** A settlement as parameters of the database functions. */
export function settlementParameters(settlement: Settlement): Parameter[] {
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
    otherTokensColumn(settlement),
    meteringColumn(settlement),
    settlement.unbilledCost ?? 0n,
    null, // settled_at: the moment of the settlement, by the clock of the database
  ];
}
