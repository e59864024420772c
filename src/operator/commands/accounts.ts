// What operators do to a customer's account: credits, corrections, freezing and limits. Each command is one transaction with its line of
// operator_action; one that changes nothing leaves none. A command has the name of its rule, which is called under the name of its module.

import type { PoolClient } from "pg";
import { endSessionsOfAccount } from "../../identity/end-sessions.ts";
import type { AccountChange } from "../audit-log/account-changes.ts";
import { withAuditLog, type OperatorContext } from "../audit-log/operator-actions.ts";
import { withRetry, withTransaction } from "../../database/transactions.ts";
import { ValidationError } from "../../kernel/errors.ts";
import { formatMoney, idr } from "../../kernel/money.ts";
import * as accountLimits from "../../ledger/account-limits.ts";
import type { ChangedLimits } from "../../ledger/account-limits.ts";
import { changeBudgetZone, type ChangedBudgetZone, requireBudgetZone, zoneFacts } from "../../keys/budget-zone.ts";
import { lockAccount } from "../../ledger/account-lock.ts";
import { creditOnce } from "../../ledger/credits.ts";
import { debitOnce } from "../../ledger/debits.ts";
import * as creditNotes from "../../ledger/credit-note.ts";
import type { CreditNote, WrittenNote } from "../../ledger/credit-note.ts";
import type { PostedMove } from "../../ledger/reference-lock.ts";
import { isPosted } from "../../ledger/postings.ts";
import { systemAccounts } from "../../ledger/system-accounts.ts";

/** The most of one command, in micro-rupiah; more is a typing error: a thousand billion rupiah. */
export const MAX_AMOUNT = 10n ** 12n * 10n ** 6n;
/** The most requests of an account at once that can be allowed. */
export const MAX_OPEN_REQUESTS = 1_000_000;

/** Money in or out by hand. `reference` names the command: the same one is carried out once, for ever. */
export type MoneyCommand = {
  readonly accountId: string;
  /** Micro-rupiah. */
  readonly amount: bigint;
  readonly reason: string;
  readonly reference: string;
};

