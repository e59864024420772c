// What we bear of a transfer that was made again behind a restore, where its fund did not have the total; and how it comes back where
// the transfer is not paid after all.

import type { PoolClient } from "pg";
import { debitFund, lockFund } from "../../ledger/funds.ts";
import { claimReference, isPosted } from "../../ledger/postings.ts";
import { systemAccounts } from "../../ledger/system-accounts.ts";
import { invariant } from "../../kernel/invariant.ts";
import type { Asset } from "../../kernel/money.ts";

/** The reasons of both postings. */
export const UNCOVERED = "transfer_uncovered";
const UNCOVERED_BACK = "transfer_uncovered_back";

/** The name of the posting by which we bear it. */
export function uncoveredReference(transferId: string): string {
  return `transfer:${transferId}:uncovered`;
}

/** Takes back what we bore of a transfer whose hold was just released: otherwise its merchant could spend it. */
export async function takeUncoveredBack(
  client: PoolClient,
  {
    transferId,
    merchantId,
    asset,
  }: { readonly transferId: string; readonly merchantId: string; readonly asset: Asset },
): Promise<void> {
  const reference = uncoveredReference(transferId);
  if (!(await isPosted(client, { reference, reason: UNCOVERED }))) return;
  const fund = await lockFund(client, { merchantId, asset });
  const borne = await claimReference(client, reference);
  invariant(fund !== undefined && borne?.credit === fund.id, "what we bore of a transfer is on its fund");
  await debitFund(client, {
    fund,
    amount: borne.amount,
    to: systemAccounts.operatorAdjustments,
    reason: UNCOVERED_BACK,
    reference: `${reference}_back`,
  });
}
