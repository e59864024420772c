// An order while it is typed.

import type { Quote } from "#gen/saldo/merchant/v1/transfer_pb.ts";
import { amountOf, COINS } from "../../i18n/read-amount.ts";
import { type ChosenCoin, FIRST_COIN } from "./currency-fields.tsx";

/** The order in the form. */
export type Order = ChosenCoin & { readonly amount: string; readonly address: string; readonly externalId: string };

/** An order with its quote, confirmed together. */
export type PricedOrder = { readonly order: Order; readonly quote: Quote };

/** An empty form, with an unused external id. */
export function newOrder(): Order {
  return { ...FIRST_COIN, amount: "", address: "", externalId: `dashboard-${crypto.randomUUID().slice(0, 8)}` };
}

/** The decimal of the typed amount. Empty: it cannot be read. */
export function amountOfOrder({ amount }: Order): string {
  return amountOf(amount, COINS) ?? "";
}
