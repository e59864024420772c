// All data of one transfer: the order with its history, its ledger entries, and the attempts to carry it out.

import type { Pool } from "pg";
import type { Database } from "../../database/database.ts";
import { invariant } from "../../kernel/invariant.ts";
import type { Money } from "../../kernel/money.ts";
import { systemAccounts } from "../../ledger/system-accounts.ts";
import { OPEN_STATUSES } from "./transfer.ts";
import { readTransferPostings } from "./transfer-store.ts";
import { getTransfer, type TransferScope, type TransferWithHistory } from "./transfers.ts";

/** One transaction made to carry a transfer out. */
export type PayoutAttempt = {
  /** Empty: it was not signed. */
  readonly transactionHash: string;
  readonly state: "signed" | "unknown" | "broadcast" | "mined" | "confirmed" | "failed" | "replaced";
  /** Null on chains without one. */
  readonly nonce: bigint | null;
  readonly confirmations: number;
  /** Null: in no block. */
  readonly blockNumber: bigint | null;
  readonly createdAt: Date;
  /** The error in plain language; empty: there was none. */
  readonly problem: string;
};

/** The attempts to carry a transfer out, oldest first. */
export type ReadPayoutAttempts = (pool: Pick<Pool, "query">, transferId: string) => Promise<readonly PayoutAttempt[]>;

/** One line of a posting, as its account sees it. */
export type TransferEntry = {
  readonly postingId: string;
  readonly account: "merchant" | "revenue" | "payout_clearing" | "merchant_clearing" | "sandbox";
  /** Negative: the amount left the account. */
  readonly amount: Money;
  readonly reason: string;
  readonly postedAt: Date;
};

export type TransferStatement = TransferWithHistory & {
  readonly entries: readonly TransferEntry[];
  readonly attempts: readonly PayoutAttempt[];
  /** The amount that the merchant's fund holds for it. */
  readonly held: Money;
};

/** The statement of a transfer of the scope. Errors: NotFound. */
export async function readStatement(
  { database, payoutAttempts }: { database: Pick<Database, "pool">; payoutAttempts: ReadPayoutAttempts },
  scope: TransferScope,
  named: string,
): Promise<TransferStatement> {
  const { transfer, history } = await getTransfer(database, scope, named);
  // References are texts, so they are made of the id as the row has it.
  const { transferId } = transfer;
  const postings = await readTransferPostings(database.pool, transferId);
  const attempts = await payoutAttempts(database.pool, transferId);
  const isOpen = OPEN_STATUSES.some((status) => status === transfer.status);
  const { asset } = transfer.total;
  return {
    transfer,
    history,
    entries: postings.flatMap(({ id: postingId, debit, credit, amount, reason, postedAt }) => [
      { postingId, reason, postedAt, account: accountName(debit), amount: { units: -amount, asset } },
      { postingId, reason, postedAt, account: accountName(credit), amount: { units: amount, asset } },
    ]),
    attempts,
    held: { units: isOpen ? transfer.total.units : 0n, asset },
  };
}

const names = new Map<string, TransferEntry["account"]>([
  [systemAccounts.revenue, "revenue"],
  [systemAccounts.payoutClearing, "payout_clearing"],
  [systemAccounts.merchantClearing, "merchant_clearing"],
  [systemAccounts.sandbox, "sandbox"],
]);
const isSystem = (id: string): boolean => Object.values<string>(systemAccounts).includes(id);

function accountName(id: string): TransferEntry["account"] {
  const name = names.get(id);
  invariant(name !== undefined || !isSystem(id), "a transfer is posted to accounts that have a name here");
  return name ?? "merchant";
}
