// Taking money off a customer's account outside the request path: what a payment provider has given back, what is owed from
// before. Never what is held: the rest is the caller's to account for. What the account owes already does not protect its money:
// whatever is taken here is no longer to be collected there, and what an account owes in all comes out the same.

import type { PoolClient } from "pg";
import { waitForLocks } from "../database/transactions.ts";
import { NotFound } from "../kernel/errors.ts";
import { uuidv7 } from "../kernel/ids.ts";
import { invariant } from "../kernel/invariant.ts";

const DEBIT = `
WITH acc AS MATERIALIZED (
  SELECT a.id, a.posted, a.held FROM account a WHERE a.id = $1::uuid FOR NO KEY UPDATE
), ins AS (
  INSERT INTO posting (account_id, id, group_id, asset, debit, credit, amount, reason, reference)
  SELECT a.id, $2::uuid, $3::uuid, 'IDR/6', a.id, $4::uuid, least($5::bigint, a.posted - a.held), $6::text, $7::text
  FROM acc a WHERE a.posted > a.held
  ON CONFLICT (account_id, reference) WHERE reference IS NOT NULL DO NOTHING RETURNING amount::bigint AS amount
), upd AS (
  UPDATE account a SET posted = l.posted - i.amount, held = l.held FROM acc l, ins i WHERE a.id = l.id AND a.id = $1::uuid
)
SELECT coalesce((SELECT amount FROM ins), 0) AS taken FROM acc`;

const LOCK = `SELECT FROM account WHERE id = $1::uuid FOR NO KEY UPDATE`;

export type Debit = {
  readonly accountId: string;
  /** Micro-rupiah to take at most, greater than zero. */
  readonly amount: bigint;
  /** The ledger account the money goes to. */
  readonly to: string;
  /** Why, in a word such as `top_up_refund`. */
  readonly reason: string;
  /** The event's own name: the same reference debits once, for ever. */
  readonly reference: string;
  /** The event it belongs to. */
  readonly groupId: string;
};

/** Locks an account for the rest of the transaction, so that rows which hang on it can be decided on. Errors: NotFound. */
export async function lockAccount(client: PoolClient, accountId: string): Promise<void> {
  await waitForLocks(client);
  const { rowCount } = await client.query(LOCK, [accountId]);
  if (rowCount !== 1) throw new NotFound("There is no such account.");
}

/** Takes what is available of an amount, and says how much that was; 0 also where the reference was used. Errors: NotFound. */
export async function debitAvailable(client: PoolClient, debit: Debit): Promise<bigint> {
  const { accountId, amount, to, reason, reference, groupId } = debit;
  invariant(amount > 0n, "a debit is greater than zero");
  await waitForLocks(client);
  const values = [accountId, uuidv7(), groupId, to, amount, reason, reference];
  const { rows } = await client.query<{ taken: bigint }>(DEBIT, values);
  if (rows[0] === undefined) throw new NotFound("There is no such account.");
  return rows[0].taken;
}
