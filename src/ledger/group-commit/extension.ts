// Extension: a hold grows while its stream runs, and with it is recorded how far the stream has come, which is what recovery
// charges should the process die. What is wanted is told as the whole that is to be held, so that a replay changes nothing.
// It asks neither for the key nor whether the account is frozen: what runs is finished. Decided by the function
// commit_requests of the database; extensions are few, so one alone has no statement of its own.

import { InvariantError } from "../../kernel/invariant.ts";
import { columnsOf } from "./columns.ts";
import { type LaneStatement, memberRows, type MemberRow } from "./lane-statement.ts";
import type { Extension, ExtensionRequest } from "../ledger.ts";
import type { TextRows } from "./statement-pipeline.ts";

// $1 accounts, $2 requests: what is held for these now.
const RECALL = `SELECT id, amount FROM hold WHERE account_id = ANY ($1::uuid[]) AND id = ANY ($2::uuid[])`;

export const extensionStatement: LaneStatement<ExtensionRequest, Extension> = {
  name: "extension",
  letter: "e",
  // The stream runs on what is held already; behind that its bytes wait.
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
  // A member without a row has no hold any more: somebody has resolved it.
  outcomes: (rows, members) =>
    memberRows(rows, members).map((row) => (row === undefined ? { outcome: "gone" } : extensionOf(row))),
  recall: (members) => ({
    name: "recall_amounts",
    text: RECALL,
    values: columnsOf(members.map(({ accountId, requestId }) => [accountId, requestId])),
  }),
  // A part that was granted is not told from what was held before, so it is asked for again: what is told is the whole.
  recalled: (rows: TextRows, members) => {
    const held = new Map(rows.map(([id, amount]) => [id, BigInt(amount ?? 0)]));
    return members.map(({ requestId, amount: wanted }): Extension | undefined => {
      const amount = held.get(requestId);
      return amount === undefined || amount < wanted ? undefined : { outcome: "granted", amount };
    });
  },
  missing: () => new InvariantError("an extension decides on each of its members"),
};

function extensionOf({ outcome, amount, other }: MemberRow): Extension {
  if (outcome === "granted") return { outcome, amount };
  if (outcome === "refused") return { outcome, amount, othersHold: other > 0n };
  throw new InvariantError(`an extension has a known outcome, not ${outcome}`);
}
