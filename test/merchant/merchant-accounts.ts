// Merchants and their transfers for the tests of this folder.

import type { Database } from "../../src/database/database.ts";
import { withTransaction } from "../../src/database/transactions.ts";
import { uuidv7 } from "../../src/kernel/ids.ts";
import { AddressInvalid } from "../../src/kernel/transfer-errors.ts";
import { openAccount } from "../../src/ledger/accounts.ts";
import type { Environment } from "../../src/identity/principal.ts";
import { createTransfer, type OrderOutcome, type OrderSources } from "../../src/merchant/transfers/create-transfer.ts";
import { findCoin } from "../../src/merchant/chains/currencies.ts";
import { createMerchant, creditMerchant } from "../../src/merchant/merchants/merchants.ts";
import type { CheckAddress, TransferOrder } from "../../src/merchant/transfers/order.ts";

/** Opens an account and makes a merchant of it. */
export async function newMerchant(
  database: Database,
  environment: Environment = "sandbox",
): ReturnType<typeof createMerchant> {
  const accountId = uuidv7();
  await withTransaction(database, (client) => openAccount(client, accountId));
  return createMerchant(database, { accountId, environment });
}

/** A merchant with so many coins. */
export async function merchantWith(
  database: Database,
  coins: Readonly<Record<string, string>>,
  environment: Environment = "sandbox",
): Promise<{ merchantId: string }> {
  const { merchantId } = await newMerchant(database, environment);
  for (const [currencyCode, amountText] of Object.entries(coins)) {
    await creditMerchant(database, { merchantId, currencyCode, amountText });
  }
  return { merchantId };
}

/** Where addresses are `network:name`, the case of the name means nothing, and `forbidden` is refused. */
export const checkAddress: CheckAddress = ({ currencyCode, network, address }) => {
  const [, ownNetwork, name = ""] = /^([a-z]+):([A-Za-z0-9]+)$/.exec(address) ?? [];
  if (ownNetwork === undefined || name === "forbidden") throw new AddressInvalid("This is not an address.");
  const named = findCoin(currencyCode, network === "" ? ownNetwork : network).network;
  if (named !== ownNetwork) throw new AddressInvalid("This is an address of another network.");
  return { network: ownNetwork, normalized: `${ownNetwork}:${name.toLowerCase()}` };
};

/** The dependencies of ordering where every currency is served. */
export function orderSources(database: Pick<Database, "pool">): OrderSources {
  return { database, checkAddress, isServed: () => true };
}

export type SomeOrder = Partial<TransferOrder> & { readonly merchantId: string };

/** An order of 5 TRX, which cost 21.7, under a name of its own. */
export function orderOf(order: SomeOrder): TransferOrder {
  const defaults = { environment: "sandbox", currencyCode: "TRX", amountText: "5", network: "" } as const;
  return { ...defaults, externalId: `order-${uuidv7()}`, address: "tron:receiver", ...order };
}

/** Orders a transfer. */
export function orderTransfer(database: Pick<Database, "pool">, order: SomeOrder): Promise<OrderOutcome> {
  return createTransfer(orderSources(database), orderOf(order));
}
