// What operators set for the whole service.

import { doAndRecord, type OrderedBy } from "../accounts/operator-actions.ts";
import { type BillingSettings, readBillingSettings, setWelcomeCredit } from "../billing/settings.ts";
import { formatMoney, idr } from "../kernel/money.ts";

/** Sets what new accounts are given, in micro-rupiah; 0: nothing. Errors: LimitExceeded. */
export async function orderWelcomeCredit(
  by: OrderedBy,
  { amount, reason }: { amount: bigint; reason: string },
): Promise<BillingSettings> {
  await doAndRecord(
    by,
    (client) => setWelcomeCredit(client, amount),
    (isNew) =>
      isNew
        ? { action: "settings welcome-credit", subject: null, reason, facts: { amount: formatMoney(idr(amount)) } }
        : null,
  );
  return readBillingSettings(by.database.pool);
}
