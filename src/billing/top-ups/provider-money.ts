// What of a payment is not the customer's: the fee that the provider keeps, and what the payer paid above the order. Both are
// posted, so that our books agree with the provider's statement. Every posting is made behind the lock of the
// top-up and under a reference of its own, so a provider may be asked any number of times.

import type { PoolClient } from "pg";
import { NotFound, ValidationError } from "../../kernel/errors.ts";
import { uuidv7 } from "../../kernel/ids.ts";
import { invariant } from "../../kernel/invariant.ts";
import { IDR } from "../../kernel/money.ts";
import { claimReference, insertPostings, isPostedInGroup } from "../../ledger/postings.ts";
import { systemAccounts } from "../../ledger/system-accounts.ts";
import type { PaymentFacts } from "../payments/payment-provider.ts";
import { isCredited } from "./states.ts";
import { lockTopUp } from "./store.ts";
import { paidAmountOf, type TopUp } from "./top-up.ts";

const { providerClearing, providerFees, overpayments } = systemAccounts;
const FEE = "provider_fee";

/** Posts the fee of a credited top-up and what was paid above it, each once. The top-up is locked. */
export async function postProviderMoney(
  client: PoolClient,
  topUp: Pick<TopUp, "topUpId" | "accountId" | "amount" | "tax">,
  { amount: paid, givenBack, fee = null }: PaymentFacts,
): Promise<void> {
  const { topUpId, accountId } = topUp;
  const ordered = paidAmountOf(topUp);
  const above = (amount: bigint | null): bigint => (amount !== null && amount > ordered ? amount - ordered : 0n);
  const overpaid = { accountId, groupId: topUpId, asset: IDR, reference: `top-up:${topUpId}:overpaid` };
  const returned = least(above(givenBack), above(paid));
  const postings = [
    { ...overpaid, debit: providerClearing, credit: overpayments, amount: above(paid), reason: "overpayment" },
    {
      ...overpaid,
      debit: overpayments,
      credit: providerClearing,
      amount: returned,
      reason: "overpayment_returned",
      reference: `${overpaid.reference}-returned`,
    },
  ].filter(({ amount }) => amount > 0n);
  if (postings.length > 0)
    await insertPostings(
      client,
      postings.map((posting) => ({ id: uuidv7(), ...posting })),
    );
  if (fee === null || fee === 0n) return;
  // An operator may have posted it by hand before the provider reported it.
  if (await isPostedInGroup(client, { groupId: topUpId, reason: FEE })) return;
  await insertPostings(client, [feePosting({ accountId, topUpId, amount: fee, reference: `top-up:${topUpId}:fee` })]);
}

/** A fee that an operator has read on the provider's statement. Money is micro-rupiah. */
export type ProviderFee = {
  readonly topUpId: string;
  readonly amount: bigint;
  /** The same reference posts once, for ever. */
  readonly reference: string;
};

/** A fee as it was posted, now or before under the same reference. */
export type PostedFee = { readonly postingId: string; readonly topUp: TopUp; readonly isNew: boolean };

/**
 * Posts a fee of a top-up by hand, inside the caller's transaction. Errors: NotFound; ValidationError where the top-up was never
 * paid, the amount is not above zero or above the payment's, or the reference was used for something else.
 */
export async function postProviderFee(client: PoolClient, order: ProviderFee): Promise<PostedFee> {
  const topUp = await lockTopUp(client, order.topUpId);
  if (topUp === null) throw new NotFound("There is no such top-up.");
  if (!isCredited(topUp.state)) throw invalid("top_up", "is not paid, so nothing was kept of it");
  if (order.amount <= 0n || order.amount > paidAmountOf(topUp))
    throw invalid("amount", "must be above 0, and at most what was paid");
  const reference = `provider-fee:${order.reference}`;
  const first = await claimReference(client, reference);
  if (first !== undefined) {
    if (first.groupId !== topUp.topUpId || first.amount !== order.amount) {
      throw invalid("reference", "was used for another fee; a further one needs a reference of its own");
    }
    return { postingId: first.id, topUp, isNew: false };
  }
  const posting = feePosting({ ...topUp, amount: order.amount, reference });
  await insertPostings(client, [posting]);
  return { postingId: posting.id, topUp, isNew: true };
}

function feePosting({ accountId, topUpId, amount, reference }: ProviderFee & Pick<TopUp, "accountId">) {
  invariant(amount > 0n, "a fee is greater than zero");
  const accounts = { debit: providerFees, credit: providerClearing };
  return { id: uuidv7(), accountId, groupId: topUpId, asset: IDR, ...accounts, amount, reason: FEE, reference };
}

function least(a: bigint, b: bigint): bigint {
  return a < b ? a : b;
}

function invalid(field: string, message: string): ValidationError {
  return new ValidationError([{ field, rule: `provider_fee.${field}`, message }]);
}
