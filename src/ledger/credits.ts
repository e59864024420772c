// Credits: money that is put on a customer's account outside the request path. The same transaction collects the account's debt.

import type { PoolClient } from "pg";
import { LimitExceeded } from "../kernel/errors.ts";
import { uuidv7 } from "../kernel/ids.ts";
import { invariant } from "../kernel/invariant.ts";
import { idr } from "../kernel/money.ts";
import { rupiahText } from "../kernel/rupiah-text.ts";
import { availableOf, lockAccount } from "./account-lock.ts";
import { lockForReference, type PostedMove } from "./reference-lock.ts";

// The account is locked.
const CREDIT = `
WITH acc AS MATERIALIZED (
  SELECT a.id, a.posted, a.held FROM account a WHERE a.id = $1::uuid
), ins AS (
  INSERT INTO posting (account_id, id, group_id, asset, debit, credit, amount, reason, reference, note)
  SELECT a.id, $2::uuid, $3::uuid, 'IDR/6', $4::uuid, a.id, $5::bigint, $6::text, $7::text, $8::text FROM acc a
  ON CONFLICT (account_id, reference) WHERE reference IS NOT NULL DO NOTHING RETURNING id
), upd AS (
  UPDATE account a SET posted = l.posted + $5::bigint, held = l.held FROM acc l, ins WHERE a.id = l.id AND a.id = $1::uuid
)
SELECT id FROM ins`;
const COLLECT = `SELECT collect_owed($1::uuid, $2::uuid)`;
const REFERENCED = `SELECT id, amount FROM posting WHERE account_id = $1::uuid AND reference = $2::text`;
/** The largest balance of an account, nine thousand billion rupiah: a little less than its columns hold. */
const MAX_POSTED = 9_000_000_000_000_000_000n;

export type Credit = {
  readonly accountId: string;
  /** Micro-rupiah, greater than zero. */
  readonly amount: bigint;
  /** The ledger account the money comes from. */
  readonly from: string;
  /** The reason, as a word such as `operator_credit`. */
  readonly reason: string;
  /** The name of the event: the same reference credits an account once, for ever. */
  readonly reference?: string;
  readonly note?: string;
  /** The event of the posting. Absent: the posting is an event of its own. */
  readonly groupId?: string;
};

/**
 * Puts money on an account and collects its debt from that money. Returns the first posting if the reference was used before.
 * Errors: NotFound.
 */
export async function creditAccount(client: PoolClient, credit: Credit): Promise<PostedMove> {
  const { accountId, amount, from, reason, reference = null, note = null } = credit;
  invariant(amount > 0n, "a credit is greater than zero");
  const postingId = uuidv7();
  const groupId = credit.groupId ?? postingId;
  const before = await lockAccount(client, accountId);
  const values = [accountId, postingId, groupId, from, amount, reason, reference, note];
  const { rowCount } = await client.query(CREDIT, values);
  if (rowCount === 1) {
    if (before.owed > 0n) await client.query(COLLECT, [accountId, groupId]);
    const available = availableOf({ ...before, posted: before.posted + amount });
    return { postingId, accountId, amount, available, isNew: true };
  }
  const earlier = await client.query<{ id: string; amount: string }>(REFERENCED, [accountId, reference]);
  const [first] = earlier.rows;
  invariant(first !== undefined, "a credit that was not posted has been posted before");
  return { postingId: first.id, accountId, amount: BigInt(first.amount), available: availableOf(before), isNew: false };
}

/**
 * Credits an account for an operator. A repeated command returns its first posting; a different command with the same reference,
 * on any account, is refused. Errors: NotFound; LimitExceeded; ValidationError when the reference was used for something else.
 */
export async function creditOnce(
  client: PoolClient,
  credit: Credit & { readonly reference: string },
): Promise<PostedMove> {
  const { account, done } = await lockForReference(client, { ...credit, side: "credit" });
  if (done !== undefined) return done;
  if (account.posted + credit.amount > MAX_POSTED) {
    throw new LimitExceeded(`A balance is at most ${rupiahText(idr(MAX_POSTED))}.`);
  }
  return creditAccount(client, credit);
}
