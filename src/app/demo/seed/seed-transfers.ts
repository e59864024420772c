// A few transfers of the demo's merchant, ordered now: no chain sends in the past. A running server carries them out within
// seconds, except one that is large enough to need an approval; the decimals of an amount choose its result.

import type { OperatorContext } from "../../../operator/audit-log/operator-actions.ts";
import type { Database } from "../../../database/database.ts";
import { checkAddress } from "../../../merchant/addresses/addresses.ts";
import { createTransfer } from "../../../merchant/transfers/create-transfer.ts";
import { creditMerchant } from "../../../merchant/merchants/merchants.ts";
import { setFee } from "../../../operator/commands/merchants.ts";
import { setLimits } from "../../../operator/commands/transfers.ts";

const COINS = [
  { currencyCode: "TRX", amountText: "500" },
  { currencyCode: "USDT", amountText: "750" },
  { currencyCode: "BTC", amountText: "0.1" },
] as const;

/** What a merchant who sends payrolls would agree to: a small flat fee and a part of a percent. */
const FEES = [
  { currencyCode: "TRX", flat: "1", rate: "0.002" },
  { currencyCode: "USDT", flat: "1", rate: "0.003" },
  { currencyCode: "BTC", flat: "0.00005", rate: "0.002" },
] as const;

/** Above this an operator is asked. */
const APPROVAL = { currencyCode: "BTC", approvalAbove: "0.02" } as const;

const TRON = "TJRyWwFs9wTFGZg3JbrVriFbNfCug5tDeC";
const ETHEREUM = "0xd8dA6BF26964aF9D7eEd9e03E53415D37aA96045";
const BITCOIN = "bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4";

const ORDERS = [
  { externalId: "payroll-ayu", currencyCode: "TRX", amountText: "120", address: TRON },
  { externalId: "invoice-2041", currencyCode: "USDT", amountText: "85.5", address: ETHEREUM },
  { externalId: "refund-318", currencyCode: "TRX", amountText: "60.0004", address: TRON },
  { externalId: "invoice-2042", currencyCode: "USDT", amountText: "240", address: ETHEREUM },
  { externalId: "savings-nov", currencyCode: "BTC", amountText: "0.0125", address: BITCOIN },
  { externalId: "treasury-q4", currencyCode: "BTC", amountText: "0.025", address: BITCOIN },
  { externalId: "payroll-budi", currencyCode: "TRX", amountText: "95.25", address: TRON },
] as const;

/** Orders the transfers, and puts coins on the merchant's funds for them. Gives how many there are. */
export async function seedTransfers(database: Database, by: OperatorContext, merchantId: string): Promise<number> {
  const sources = {
    database,
    isServed: () => true,
    checkAddress: (destination: { currencyCode: string; network: string; address: string }) =>
      checkAddress({ ...destination, forbidden: new Set() }),
  };
  for (const { currencyCode, amountText } of COINS) {
    const reference = `seed:${merchantId}:${currencyCode}`;
    await creditMerchant(database, { merchantId, currencyCode, amountText, reason: "seed", reference });
  }
  for (const fee of FEES) await setFee(by, { merchantId, ...fee, reason: "seed" });
  await setLimits(by, { merchantId, ...APPROVAL, perTransfer: "", daily: "", reason: "seed" });
  for (const order of ORDERS) {
    await createTransfer(sources, { ...order, merchantId, environment: "sandbox", network: "" });
  }
  return ORDERS.length;
}
