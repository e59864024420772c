// Orders of operators about merchants: creating one, crediting its funds, its callbacks, and the fees of transfers.

import type { CallbackPlaces } from "../../merchant/callbacks/callback-url.ts";
import { withAuditLog, type OrderedBy } from "../audit-log/operator-actions.ts";
import { formatDecimal } from "../../kernel/decimal.ts";
import {
  type ChangedSettings,
  changeCallbackSettings,
  type SettingsChange,
} from "../../merchant/callbacks/callback-settings.ts";
import type { IssuedPair } from "../../merchant/merchants/credentials.ts";
import { FEE_DECIMALS, type FeeRow } from "../../merchant/merchants/fee-schedule.ts";
import {
  addMerchant,
  type CreditedFund,
  creditMerchantWithin,
  type MerchantCredit,
  type NewMerchant,
} from "../../merchant/merchants/merchants.ts";
import { setFee, type FeeOrder, type SetFee } from "../../merchant/merchants/set-fee.ts";

/** Makes a merchant of an account, with its first pair. Errors: NotFound. */
export function orderMerchant(by: OrderedBy, order: NewMerchant): Promise<IssuedPair & { merchantId: string }> {
  return withAuditLog(
    by,
    (client) => addMerchant(client, order),
    ({ merchantId }) => ({
      action: "merchant create",
      subject: order.accountId,
      reason: null,
      facts: { merchantId, environment: order.environment },
    }),
  );
}

/** Credits received coins to a merchant's fund. Errors: as creditMerchant. */
export function orderMerchantCredit(
  by: OrderedBy,
  { reference, ...order }: MerchantCredit & { readonly reference: string },
): Promise<CreditedFund> {
  const { merchantId, currencyCode, network = null, reason = null } = order;
  return withAuditLog(
    by,
    (client) => creditMerchantWithin(client, { ...order, reference: `operator:${reference}` }),
    ({ isNew, postingId, amount }) =>
      isNew
        ? {
            action: "merchant credit",
            subject: merchantId,
            reason,
            facts: { postingId, currencyCode, network, amount },
          }
        : null,
  );
}

/** Sets where a merchant is called back. Errors: as changeCallbackSettings. */
export function orderCallbacks(
  by: OrderedBy,
  places: CallbackPlaces,
  change: SettingsChange,
): Promise<ChangedSettings> {
  return withAuditLog(
    by,
    (client) => changeCallbackSettings(client, places, change),
    ({ settings, secret }) => ({
      action: "merchant callback",
      subject: change.merchantId,
      reason: null,
      facts: { url: settings.url, newSecret: secret === "" ? null : settings.secretLastFour },
    }),
  );
}

/** Adds a version of the fee of a merchant, a currency, both, or all others. Errors: as setFee. */
export function orderFee(by: OrderedBy, { reason, ...order }: FeeOrder & { reason: string | null }): Promise<SetFee> {
  return withAuditLog(
    by,
    (client) => setFee(client, order),
    ({ row, isNew }) =>
      isNew
        ? {
            action: "fee set",
            subject: row.merchantId,
            reason,
            facts: { feeRowId: row.id, currencyCode: row.currencyCode, version: row.version, ...termTexts(row) },
          }
        : null,
  );
}

/** The terms of a row in plain digits. Null: no such bound. */
export function termTexts({ flat, rate, min, max }: FeeRow) {
  return {
    flat: termText(flat),
    rate: termText(rate),
    min: min === null ? null : termText(min),
    max: max === null ? null : termText(max),
  };
}

function termText(term: bigint): string {
  return formatDecimal(term, FEE_DECIMALS);
}
