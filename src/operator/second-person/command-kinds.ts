// The kinds of commands that can wait for a second operator: when each needs one, how it is stored, and how it is carried out.

import type { Pool } from "pg";
import type { OperatorContext } from "../audit-log/operator-actions.ts";
import { customerOf } from "../../identity/store.ts";
import { ValidationError } from "../../kernel/errors.ts";
import { formatMoney, idr } from "../../kernel/money.ts";
import type { PostedMove } from "../../ledger/reference-lock.ts";
import { type CreditNote, readChargeOf, type WrittenNote } from "../../ledger/credit-note.ts";
import { isLooser, type LimitChange, type ShownLimits } from "../../merchant/merchants/limits.ts";
import type { CreditedFund, MerchantCredit } from "../../merchant/merchants/merchants.ts";
import { requireMerchant } from "../../merchant/merchants/store.ts";
import { readOwnedTransfer } from "../../merchant/transfers/transfer-search-store.ts";
import type { MovedTransfer } from "../../merchant/transfers/transfers.ts";
import { type MoneyCommand, adjustAccount, creditAccount, creditUsage } from "../commands/accounts.ts";
import { creditMerchant } from "../commands/merchants.ts";
import type { CommandAmount } from "./second-person.ts";
import { approveTransfer, setLimits } from "../commands/transfers.ts";

/** The command and the outcome of each kind. */
export type CommandKinds = {
  readonly "account credit": { command: MoneyCommand; outcome: PostedMove };
  readonly "account adjust": { command: MoneyCommand; outcome: PostedMove };
  readonly "usage credit": { command: CreditNote; outcome: WrittenNote };
  readonly "merchant credit": { command: MerchantCredit & { readonly reference: string }; outcome: CreditedFund };
  readonly "merchant limit": { command: LimitChange & { readonly reason: string | null }; outcome: ShownLimits };
  readonly "transfer approve": {
    command: { readonly transferId: string; readonly note: string | null };
    outcome: MovedTransfer;
  };
};
export type CommandKind = keyof CommandKinds;

/** Whether a stored kind is one of these. */
export function isCommandKind(kind: string): kind is CommandKind {
  return Object.hasOwn(commandKinds, kind);
}

/** A command as operators see it. Amount null: it has none. */
export type CommandLook = {
  readonly subject: string;
  readonly reason: string | null;
  readonly amount: CommandAmount | null;
  readonly more?: Readonly<Record<string, string | null>>;
};

/** How many operators have to agree to a command. */
export type Agreement = "one operator" | "two operators" | "two above the sum";

type Kind<K extends CommandKind> = {
  /** The caller's own name of the command, which carries it out once, for ever. Null: it has none. */
  readonly referenceOf: (command: CommandKinds[K]["command"]) => string | null;
  readonly look: (command: CommandKinds[K]["command"], pool: Pool) => Promise<CommandLook> | CommandLook;
  /** How many operators have to agree to it. Errors: those of its object; ValidationError for an own transfer. */
  readonly agreement: (facts: {
    command: CommandKinds[K]["command"];
    by: OperatorContext;
    pool: Pool;
  }) => Promise<Agreement> | Agreement;
  readonly carryOut: (by: OperatorContext, command: CommandKinds[K]["command"]) => Promise<CommandKinds[K]["outcome"]>;
};

const bySum = (): Agreement => "two above the sum";

const rupiahOf = (amount: bigint): CommandAmount => ({ currencyCode: "IDR", amount: formatMoney(idr(amount)) });

export const commandKinds: { readonly [K in CommandKind]: Kind<K> } = {
  "account credit": {
    referenceOf: ({ reference }) => reference,
    look: ({ accountId, amount, reason }) => ({ subject: accountId, reason, amount: rupiahOf(amount) }),
    agreement: bySum,
    carryOut: creditAccount,
  },
  "account adjust": {
    referenceOf: ({ reference }) => reference,
    look: ({ accountId, amount, reason }) => ({ subject: accountId, reason, amount: rupiahOf(amount) }),
    agreement: bySum,
    carryOut: adjustAccount,
  },
  "usage credit": {
    referenceOf: () => null,
    look: async ({ requestId, amount, note, name }, pool) => ({
      subject: requestId,
      reason: note,
      amount: rupiahOf(amount ?? (await readChargeOf(pool, requestId))),
      more: { name },
    }),
    agreement: bySum,
    carryOut: creditUsage,
  },
  "merchant credit": {
    referenceOf: ({ reference }) => reference,
    look: ({ merchantId, currencyCode, amountText, reason = null, network = null }) => ({
      subject: merchantId,
      reason,
      amount: { currencyCode, amount: amountText },
      more: { network },
    }),
    // Coins of the sandbox are worth nothing; payouts are paid with those of production.
    agreement: async ({ command, pool }) =>
      (await requireMerchant(pool, command.merchantId)) === "production" ? "two operators" : "one operator",
    carryOut: creditMerchant,
  },
  "merchant limit": {
    referenceOf: () => null,
    look: ({ merchantId, reason, currencyCode, perTransfer, daily, approvalAbove }) => ({
      subject: merchantId,
      reason,
      amount: null,
      more: { currencyCode, perTransfer, daily, approvalAbove },
    }),
    agreement: async ({ command, pool }) =>
      (await requireMerchant(pool, command.merchantId)) === "production" && (await isLooser(pool, command))
        ? "two operators"
        : "one operator",
    carryOut: setLimits,
  },
  "transfer approve": {
    referenceOf: () => null,
    look: async ({ transferId, note }, pool) => {
      const { transfer } = (await readOwnedTransfer(pool, transferId)) ?? {};
      const amount = transfer && { currencyCode: transfer.coin.currencyCode, amount: formatMoney(transfer.received) };
      return {
        subject: transferId,
        reason: note,
        amount: amount ?? null,
        more: { address: transfer?.address ?? null },
      };
    },
    async agreement({ command, by, pool }) {
      const found = await readOwnedTransfer(pool, command.transferId);
      if (found?.transfer.environment !== "production") return "one operator";
      const owner = await customerOf(pool, found.accountId);
      if (owner?.email.toLowerCase() === by.operator.toLowerCase()) {
        const message = "names a transfer of the operator's own account; another operator has to approve it";
        throw new ValidationError([{ field: "transferId", rule: "approval.second_person", message }]);
      }
      return found.transfer.status === "WAITING" ? "two above the sum" : "one operator";
    },
    carryOut: approveTransfer,
  },
};
