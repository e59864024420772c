// What operators do to merchants: creating one, crediting its funds, its callbacks, and the fees of transfers.

import type { PoolClient } from "pg";
import type { ChangedSettings } from "../../callbacks/callback-settings.ts";
import type { CallbackPlaces } from "../../callbacks/callback-url.ts";
import type { AccountChange } from "../audit-log/account-changes.ts";
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
import { readOwner } from "../../merchant/merchants/store.ts";
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
      inAccount: {
        accountId: command.accountId,
        action: "merchant.created",
        subject: merchantId,
        facts: { environment: command.environment },
      },
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
    async ({ isNew, postingId, amount }, client) =>
      isNew
        ? {
            action: "merchant credit",
            subject: merchantId,
            reason,
            facts: { postingId, currencyCode, network, amount },
            inAccount: await ofMerchant(client, merchantId, "merchant.credited", { amount, currencyCode, network }),
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
    async ({ settings, secret }, client) => ({
      action: "merchant callback",
      subject: change.merchantId,
      reason: null,
      facts: { url: settings.url, newSecret: secret === "" ? null : settings.secretLastFour },
      // Not the address: a log of all members shows none.
      inAccount: await ofMerchant(client, change.merchantId, "merchant.callbacks_set"),
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
    async ({ row, isNew }, client) => {
      if (!isNew) return null;
      const { id: feeRowId, merchantId, currencyCode, version } = row;
      const terms = termTexts(row);
      return {
        action: "fee set",
        subject: merchantId,
        reason,
        facts: { feeRowId, currencyCode, version, ...terms },
        // A fee of a currency, or of all others, is of no single account.
        inAccount:
          merchantId === null
            ? null
            : await ofMerchant(client, merchantId, "merchant.fee_set", { currencyCode, ...terms }),
      };
    },
  );
}

/** A change of a merchant, in its account. */
export async function ofMerchant(
  client: PoolClient,
  merchantId: string,
  action: string,
  facts: AccountChange["facts"] = {},
): Promise<AccountChange> {
  const { accountId } = await readOwner(client, merchantId);
  return { accountId, action, subject: merchantId, facts };
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
