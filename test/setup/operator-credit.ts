// Money that an operator puts on an account, as the commands do it: the posting and its line in the operators' log.

import type { PoolClient } from "pg";
import { formatMoney, idr } from "../../src/kernel/money.ts";
import { type CreditNote, creditUsage, type WrittenNote } from "../../src/ledger/credit-note.ts";
import { creditAccount } from "../../src/ledger/credits.ts";
import type { PostedMove } from "../../src/ledger/reference-lock.ts";
import { systemAccounts } from "../../src/ledger/system-accounts.ts";
import { recordAction } from "../../src/operator/audit-log/operator-actions.ts";

type OperatorCredit = { readonly accountId: string; readonly amount: bigint; readonly reference?: string };

/** Puts micro-rupiah on an account inside the caller's transaction. */
export async function creditByOperator(client: PoolClient, credit: OperatorCredit): Promise<PostedMove> {
  const from = systemAccounts.operatorAdjustments;
  const moved = await creditAccount(client, { ...credit, from, reason: "operator_credit" });
  await recordMove(client, { action: "account credit", subject: credit.accountId, moved });
  return moved;
}

/** Gives the charge of a request back, inside the caller's transaction. */
export async function creditUsageByOperator(client: PoolClient, note: CreditNote): Promise<WrittenNote> {
  const moved = await creditUsage(client, note);
  await recordMove(client, { action: "usage credit", subject: note.requestId, moved });
  return moved;
}

type Move = {
  readonly action: string;
  readonly subject: string;
  readonly moved: Pick<PostedMove, "postingId" | "amount" | "isNew">;
};

async function recordMove(client: PoolClient, { action, subject, moved }: Move): Promise<void> {
  if (!moved.isNew) return;
  const facts = { postingId: moved.postingId, amount: formatMoney(idr(moved.amount)) };
  await recordAction(client, { operator: "test", action, subject, reason: "a test", facts });
}
