// Extension: a hold grows while its stream runs, and with it is recorded how far the stream has come, which is what recovery
// charges should the process die. What is wanted is told as the whole that is to be held, so that a replay changes nothing.
// It asks neither for the key nor whether the account is frozen: what runs is finished.
//
// A group grants all that is wanted or answers `alone`; only a lone statement may grant less or refuse.

import { InvariantError } from "../kernel/invariant.ts";
import { columnsOf, textsOf } from "./columns.ts";
import type { LaneStatement } from "./lane-statement.ts";
import type { Extension, ExtensionRequest } from "./ledger.ts";
import type { TextRows } from "./statement-pipeline.ts";

/** What one run of the statement says. `alone`: ask again, alone. */
export type ExtensionDecision = Extension | { readonly outcome: "alone" };

// $1 account, $2 request, $3 amount wanted in all, $4 least amount in all, $5 and $6 progress.
const LONE = `
WITH acc AS MATERIALIZED (
  SELECT a.id, a.posted, a.held FROM account a WHERE a.id = $1::uuid FOR NO KEY UPDATE
), ext AS MATERIALIZED (
  SELECT h.account_id, h.id, h.amount, h.progress_input_tokens, h.progress_output_tokens,
         a.posted - a.held AS available, a.held - h.amount AS held_by_others
  FROM acc a JOIN hold h ON h.account_id = a.id AND h.account_id = $1::uuid AND h.id = $2::uuid FOR NO KEY UPDATE OF h
), decided AS MATERIALIZED (
  SELECT asked.*, CASE WHEN granted THEN least(greatest($3::bigint - amount, 0), available) ELSE 0 END AS more
  FROM (SELECT ext.*, amount + available >= $4::bigint AS granted FROM ext) asked
), grown AS (
  UPDATE hold h SET amount = d.amount + d.more,
                    progress_input_tokens = greatest(d.progress_input_tokens, $5::int),
                    progress_output_tokens = greatest(d.progress_output_tokens, $6::int)
  FROM decided d
  WHERE h.account_id = d.account_id AND h.id = d.id AND h.account_id = $1::uuid AND h.id = $2::uuid
  RETURNING h.account_id, d.more
), upd AS (
  UPDATE account a SET posted = l.posted, held = l.held + g.more
  FROM grown g, acc l WHERE g.more > 0 AND l.id = g.account_id AND a.id = l.id AND a.id = $1::uuid
)
SELECT 1 AS ord, CASE WHEN granted THEN 'granted' ELSE 'refused' END AS decision, amount + more AS amount, held_by_others
FROM decided`;

// $1 accounts, $2 requests, $3 amounts wanted in all, $4 and $5 progress.
const GROUP = `
WITH req AS MATERIALIZED (
  SELECT * FROM unnest($1::uuid[], $2::uuid[], $3::bigint[], $4::int[], $5::int[])
  WITH ORDINALITY AS r(account_id, id, want, input_tokens, output_tokens, ord)
), acc AS MATERIALIZED (
  SELECT a.id, a.posted, a.held FROM account a WHERE a.id = ANY ($1::uuid[]) ORDER BY a.id FOR NO KEY UPDATE
), ext AS MATERIALIZED (
  SELECT h.account_id, h.id, h.amount, h.progress_input_tokens, h.progress_output_tokens
  FROM hold h
  WHERE h.account_id = ANY ($1::uuid[]) AND h.id = ANY ($2::uuid[]) AND h.account_id = ANY (ARRAY(SELECT id FROM acc))
  ORDER BY h.account_id, h.id FOR NO KEY UPDATE
), wanted AS MATERIALIZED (
  SELECT r.*, a.posted - a.held AS available, e.amount, greatest(r.want - e.amount, 0) AS more,
         greatest(e.progress_input_tokens, r.input_tokens) AS progress_input,
         greatest(e.progress_output_tokens, r.output_tokens) AS progress_output
  FROM req r JOIN acc a ON a.id = r.account_id JOIN ext e ON e.account_id = r.account_id AND e.id = r.id
), decided AS MATERIALIZED (
  SELECT wanted.*, CASE WHEN sum(more) OVER (PARTITION BY account_id ORDER BY ord) <= available THEN 'granted' ELSE 'alone' END AS decision
  FROM wanted
), grown AS (
  UPDATE hold h SET amount = d.amount + d.more, progress_input_tokens = d.progress_input, progress_output_tokens = d.progress_output
  FROM decided d
  WHERE d.decision = 'granted' AND h.account_id = d.account_id AND h.id = d.id
    AND h.account_id = ANY ($1::uuid[]) AND h.id = ANY ($2::uuid[])
  RETURNING h.account_id, d.more
), upd AS (
  UPDATE account a SET posted = l.posted, held = l.held + g.more
  FROM (SELECT account_id, sum(more)::bigint AS more FROM grown GROUP BY account_id) g JOIN acc l ON l.id = g.account_id
  WHERE g.more > 0 AND a.id = g.account_id AND a.id = ANY ($1::uuid[])
)
SELECT ord::int, decision, amount + more AS amount, 0 AS held_by_others FROM decided`;

// $1 accounts, $2 requests: what is held for these now.
const RECALL = `SELECT id, amount FROM hold WHERE account_id = ANY ($1::uuid[]) AND id = ANY ($2::uuid[])`;

export const extensionStatement: LaneStatement<ExtensionRequest, ExtensionDecision> = {
  name: "extension",
  // The stream runs on what is held already; behind that its bytes wait.
  awayPatienceMs: 30_000,
  lockPatienceMs: 30_000,
  maxAttempts: 50,
  lone: (member) => ({
    name: "extend",
    text: LONE,
    values: textsOf([
      member.accountId,
      member.requestId,
      member.amount,
      member.leastAmount,
      member.inputTokens,
      member.outputTokens,
    ]),
  }),
  group: (members) => ({
    name: "extend_group",
    text: GROUP,
    values: columnsOf(
      members.map((member) => [
        member.accountId,
        member.requestId,
        member.amount,
        member.inputTokens,
        member.outputTokens,
      ]),
    ),
  }),
  // A member without a row has no hold any more: somebody has resolved it.
  outcomes: (rows, members) => {
    const decisions = members.map((): ExtensionDecision => ({ outcome: "gone" }));
    for (const [ordinal, ...columns] of rows) decisions[Number(ordinal) - 1] = decisionOf(columns);
    return decisions;
  },
  recall: (members) => ({
    name: "recall_amounts",
    text: RECALL,
    values: columnsOf(members.map(({ accountId, requestId }) => [accountId, requestId])),
  }),
  // A part that was granted is not told from what was held before, so it is asked for again: what is told is the whole.
  recalled: (rows: TextRows, members) => {
    const held = new Map(rows.map(([id, amount]) => [id, BigInt(amount ?? 0)]));
    return members.map(({ requestId, amount: wanted }): ExtensionDecision | undefined => {
      const amount = held.get(requestId);
      return amount === undefined || amount < wanted ? undefined : { outcome: "granted", amount };
    });
  },
  missing: () => new InvariantError("an extension decides on each of its members"),
};

function decisionOf(row: readonly (string | null)[]): ExtensionDecision {
  const [decision, amount, heldByOthers] = row;
  const outcome = String(decision);
  switch (outcome) {
    case "granted":
      return { outcome, amount: BigInt(amount ?? 0) };
    case "refused":
      return { outcome, amount: BigInt(amount ?? 0), othersHold: BigInt(heldByOthers ?? 0) > 0n };
    case "alone":
      return { outcome };
    default:
      throw new InvariantError(`an extension has a known outcome, not ${outcome}`);
  }
}
