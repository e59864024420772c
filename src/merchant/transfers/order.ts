// A merchant's order, and whether it equals an earlier one with the same externalId: by its meaning, not by its
// spelling.

import { formatDecimal } from "../../kernel/decimal.ts";
import { formatMoney } from "../../kernel/money.ts";
import { AddressInvalid, CurrencyUnsupported } from "../../kernel/transfer-errors.ts";
import { AMOUNT_TEXT_DECIMALS, readAmountText } from "./amount.ts";
import type { QuoteRequest } from "./quote.ts";
import type { Transfer } from "./transfer.ts";

/** A merchant's order. An empty `network` is derived from the currency and the address. */
export type TransferOrder = QuoteRequest & {
  readonly network: string;
  readonly externalId: string;
  readonly address: string;
  /** The pair that orders. Left out: a person or a service orders for the merchant. */
  readonly pairId?: string;
};

/** The destination of a transfer, as the order has it. */
export type Destination = Pick<TransferOrder, "currencyCode" | "network" | "address">;

/** Returns the network of an address, and its normal form there. Errors: AddressInvalid, CurrencyUnsupported. */
export type CheckAddress = (destination: Destination) => { readonly network: string; readonly normalized: string };

/** Whether the same destination without a network means the given one. */
export function isImplied(check: CheckAddress, destination: Destination, network: string): boolean {
  return checkOrNull(check, { ...destination, network: "" })?.network === network;
}

/** The fields in which an order differs from the transfer that has its externalId; none: it is the same order. */
export function differingFields(check: CheckAddress, known: Transfer, order: TransferOrder): string[] {
  const amount = formatDecimal(readAmountText(order.amountText), AMOUNT_TEXT_DECIMALS);
  const isSame = {
    currencyCode: order.currencyCode === known.coin.currencyCode,
    amount: amount === formatMoney(known.received),
    address: isSameAddress(check, known, order.address),
    network: order.network === "" ? known.isNetworkImplied : order.network === known.coin.network,
  };
  return Object.entries(isSame).flatMap(([field, same]) => (same ? [] : [field]));
}

/** The accepted order is compared as text first, so that a replay does not depend on today's checks. */
function isSameAddress(
  check: CheckAddress,
  { orderedAddress, address: normal, coin }: Transfer,
  address: string,
): boolean {
  if (address === orderedAddress || address === normal) return true;
  const { currencyCode, network } = coin;
  return checkOrNull(check, { currencyCode, network, address })?.normalized === normal;
}

function checkOrNull(check: CheckAddress, destination: Destination): ReturnType<CheckAddress> | null {
  try {
    return check(destination);
  } catch (error) {
    if (error instanceof AddressInvalid || error instanceof CurrencyUnsupported) return null;
    throw error;
  }
}
