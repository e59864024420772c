// The common part of operators' credits and debits: the lock of the account, then the lock of the reference.

import type { PoolClient } from "pg";
import { ValidationError } from "../kernel/errors.ts";
import { idr } from "../kernel/money.ts";
import { rupiahText } from "../kernel/rupiah-text.ts";
import { availableOf, lockAccount, type LockedAccount } from "./account-lock.ts";
import { claimReference, type TakenReference } from "./postings.ts";

/** The posting of a credit or debit, by this call or before under the same reference. Money is micro-rupiah. */
export type PostedMove = {
  readonly postingId: string;
  readonly accountId: string;
  readonly amount: bigint;
  /** The balance of the account that this call names. */
  readonly available: bigint;
  /** Whether this call posted it. */
  readonly isNew: boolean;
};

type Move = {
  readonly accountId: string;
  readonly amount: bigint;
  readonly reference: string;
  /** The account's side of the posting. */
  readonly side: "debit" | "credit";
};

/** Locks the account and then the reference. `done`: this command was carried out before. Errors: NotFound; ValidationError. */
export async function lockForReference(
  client: PoolClient,
  { accountId, amount, reference, side }: Move,
): Promise<{ account: LockedAccount; done: PostedMove | undefined }> {
  const account = await lockAccount(client, accountId);
  const first = await claimReference(client, reference);
  if (first === undefined) return { account, done: undefined };
  if (first[side] !== accountId || first.amount !== amount) throw usedForAnother(first);
  return { account, done: { postingId: first.id, accountId, amount, available: availableOf(account), isNew: false } };
}

function usedForAnother({ amount, accountId }: TakenReference): ValidationError {
  const message = `was used for ${rupiahText(idr(amount))} on account ${accountId}; a further order needs one of its own`;
  return new ValidationError([{ field: "reference", rule: "credit.reference", message }]);
}
