// Translates limits to their contract.

import type { ShownLimits } from "./merchants/limits.ts";

export function toProtoLimit({ currencyCode, perTransfer, daily, approvalAbove, usedToday }: ShownLimits) {
  return {
    currencyCode,
    usedToday,
    ...(perTransfer === null ? {} : { perTransfer }),
    ...(daily === null ? {} : { daily }),
    ...(approvalAbove === null ? {} : { approvalAbove }),
  };
}
