// Orders of operators about a customer's account: credits, corrections, freezing and limits. Each order is one transaction with its line of operator_action; one that changes nothing leaves none.

import type { PoolClient } from "pg";
import { endSessionsOfAccount } from "../../identity/end-sessions.ts";
import { withAuditLog, type OrderedBy } from "../audit-log/operator-actions.ts";
import { ValidationError } from "../../kernel/errors.ts";
import { formatMoney, idr } from "../../kernel/money.ts";
import {
  type ChangedLimits,
  freezeAccount,
  limitOpenRequests,
  recountOpenRequests,
  unfreezeAccount,
} from "../../ledger/account-limits.ts";
import { lockAccount } from "../../ledger/account-lock.ts";
import { creditAsOrdered } from "../../ledger/credits.ts";
import { debitAsOrdered } from "../../ledger/debits.ts";
import { type CreditNote, creditUsage, type WrittenNote } from "../../ledger/credit-note.ts";
import type { PostedMove } from "../../ledger/order-lock.ts";
import { isPosted } from "../../ledger/postings.ts";
import { systemAccounts } from "../../ledger/system-accounts.ts";

/** The most of one order, in micro-rupiah; more is a typing error: a thousand billion rupiah. */
export const MAX_ORDER = 10n ** 12n * 10n ** 6n;
/** The most requests of an account at once that can be allowed. */
export const MAX_OPEN_REQUESTS = 1_000_000;

/** Money in or out by hand. `reference` names the order: the same one is carried out once, for ever. */
export type MoneyOrder = {
  readonly accountId: string;
  /** Micro-rupiah. */
  readonly amount: bigint;
  readonly reason: string;
  readonly reference: string;
};

/** Puts rupiah on an account. Errors: as creditAsOrdered; ValidationError when it is too much. */
export async function orderCredit(by: OrderedBy, order: MoneyOrder): Promise<PostedMove> {
  requireBounded(order.amount);
  const { accountId, amount, reason, reference } = order;
  return recorded(by, { action: "account credit", order, reason }, (client) =>
    creditAsOrdered(client, {
      accountId,
      amount,
      from: systemAccounts.operatorAdjustments,
      reason: "operator_credit",
      note: reason,
      reference: `operator:${reference}`,
    }),
  );
}

/**
 * Corrects an account: a positive amount comes on it, a negative one off it, never below what is available. Errors: as
 * creditAsOrdered and debitAsOrdered; ValidationError when it is zero or too much.
 */
export async function orderAdjustment(by: OrderedBy, order: MoneyOrder): Promise<PostedMove> {
  const { accountId, amount, reason } = order;
  const size = amount < 0n ? -amount : amount;
  requireBounded(size);
  return recorded(by, { action: "account adjust", order, reason }, async (client) => {
    await lockAccount(client, accountId);
    const reference = await adjustmentReference(client, order.reference);
    const posting = { accountId, amount: size, reason: ADJUSTMENT, note: reason, reference };
    return amount > 0n
      ? creditAsOrdered(client, { ...posting, from: systemAccounts.operatorAdjustments })
      : debitAsOrdered(client, { ...posting, to: systemAccounts.operatorAdjustments });
  });
}

const ADJUSTMENT = "operator_adjustment";

/**
 * The reference under which a correction of that name is posted, behind the lock of its account. Credits and corrections have separate
 * names: the key of one does not count for the other. Until 2026-11-22 they shared them, so a repeated order from that time means
 * the one that is posted.
 */
async function adjustmentReference(client: PoolClient, name: string): Promise<string> {
  const shared = `operator:${name}`;
  return (await isPosted(client, { reference: shared, reason: ADJUSTMENT })) ? shared : `adjustment:${name}`;
}

function recorded(
  by: OrderedBy,
  { action, order, reason }: { action: string; order: MoneyOrder; reason: string },
  work: (client: PoolClient) => Promise<PostedMove>,
): Promise<PostedMove> {
  return withAuditLog(by, work, ({ isNew, postingId }) =>
    isNew
      ? { action, subject: order.accountId, reason, facts: { postingId, amount: formatMoney(idr(order.amount)) } }
      : null,
  );
}

function requireBounded(amount: bigint): void {
  if (amount > 0n && amount <= MAX_ORDER) return;
  const message = `must not be 0, and at most ${formatMoney(idr(MAX_ORDER))}`;
  throw new ValidationError([{ field: "amount", rule: "amount.range", message }]);
}

/** Gives back what a request was charged. Errors: as creditUsage. */
export function orderCreditNote(by: OrderedBy, order: CreditNote): Promise<WrittenNote> {
  return withAuditLog(
    by,
    (client) => creditUsage(client, order),
    ({ isNew, postingId, amount }) =>
      isNew
        ? {
            action: "usage credit",
            subject: order.requestId,
            reason: order.note,
            facts: { postingId, amount: formatMoney(idr(amount)) },
          }
        : null,
  );
}

/** The account, and the reason where one was given. */
type AccountOrder = { readonly accountId: string; readonly reason: string | null };

/** Refuses an account's new requests, and ends the sessions of its person. Errors: NotFound. */
export function orderFreeze(by: OrderedBy, order: AccountOrder): Promise<ChangedLimits> {
  return changeLimits(by, { action: "account freeze", order }, async (client) => {
    const changed = await freezeAccount(client, order.accountId);
    if (changed.isChanged) await endSessionsOfAccount(client, order.accountId);
    return changed;
  });
}

/** Admits the account's requests again. Errors: NotFound. */
export function orderUnfreeze(by: OrderedBy, order: AccountOrder): Promise<ChangedLimits> {
  return changeLimits(by, { action: "account unfreeze", order }, (client) => unfreezeAccount(client, order.accountId));
}

/** Bounds how many requests run at once; 0 takes the bound away. Errors: NotFound. */
export function orderLimit(by: OrderedBy, order: AccountOrder & { readonly most: number }): Promise<ChangedLimits> {
  const { accountId, most } = order;
  return changeLimits(by, { action: "account limit", order, facts: { maxOpenRequests: most } }, (client) =>
    limitOpenRequests(client, { accountId, most }),
  );
}

function changeLimits(
  by: OrderedBy,
  { action, order, facts = {} }: { action: string; order: AccountOrder; facts?: Readonly<Record<string, number>> },
  change: (client: PoolClient) => Promise<ChangedLimits>,
): Promise<ChangedLimits> {
  const { accountId, reason } = order;
  return withAuditLog(by, change, ({ isChanged }) =>
    isChanged ? { action, subject: accountId, reason, facts } : null,
  );
}

/** Counts an account's open requests again, where the audit found the count wrong. Errors: NotFound. */
export function orderRecount(
  by: OrderedBy,
  { accountId, reason }: AccountOrder,
): ReturnType<typeof recountOpenRequests> {
  return withAuditLog(
    by,
    (client) => recountOpenRequests(client, accountId),
    ({ isChanged, was, openRequests }) =>
      isChanged ? { action: "account recount", subject: accountId, reason, facts: { was, is: openRequests } } : null,
  );
}
