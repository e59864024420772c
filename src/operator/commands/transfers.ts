// What operators do about merchants' transfers: limits, approvals, rejections.

import { withAuditLog, type OperatorContext } from "../audit-log/operator-actions.ts";
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
    ({ currencyCode, perTransfer, daily, approvalAbove }) => ({
      action: "merchant limit",
      subject: command.merchantId,
      reason,
      facts: { currencyCode, perTransfer, daily, approvalAbove },
    }),
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
    lineOf("transfer approve", note),
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
    lineOf("transfer reject", command.reason),
  );
}

function lineOf(action: string, reason: string | null) {
  return ({ transfer: { transferId, merchantId, externalId }, isNew }: MovedTransfer) =>
    isNew ? { action, subject: transferId, reason, facts: { merchantId, externalId } } : null;
}
