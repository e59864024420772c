// Debits: money that is taken off a customer's account outside the request path. Held money is never taken. An operator's debit
// takes the whole amount or nothing, and never owed money. A payment that the provider gave back takes all that is not held, owed
// money too: money taken here can no longer be collected, so the debt comes out the same.

import type { PoolClient } from "pg";
import { InsufficientBalance } from "../kernel/errors.ts";
import { uuidv7 } from "../kernel/ids.ts";
import { invariant } from "../kernel/invariant.ts";
import { idr } from "../kernel/money.ts";
import { availableOf, lockAccount, type LockedAccount } from "./account-lock.ts";
import { lockForReference, type PostedMove } from "./reference-lock.ts";

// The account is locked. $9: the whole amount or nothing. A reference that the account has used posts nothing either.
const DEBIT = `
WITH acc AS MATERIALIZED (
  SELECT a.id, a.posted, a.held, a.owed FROM account a WHERE a.id = $1::uuid
), ins AS (
  INSERT INTO posting (account_id, id, group_id, asset, debit, credit, amount, reason, reference, note)
  SELECT a.id, $2::uuid, $3::uuid, 'IDR/6', a.id, $4::uuid, least($5::bigint, a.posted - a.held), $6::text, $7::text, $8::text
  FROM acc a
  WHERE CASE WHEN $9::boolean THEN a.posted - a.held - a.owed >= $5::bigint ELSE a.posted > a.held END
  ON CONFLICT (account_id, reference) WHERE reference IS NOT NULL DO NOTHING RETURNING amount::bigint AS amount
), upd AS (
  UPDATE account a SET posted = l.posted - i.amount, held = l.held FROM acc l, ins i WHERE a.id = l.id AND a.id = $1::uuid
)
SELECT amount AS taken FROM ins`;

type Debit = {
  readonly accountId: string;
  /** Micro-rupiah, greater than zero. */
  readonly amount: bigint;
  /** The ledger account the money goes to. */
  readonly to: string;
  /** The reason, as a word such as `operator_adjustment`. */
  readonly reason: string;
  /** The name of the event: the same reference debits an account once, for ever. */
  readonly reference: string;
};

/** An operator's command to take money off an account. */
export type DebitWithNote = Debit & { readonly note: string };

/** A debit that takes at most the unheld money. */
export type DebitOfAvailable = Debit & {
  /** The event of the posting. */
  readonly groupId: string;
};

/**
 * Takes money off an account for an operator: all of it or nothing, and never held or owed money. A repeated command returns its
 * first posting. Errors: NotFound; InsufficientBalance; ValidationError when the reference was used for something else.
 */
export async function debitOnce(client: PoolClient, debit: DebitWithNote): Promise<PostedMove> {
  const { accountId, amount } = debit;
  const { done } = await lockForReference(client, { ...debit, side: "debit" });
  if (done !== undefined) return done;
  const postingId = uuidv7();
  const { taken, before } = await post(client, { ...debit, postingId, groupId: postingId, isWhole: true });
  if (taken === 0n) throw new InsufficientBalance({ available: idr(availableOf(before)), needed: idr(amount) });
  const available = availableOf({ ...before, posted: before.posted - amount });
  return { postingId, accountId, amount, available, isNew: true };
}

/** Takes the unheld part of an amount. Returns that part; 0 also where the reference was used. Errors: NotFound. */
export async function debitAvailable(client: PoolClient, debit: DebitOfAvailable): Promise<bigint> {
  const { taken } = await post(client, { ...debit, note: null, postingId: uuidv7(), isWhole: false });
  return taken;
}

type DebitPosting = DebitOfAvailable & {
  readonly postingId: string;
  readonly note: string | null;
  readonly isWhole: boolean;
};

type Debited = { readonly taken: bigint; readonly before: LockedAccount };

async function post(client: PoolClient, debit: DebitPosting): Promise<Debited> {
  const { accountId, postingId, groupId, to, amount, reason, reference, note, isWhole } = debit;
  invariant(amount > 0n, "a debit is greater than zero");
  const before = await lockAccount(client, accountId);
  const values = [accountId, postingId, groupId, to, amount, reason, reference, note, isWhole];
  const { rows } = await client.query<{ taken: bigint }>(DEBIT, values);
  return { taken: rows[0]?.taken ?? 0n, before };
}
