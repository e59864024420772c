// What is ordered, while it is typed.

import type { Quote } from "#gen/saldo/merchant/v1/transfer_pb.ts";
import { amountOf, COINS } from "../../i18n/read-amount.ts";
import { type ChosenCoin, FIRST_COIN } from "./currency-fields.tsx";

/** An order as it stands in the form. */
export type Order = ChosenCoin & { readonly amount: string; readonly address: string; readonly externalId: string };

/** An order with its price, as both are agreed to. */
export type PricedOrder = { readonly order: Order; readonly quote: Quote };

/** An empty form, with a name that was not used yet. */
export function newOrder(): Order {
  return { ...FIRST_COIN, amount: "", address: "", externalId: `dashboard-${crypto.randomUUID().slice(0, 8)}` };
}

/** The decimal that the typed amount means. Empty: it means none. */
export function amountOfOrder({ amount }: Order): string {
  return amountOf(amount, COINS) ?? "";
}
