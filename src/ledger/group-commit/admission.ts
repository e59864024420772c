// Admission: the database functions admit_request and commit_requests decide rate, revocation and balance on locked rows, and
// place the hold.

import { InvariantError } from "../../kernel/invariant.ts";
import type { BudgetOf, BudgetPeriod } from "../../kernel/key-limit-errors.ts";
import type { RateState } from "../../kernel/rate.ts";
import { columnsOf, type Parameter, textsOf } from "./columns.ts";
import { compareIds, type LaneStatement, memberRows, type MemberRow } from "./lane-statement.ts";
import type { Admission, AdmissionRequest } from "../ledger.ts";
import { otherPricesColumn } from "./token-columns.ts";

export type AdmissionMember = AdmissionRequest & {
  /** The process the hold will belong to. */
  readonly owner: string;
};

const LONE = `SELECT * FROM admit_request($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)`;
const ONCE = `SELECT * FROM admit_request_once($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)`;

// $1 accounts, $2 requests: the holds of these requests, with the window as it is now.
const RECALL = `
SELECT h.id, h.amount, k.rate_limit, greatest(0, k.rate_limit - slots_used(k.slots, k.slot_counts, k.rate_limit, t)),
       slots_reset_seconds(k.slots, k.slot_counts, k.rate_limit, t)
FROM hold h JOIN api_key k ON k.account_id = h.account_id AND k.id = h.key_id CROSS JOIN (SELECT clock_timestamp() AS t) now
WHERE h.account_id = ANY ($1::uuid[]) AND h.id = ANY ($2::uuid[]) AND k.account_id = ANY ($1::uuid[])`;

export const admissionStatement: LaneStatement<AdmissionMember, Admission> = {
  name: "admission",
  letter: "a",
  // An admission is answered "busy" early: nothing is delivered yet.
  awayPatienceMs: 0,
  lockPatienceMs: 3_000,
  maxAttempts: 12,
  lone: (member) =>
    member.once === undefined
      ? { name: "admission", text: LONE, values: textsOf(parametersOf(member)) }
      : { name: "admission_once", text: ONCE, values: textsOf(onceParameters(member, member.once)) },
  isAlwaysAlone: ({ once }) => once !== undefined,
  width: 12,
  parameters: parametersOf,
  // Keys are locked in order, and the statement reads their members in the same order.
  order: (one, other) => compareIds(one.accountId, other.accountId) || compareIds(one.keyId, other.keyId),
  // A member without a row has no such account or key: the same as revoked.
  outcomes: (rows, members) =>
    memberRows(rows, members).map((row) => (row === undefined ? { outcome: "revoked" } : admissionOf(row))),
  recall: (members) => ({
    name: "recall_holds",
    text: RECALL,
    values: columnsOf(members.map(({ accountId, requestId }) => [accountId, requestId])),
  }),
  recalled: (rows, members) => {
    const holds = new Map(
      rows.map(([id, amount, ...window]) => [
        id,
        { outcome: "granted", amount: BigInt(amount ?? 0), rate: rateOf(window) } as const,
      ]),
    );
    return members.map(({ requestId }) => holds.get(requestId));
  },
  missing: () => new InvariantError("an admission decides on each of its members"),
};

function parametersOf({
  accountId,
  keyId,
  requestId,
  owner,
  amount,
  leastAmount,
  ...rest
}: AdmissionMember): Parameter[] {
  const { model, prices, tokens = 0 } = rest;
  const { input, output, cacheHit } = prices;
  const other = otherPricesColumn(prices);
  return [accountId, keyId, requestId, owner, amount, leastAmount, model, input, output, cacheHit, other, tokens];
}

/** The same with the name and the digest of the body, in PostgreSQL's notation of bytes, before the tokens. */
function onceParameters(
  member: AdmissionMember,
  { name, bodyDigest }: NonNullable<AdmissionMember["once"]>,
): Parameter[] {
  return parametersOf(member).toSpliced(-1, 0, name, `\\x${bodyDigest.toString("hex")}`);
}

function admissionOf({ outcome, amount, other, window }: MemberRow): Admission {
  const rate = rateOf(window);
  const [former, , keeps] = window.slice(RATE_COLUMNS);
  const keepsAnswers = keeps === "t";
  switch (outcome) {
    case "granted":
      return keepsAnswers ? { outcome, amount, rate, keepsAnswers } : { outcome, amount, rate };
    case "running":
    case "other_body":
      return { outcome };
    case "answered":
      return { outcome, requestId: former ?? "", charge: amount, keepsAnswers };
    case "token_limited": {
      const { limit = 0, remaining = 0 } = rate.tokens ?? {};
      return { outcome, retryAfterMs: Number(window[3] ?? 1), limit, left: remaining };
    }
    case "limited":
      return { outcome, retryAfterMs: Number(window[3] ?? 1), rate };
    case "refused": {
      const budget = BUDGETS[window[3] ?? ""];
      // Its amount is the moment at which the budget begins again. 0: never.
      const resetsAt = amount === 0n ? null : new Date(Number(amount));
      if (budget !== undefined) return { outcome: "over_budget", ...budget, left: other, resetsAt, rate };
      return amount === 0n ? { outcome, available: other, rate } : { outcome, available: other, owed: amount, rate };
    }
    case "crowded":
      return { outcome, rate };
    case "revoked":
      return { outcome: window[3] === MODEL_NOT_ALLOWED ? "not_allowed" : outcome };
    case "frozen":
      return { outcome };
    default:
      throw new InvariantError(`an admission has a known outcome, not ${outcome}`);
  }
}

/** Marks of outcomes that the version before has no name for (database/functions/admit_request.sql). */
const BUDGETS: Readonly<Record<string, { readonly of: BudgetOf; readonly period: BudgetPeriod }>> = {
  1: { of: "key", period: "total" },
  2: { of: "key", period: "day" },
  3: { of: "key", period: "month" },
  5: { of: "member", period: "total" },
  6: { of: "member", period: "day" },
  7: { of: "member", period: "month" },
};
const MODEL_NOT_ALLOWED = "4";

/** A row of a request with a name has its columns after these. */
const RATE_COLUMNS = 6;

function rateOf(window: readonly (string | null)[]): RateState {
  const [limit, remaining, resetSeconds, , tokenLimit = null, tokensLeft = null] = window;
  const rate = { limit: Number(limit), remaining: Number(remaining), resetSeconds: Number(resetSeconds) };
  if (tokenLimit === null) return rate;
  return { ...rate, tokens: { limit: Number(tokenLimit), remaining: Math.max(0, Number(tokensLeft)) } };
}
