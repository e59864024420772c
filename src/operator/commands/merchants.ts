// What operators do to merchants: creating one, crediting its funds, its callbacks, and the fees of transfers.

import type { ChangedSettings } from "../../callbacks/callback-settings.ts";
import type { CallbackPlaces } from "../../callbacks/callback-url.ts";
import { withAuditLog, type OperatorContext } from "../audit-log/operator-actions.ts";
import { formatDecimal } from "../../kernel/decimal.ts";
import { changeCallbackSettings, type SettingsChange } from "../../merchant/callbacks/callback-settings.ts";
import type { IssuedPair } from "../../merchant/merchants/credentials.ts";
import { FEE_DECIMALS, type FeeRow } from "../../merchant/merchants/fee-schedule.ts";
import {
  addMerchant,
  type CreditedFund,
  creditMerchantWithin,
  type MerchantCredit,
  type NewMerchant,
} from "../../merchant/merchants/merchants.ts";
import * as fees from "../../merchant/merchants/set-fee.ts";
import type { FeeChange, SetFee } from "../../merchant/merchants/set-fee.ts";

/** Makes a merchant of an account, with its first pair. Errors: NotFound. */
export function createMerchant(
  by: OperatorContext,
  command: NewMerchant,
): Promise<IssuedPair & { merchantId: string }> {
  return withAuditLog(
    by,
    (client) => addMerchant(client, command),
    ({ merchantId }) => ({
      action: "merchant create",
      subject: command.accountId,
      reason: null,
      facts: { merchantId, environment: command.environment },
    }),
  );
}

/** Credits received coins to a merchant's fund. Errors: as creditMerchantWithin. */
export function creditMerchant(
  by: OperatorContext,
  { reference, ...command }: MerchantCredit & { readonly reference: string },
): Promise<CreditedFund> {
  const { merchantId, currencyCode, network = null, reason = null } = command;
  return withAuditLog(
    by,
    (client) => creditMerchantWithin(client, { ...command, reference: `operator:${reference}` }),
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
export function updateCallbacks(
  by: OperatorContext,
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

/** Adds a version of the fee of a merchant, a currency, both, or all others. Errors: as fees.setFee. */
export function setFee(
  by: OperatorContext,
  { reason, ...command }: FeeChange & { reason: string | null },
): Promise<SetFee> {
  return withAuditLog(
    by,
    (client) => fees.setFee(client, command),
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
