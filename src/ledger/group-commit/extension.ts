// Extension: a hold grows while its stream runs, and records the stream's progress, which recovery charges if the process dies.
// An extension names the whole hold after it, so a replay changes nothing. It checks neither the key nor a freeze of the account:
// running requests are finished. The database function commit_requests decides it; extensions are few, so a single one has no
// statement of its own.

import { InvariantError } from "../../kernel/invariant.ts";
import { BUDGET_PERIODS, type BudgetOf } from "../../kernel/key-limit-errors.ts";
import { columnsOf } from "./columns.ts";
import { type LaneStatement, memberRows, type MemberRow } from "./lane-statement.ts";
import type { Extension, ExtensionRequest } from "../ledger.ts";
import type { TextRows } from "./statement-pipeline.ts";

// $1 accounts, $2 requests: the present holds of these requests.
const RECALL = `SELECT id, amount FROM hold WHERE account_id = ANY ($1::uuid[]) AND id = ANY ($2::uuid[])`;

export const extensionStatement: LaneStatement<ExtensionRequest, Extension> = {
  name: "extension",
  letter: "e",
  // The stream runs on the money that it holds already; its bytes wait for more.
  awayPatienceMs: 30_000,
  lockPatienceMs: 30_000,
  maxAttempts: 50,
  width: 7,
  parameters: ({ accountId, requestId, amount, leastAmount, inputTokens, cachedTokens = 0, outputTokens }) => [
    accountId,
    requestId,
    amount,
    leastAmount,
    inputTokens,
    cachedTokens,
    outputTokens,
  ],
  // A member without a row has no hold: it was resolved.
  outcomes: (rows, members) =>
    memberRows(rows, members).map((row) => (row === undefined ? { outcome: "gone" } : extensionOf(row))),
  recall: (members) => ({
    name: "recall_amounts",
    text: RECALL,
    values: columnsOf(members.map(({ accountId, requestId }) => [accountId, requestId])),
  }),
  // A partial grant cannot be distinguished from the hold before, so the extension runs again: it names the whole hold.
  recalled: (rows: TextRows, members) => {
    const held = new Map(rows.map(([id, amount]) => [id, BigInt(amount ?? 0)]));
    return members.map(({ requestId, amount: wanted }): Extension | undefined => {
      const amount = held.get(requestId);
      return amount === undefined || amount < wanted ? undefined : { outcome: "granted", amount };
    });
  },
  missing: () => new InvariantError("an extension decides on each of its members"),
};

/** The marks of a refusal by a budget: a version before takes it for one by the balance. */
const OVER_BUDGET: Readonly<Record<string, BudgetOf>> = { 1: "key", 2: "member" };

function extensionOf({ outcome, amount, other, window }: MemberRow): Extension {
  if (outcome === "granted") return { outcome, amount };
  if (outcome === "refused") {
    const of = OVER_BUDGET[window[3] ?? ""];
    const facts = { amount, othersHold: other > 0n };
    if (of === undefined) return { outcome, ...facts };
    const resetMs = Number(window[5] ?? 0);
    const when = {
      period: BUDGET_PERIODS[Number(window[2]) - 1] ?? null,
      resetsAt: resetMs === 0 ? null : new Date(resetMs),
    };
    return { outcome: "over_budget", of, ...when, ...facts };
  }
  throw new InvariantError(`an extension has a known outcome, not ${outcome}`);
}
