// Changes of the service-wide settings, by an operator.

import { withAuditLog, type OperatorContext } from "../audit-log/operator-actions.ts";
import {
  type BillingSettings,
  readBillingSettings,
  setSeller,
  setTaxRule,
  setWelcomeCredit,
} from "../../billing/settings.ts";
import { formatMoney, idr } from "../../kernel/money.ts";

type Facts = Readonly<Record<string, string | number | null>>;

/** Changes the given settings, all or none. Errors: as setWelcomeCredit, setSeller and setTaxRule. */
export async function updateSettings(
  by: OperatorContext,
  { settings: { welcomeCredit, seller, tax }, reason }: { settings: Partial<BillingSettings>; reason: string | null },
): Promise<BillingSettings> {
  await withAuditLog(
    by,
    async (client) => {
      const facts: Facts[] = [];
      if (welcomeCredit !== undefined && (await setWelcomeCredit(client, welcomeCredit)))
        facts.push({ welcomeCredit: formatMoney(idr(welcomeCredit)) });
      if (seller !== undefined && (await setSeller(client, seller)))
        facts.push({ sellerName: seller.name, sellerAddress: seller.address, sellerNpwp: seller.npwp });
      if (tax !== undefined && (await setTaxRule(client, tax)))
        facts.push({ taxRate: tax.rate, taxIncluded: tax.isIncluded ? "yes" : "no" });
      return Object.assign({}, ...facts) as Facts;
    },
    (facts) =>
      Object.keys(facts).length > 0
        ? { action: "settings update", subject: null, reason, facts, inAccount: null }
        : null,
  );
  return readBillingSettings(by.database.pool);
}