/** Puts rupiah on an account. Errors: as creditOnce; ValidationError when it is too much. */
export async function creditAccount(by: OperatorContext, command: MoneyCommand): Promise<PostedMove> {
  requireBounded(command.amount);
  const { accountId, amount, reason, reference } = command;
  return recorded(by, { action: "account credit", inAccount: "account.credited", command, reason }, (client) =>
    creditOnce(client, {
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
 * creditOnce and debitOnce; ValidationError when it is zero or too much.
 */
export async function adjustAccount(by: OperatorContext, command: MoneyCommand): Promise<PostedMove> {
  const { accountId, amount, reason } = command;
  const size = amount < 0n ? -amount : amount;
  requireBounded(size);
  return recorded(by, { action: "account adjust", inAccount: "account.adjusted", command, reason }, async (client) => {
    await lockAccount(client, accountId);
    const reference = await adjustmentReference(client, command.reference);
    const posting = { accountId, amount: size, reason: ADJUSTMENT, note: reason, reference };
    return amount > 0n
      ? creditOnce(client, { ...posting, from: systemAccounts.operatorAdjustments })
      : debitOnce(client, { ...posting, to: systemAccounts.operatorAdjustments });
  });
}

const ADJUSTMENT = "operator_adjustment";

/**
 * The reference under which a correction of that name is posted, behind the lock of its account. Credits and corrections have separate
 * names: the key of one does not count for the other. Until 2026-11-22 they shared them, so a repeated command from that time means
 * the one that is posted.
 */
async function adjustmentReference(client: PoolClient, name: string): Promise<string> {
  const shared = `operator:${name}`;
  return (await isPosted(client, { reference: shared, reason: ADJUSTMENT })) ? shared : `adjustment:${name}`;
}

function recorded(
  by: OperatorContext,
  { action, inAccount, command, reason }: { action: string; inAccount: string; command: MoneyCommand; reason: string },
  work: (client: PoolClient) => Promise<PostedMove>,
): Promise<PostedMove> {
  const { accountId } = command;
  const amount = formatMoney(idr(command.amount));
  return withAuditLog(by, work, ({ isNew, postingId }) => {
    if (!isNew) return null;
    const change = { accountId, action: inAccount, subject: postingId, facts: { amount, currencyCode: "IDR" } };
    return { action, subject: accountId, reason, facts: { postingId, amount }, inAccount: change };
  });
}

function requireBounded(amount: bigint): void {
  if (amount > 0n && amount <= MAX_AMOUNT) return;
  const message = `must not be 0, and at most ${formatMoney(idr(MAX_AMOUNT))}`;
  throw new ValidationError([{ field: "amount", rule: "amount.range", message }]);
}

/** Gives back what a request was charged. Errors: as creditNotes.creditUsage. */
export function creditUsage(by: OperatorContext, command: CreditNote): Promise<WrittenNote> {
  return withAuditLog(
    by,
    (client) => creditNotes.creditUsage(client, command),
    ({ isNew, postingId, accountId, ...note }) => {
      if (!isNew) return null;
      const amount = formatMoney(idr(note.amount));
      const facts = { amount, currencyCode: "IDR" };
      return {
        action: "usage credit",
        subject: command.requestId,
        reason: command.note,
        facts: { postingId, amount },
        inAccount: { accountId, action: "usage.credited", subject: command.requestId, facts },
      };
    },
  );
}

/** The account, and the reason where one was given. */
type AccountCommand = { readonly accountId: string; readonly reason: string | null };

/** Refuses an account's new requests, and ends the sessions of its person. Errors: NotFound. */
export async function freezeAccount(by: OperatorContext, command: AccountCommand): Promise<ChangedLimits> {
  const { people } = by;
  const frozen = await changeLimits(
    by,
    { action: "account freeze", inAccount: "account.frozen", command },
    async (client) => {
      const changed = await accountLimits.freezeAccount(client, command.accountId);
      if (changed.isChanged && people === undefined) await endSessionsOfAccount(client, command.accountId);
      return changed;
    },
  );
  // Sessions of another database end behind the freezing. Repeated, the command ends those that a failure has left.
  if (people !== undefined)
    await withRetry(() => withTransaction(people, (client) => endSessionsOfAccount(client, command.accountId)));
  return frozen;
}

/** Admits the account's requests again. Errors: NotFound. */
export function unfreezeAccount(by: OperatorContext, command: AccountCommand): Promise<ChangedLimits> {
  return changeLimits(by, { action: "account unfreeze", inAccount: "account.unfrozen", command }, (client) =>
    accountLimits.unfreezeAccount(client, command.accountId),
  );
}

/** Bounds how many requests run at once; 0 takes the bound away. Errors: NotFound. */
export function limitAccount(
  by: OperatorContext,
  command: AccountCommand & { readonly most: number },
): Promise<ChangedLimits> {
  const { accountId, most } = command;
  return changeLimits(
    by,
    { action: "account limit", inAccount: "account.limited", command, facts: { maxOpenRequests: most } },
    (client) => accountLimits.limitOpenRequests(client, { accountId, most }),
  );
}

function changeLimits(
  by: OperatorContext,
  {
    action,
    inAccount,
    command,
    facts = {},
  }: { action: string; inAccount: string; command: AccountCommand; facts?: Readonly<Record<string, number>> },
  change: (client: PoolClient) => Promise<ChangedLimits>,
): Promise<ChangedLimits> {
  const { accountId, reason } = command;
  const shown: AccountChange = { accountId, action: inAccount, subject: null, facts };
  return withAuditLog(by, change, ({ isChanged }) =>
    isChanged ? { action, subject: accountId, reason, facts, inAccount: shown } : null,
  );
}

/** Sets the zone in whose days and months an account's budgets are counted. Errors: NotFound, ValidationError. */
export async function setBudgetZone(
  by: OperatorContext,
  { accountId, reason, timeZone: named }: AccountCommand & { readonly timeZone: string },
): Promise<ChangedBudgetZone> {
  const timeZone = await requireBudgetZone(by.within ?? by.database.pool, named);
  return withAuditLog(
    by,
    (client) => changeBudgetZone(client, { accountId, timeZone }),
    (changed) => {
      if (changed.before === timeZone) return null;
      const facts = zoneFacts(changed);
      const inAccount = { accountId, action: "account.budget_zone_set", subject: null, facts };
      return { action: "account update", subject: accountId, reason, facts, inAccount };
    },
  );
}

/** Counts an account's open requests again, where the audit found the count wrong. Errors: NotFound. */
export function recountAccount(
  by: OperatorContext,
  { accountId, reason }: AccountCommand,
): ReturnType<typeof accountLimits.recountOpenRequests> {
  return withAuditLog(
    by,
    (client) => accountLimits.recountOpenRequests(client, accountId),
    ({ isChanged, was, openRequests }) =>
      isChanged
        ? { action: "account recount", subject: accountId, reason, facts: { was, is: openRequests }, inAccount: null }
        : null,
  );
}
