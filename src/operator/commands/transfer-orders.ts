// Orders of operators about merchants' transfers: limits, approvals, rejections.

import { withAuditLog, type OrderedBy } from "../audit-log/operator-actions.ts";
import { type LimitOrder, setLimits, type ShownLimits } from "../../merchant/merchants/limits.ts";
import { hasPayoutBegun } from "../../merchant/payouts/payout-store.ts";
import { approveTransfer, endUnsigned, type MovedTransfer } from "../../merchant/transfers/transfers.ts";

/** Sets a merchant's limits of a currency. Errors: as setLimits. */
export function orderLimits(by: OrderedBy, order: LimitOrder & { reason: string | null }): Promise<ShownLimits> {
  const { reason, ...limits } = order;
  return withAuditLog(
    by,
    (client) => setLimits(client, limits),
    ({ currencyCode, perTransfer, daily, approvalAbove }) => ({
      action: "merchant limit",
      subject: order.merchantId,
      reason,
      facts: { currencyCode, perTransfer, daily, approvalAbove },
    }),
  );
}

/** Approves a transfer that waits for it. Errors: as approveTransfer. */
export function orderApproval(
  by: OrderedBy,
  { transferId, note }: { transferId: string; note: string | null },
): Promise<MovedTransfer> {
  return withAuditLog(by, (client) => approveTransfer(client, transferId), lineOf("transfer approve", note));
}

/** Rejects a transfer before its payment is signed. Errors: as endUnsigned. */
export function orderRejection(by: OrderedBy, order: { transferId: string; reason: string }): Promise<MovedTransfer> {
  return withAuditLog(
    by,
    (client) => endUnsigned(client, { ...order, to: "REJECTED", hasSigningBegun: hasPayoutBegun }),
    lineOf("transfer reject", order.reason),
  );
}

function lineOf(action: string, reason: string | null) {
  return ({ transfer: { transferId, merchantId, externalId }, isNew }: MovedTransfer) =>
    isNew ? { action, subject: transferId, reason, facts: { merchantId, externalId } } : null;
}
