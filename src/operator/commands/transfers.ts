// What operators do about merchants' transfers: limits, approvals, rejections.

import type { PoolClient } from "pg";
import { type CommandLine, withAuditLog, type OperatorContext } from "../audit-log/operator-actions.ts";
import { ofMerchant } from "./merchants.ts";
import * as merchantLimits from "../../merchant/merchants/limits.ts";
import type { LimitChange, ShownLimits } from "../../merchant/merchants/limits.ts";
import { hasPayoutBegun } from "../../merchant/payouts/payout-store.ts";
import * as merchantTransfers from "../../merchant/transfers/transfers.ts";
import type { MovedTransfer } from "../../merchant/transfers/transfers.ts";

/** Sets a merchant's limits of a currency. Errors: as merchantLimits.setLimits. */
export function setLimits(by: OperatorContext, command: LimitChange & { reason: string | null }): Promise<ShownLimits> {
  const { reason, ...limits } = command;
  return withAuditLog(
    by,
    (client) => merchantLimits.setLimits(client, limits),
    async ({ currencyCode, perTransfer, daily, approvalAbove }, client) => {
      const facts = { currencyCode, perTransfer, daily, approvalAbove };
      const inAccount = await ofMerchant(client, command.merchantId, "merchant.limits_set", facts);
      return { action: "merchant limit", subject: command.merchantId, reason, facts, inAccount };
    },
  );
}

/** Approves a transfer that waits for it. Errors: as merchantTransfers.approveTransfer. */
export function approveTransfer(
  by: OperatorContext,
  { transferId, note }: { transferId: string; note: string | null },
): Promise<MovedTransfer> {
  return withAuditLog(
    by,
    (client) => merchantTransfers.approveTransfer(client, transferId),
    lineOf({ action: "transfer approve", inAccount: "transfer.approved" }, note),
  );
}

/** Rejects a transfer before its payment is signed. Errors: as merchantTransfers.endUnsigned. */
export function rejectTransfer(
  by: OperatorContext,
  command: { transferId: string; reason: string },
): Promise<MovedTransfer> {
  return withAuditLog(
    by,
    (client) => merchantTransfers.endUnsigned(client, { ...command, to: "REJECTED", hasSigningBegun: hasPayoutBegun }),
    lineOf({ action: "transfer reject", inAccount: "transfer.rejected" }, command.reason),
  );
}

function lineOf({ action, inAccount }: { action: string; inAccount: string }, reason: string | null) {
  return async ({ transfer, isNew }: MovedTransfer, client: PoolClient): Promise<CommandLine | null> => {
    if (!isNew) return null;
    const { transferId, merchantId, externalId } = transfer;
    const change = await ofMerchant(client, merchantId, inAccount, { externalId });
    const shown = { ...change, subject: transferId };
    return { action, subject: transferId, reason, facts: { merchantId, externalId }, inAccount: shown };
  };
}
