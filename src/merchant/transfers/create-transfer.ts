// Ordering a transfer. The merchant's name for it, the externalId, makes an order take effect once: a repeated order
// returns the first transfer, even when balance, fees, limits or currencies have changed since.

import type { PoolClient } from "pg";
import { readConfirmed } from "../../database/confirmed-read.ts";
import { sqlState, sqlStates, withRetry, withTransaction } from "../../database/transactions.ts";
import { AccountFrozen, ServiceBusy } from "../../kernel/errors.ts";
import { failpoint } from "../../kernel/failpoint.ts";
import { uuidv7 } from "../../kernel/ids.ts";
import { invariant } from "../../kernel/invariant.ts";
import { ExternalIdConflict, InsufficientFunds } from "../../kernel/transfer-errors.ts";
import { readAmountText } from "./amount.ts";
import { findCoin } from "../chains/currencies.ts";
import { countAgainstLimits } from "../merchants/limits.ts";
import { guardOrder } from "./order-guards.ts";
import { type CheckAddress, type Destination, differingFields, isImplied, type TransferOrder } from "./order.ts";
import { type Quote, type QuoteRequest, type QuoteSources, quoteTransfer } from "./quote.ts";
import { holdInFund, lockFund } from "../../ledger/funds.ts";
import { findForeignPayment } from "../payouts/foreign-payments.ts";
import { isOwnerFrozen } from "../merchants/store.ts";
import { type OrderedTransfer, type Transfer, mayBePaid, WAITS_FOR_APPROVAL } from "./transfer.ts";
import { slugOf } from "./slug.ts";
import { insertEvent, insertTransfer, readTransferOfExternalId } from "./transfer-store.ts";

/** The dependencies of ordering. */
export type OrderSources = QuoteSources & {
  readonly checkAddress: CheckAddress;
  /** Transfers that a sandbox merchant may order in 24 hours. Left out: any number. */
  readonly sandboxOrdersADay?: number;
};

/** The transfer of an order; replayed when the same order was placed before. */
export type OrderOutcome = { readonly transfer: Transfer; readonly isReplayed: boolean };

/**
 * Orders a transfer: one transaction writes it, holds its total on the merchant's fund and writes its first event.
 * Errors, in the order of their checks: ValidationError, ExternalIdConflict, CurrencyUnsupported, AddressInvalid,
 * AmountPrecision, InvalidCredentials, AccountFrozen, LimitExceeded, InsufficientFunds; ServiceBusy when other orders
 * lock the fund for too long.
 */
export async function createTransfer(sources: OrderSources, order: TransferOrder): Promise<OrderOutcome> {
  const { database } = sources;
  readAmountText(order.amountText);
  const known = await readTransferOfExternalId(database.pool, order);
  if (known !== undefined) return replay(sources, order);
  const priced = await priceOrder(sources, order);
  const placeOnce = (): Promise<Transfer | undefined> =>
    withTransaction(database, async (client) => {
      await guardOrder(client, order, sources.sandboxOrdersADay);
      const placed = await placeOrder(client, priced);
      failpoint?.("before-transfer-commit");
      return placed;
    });
  const transfer = await withRetry(placeOnce).catch((error: unknown) => {
    throw sqlState(error) === sqlStates.lockTimeout ? new ServiceBusy(1, { cause: error }) : error;
  });
  if (transfer !== undefined) {
    failpoint?.("after-transfer-commit");
    return { transfer, isReplayed: false };
  }
  // Another order has used the externalId since this one began; its row is committed, so it is visible now.
  return replay(sources, order);
}

/** The first transfer, once the standby has it too. Errors: ExternalIdConflict when the order is another one. */
async function replay({ database, checkAddress }: OrderSources, order: TransferOrder): Promise<OrderOutcome> {
  const known = await readConfirmed(database.pool, (client) => readTransferOfExternalId(client, order));
  invariant(known !== undefined, "an externalId that is taken names a transfer");
  const differing = differingFields(checkAddress, known, order);
  if (differing.length > 0) throw new ExternalIdConflict(differing);
  return { transfer: known, isReplayed: true };
}

/**
 * The price of a transfer to an address, on the network of the address, and the address in that network's normal form.
 * Errors: CurrencyUnsupported, AddressInvalid, ValidationError, AmountPrecision, LimitExceeded.
 */
export async function quoteTo(
  sources: OrderSources,
  request: QuoteRequest & Destination,
): Promise<{ quote: Quote; normalized: string }> {
  // The currency is checked before the address: which addresses are valid depends on it.
  findCoin(request.currencyCode, request.network);
  const { network, normalized } = sources.checkAddress(request);
  return { quote: await quoteTransfer(sources, { ...request, network }), normalized };
}

/** The price of the order; this part needs no lock. */
async function priceOrder(sources: OrderSources, order: TransferOrder): Promise<OrderedTransfer> {
  const { merchantId, environment, externalId, address } = order;
  const { quote, normalized } = await quoteTo(sources, order);
  const { coin, received, fee, total, feeRowId } = quote;
  const transferId = uuidv7();
  return {
    transferId,
    merchantId,
    environment,
    externalId,
    slug: slugOf(transferId),
    coin,
    isNetworkImplied: order.network === "" || isImplied(sources.checkAddress, order, coin.network),
    address: normalized,
    orderedAddress: address,
    received,
    fee,
    total,
    feeRowId,
  };
}

/**
 * Writes the order under the lock of its fund. Of several orders with one externalId, and of several that together
 * exceed the fund, each one sees the rows of the one before. Undefined: the externalId is taken.
 */
async function placeOrder(client: PoolClient, order: OrderedTransfer): Promise<Transfer | undefined> {
  const { merchantId, total } = order;
  const paidBy = await findForeignPayment(client, order);
  const fund = await lockFund(client, { merchantId, asset: total.asset });
  if ((await readTransferOfExternalId(client, order)) !== undefined) return undefined;
  if (await isOwnerFrozen(client, merchantId)) throw new AccountFrozen();
  const isLarge = await countAgainstLimits(client, order);
  const awaitsApproval = isLarge || paidBy !== null;
  const available = { units: fund === undefined ? 0n : fund.posted - fund.held, asset: total.asset };
  if (fund === undefined || available.units < total.units) throw new InsufficientFunds({ available, needed: total });
  const transfer = await insertTransfer(client, {
    ...order,
    status: awaitsApproval ? "WAITING" : "PENDING",
    awaitsApproval,
    reason: reasonToWait(awaitsApproval, paidBy),
  });
  // Taken by an order in another currency, which holds another fund's lock. The limits keep this order's count: their
  // row belongs to the transaction, which ends without an error.
  if (transfer === undefined) return undefined;
  await holdInFund(client, fund, total.units);
  await insertEvent(client, transfer.transferId, { ...transfer, at: transfer.createdAt });
  return transfer;
}

function reasonToWait(awaitsApproval: boolean, paidBy: string | null): string | null {
  if (paidBy !== null) return mayBePaid(paidBy);
  return awaitsApproval ? WAITS_FOR_APPROVAL : null;
}
