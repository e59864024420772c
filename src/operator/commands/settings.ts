// Changes of the service-wide settings, by an operator.

import { withAuditLog, type OperatorContext } from "../audit-log/operator-actions.ts";
import { type BillingSettings, readBillingSettings, setWelcomeCredit } from "../../billing/settings.ts";
import { formatMoney, idr } from "../../kernel/money.ts";

/** Changes the given settings. Errors: as setWelcomeCredit. */
export async function updateSettings(
  by: OperatorContext,
  { settings: { welcomeCredit }, reason }: { settings: BillingSettings; reason: string | null },
): Promise<BillingSettings> {
  await withAuditLog(
    by,
    (client) => setWelcomeCredit(client, welcomeCredit),
    (isChanged) =>
      isChanged
        ? {
            action: "settings update",
            subject: null,
            reason,
            facts: { welcomeCredit: formatMoney(idr(welcomeCredit)) },
          }
        : null,
  );
  return readBillingSettings(by.database.pool);
}
