// What an operator orders about merchants' transfers: limits, approvals, rejections.

import { doAndRecord, type OrderedBy } from "../accounts/operator-actions.ts";
import { type LimitOrder, setLimits, type ShownLimits } from "../merchant/limits.ts";
import type { Transfer } from "../merchant/transfer.ts";
import { hasPayoutBegun } from "../merchant/payouts/payout-store.ts";
import { approveTransfer, endUnsigned } from "../merchant/transfers.ts";

/** Sets what a merchant may order of a currency. Errors: as setLimits. */
export function orderLimits(by: OrderedBy, order: LimitOrder & { reason: string | null }): Promise<ShownLimits> {
  const { reason, ...limits } = order;
  return doAndRecord(
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

/** Lets a transfer go on that waits for approval. Errors: as approveTransfer. */
export function orderApproval(
  by: OrderedBy,
  { transferId, note }: { transferId: string; note: string | null },
): Promise<Transfer> {
  return doAndRecord(
    by,
    (client) => approveTransfer(client, transferId),
    (transfer) => ({ action: "transfer approve", subject: transferId, reason: note, facts: factsOf(transfer) }),
  );
}

/** Rejects a transfer of which nothing is signed. Errors: as endUnsigned. */
export function orderRejection(by: OrderedBy, order: { transferId: string; reason: string }): Promise<Transfer> {
  return doAndRecord(
    by,
    (client) => endUnsigned(client, { ...order, to: "REJECTED", hasSigningBegun: hasPayoutBegun }),
    (transfer) => ({
      action: "transfer reject",
      subject: order.transferId,
      reason: order.reason,
      facts: factsOf(transfer),
    }),
  );
}

function factsOf({ merchantId, externalId }: Transfer): Record<string, string> {
  return { merchantId, externalId };
}
