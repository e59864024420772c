// Opening a top-up: the order is stored under the caller's own key, then opened at the provider, then its page is stored.
// After a failure in between, the same key continues where it stopped.

import type { PoolClient } from "pg";
import type { Database } from "../../database/database.ts";
import { readConfirmed } from "../../database/confirmed-read.ts";
import { withTransaction } from "../../database/transactions.ts";
import type { Clock } from "../../kernel/clock.ts";
import { LimitExceeded, NotFound, UpstreamBusy, ValidationError } from "../../kernel/errors.ts";
import { uuidv7 } from "../../kernel/ids.ts";
import { invariant } from "../../kernel/invariant.ts";
import { formatMoney, idr, IDR, parseMoney } from "../../kernel/money.ts";
import { rupiahText } from "../../kernel/rupiah-text.ts";
import { lockAccount } from "../../ledger/account-lock.ts";
import { PaymentProviderError, type PaymentProvider } from "../payments/payment-provider.ts";
import { FIRST_CHECK_MS } from "./check-schedule.ts";
import {
  claimOpening,
  countOpenOrders,
  endOpening,
  insertTopUp,
  saveOpened,
  selectTopUpOfKey,
  selectTopUps,
} from "./store.ts";
import { paidAmountOf, type TopUp } from "./top-up.ts";
import { leastOrderOf, taxedAmountOf } from "../receipts/tax.ts";
import { readTaxRule } from "../settings.ts";

/** The least of a top-up without its tax, and the most that can be ordered, in micro-rupiah. */
export const LEAST_AMOUNT = parseMoney("10000", IDR).units;
export const MOST_AMOUNT = parseMoney("1000000000", IDR).units;
const WHOLE_RUPIAH = parseMoney("1", IDR).units;
/** How many orders of an account may wait to be paid. */
const MOST_OPEN_ORDERS = 20;
/** Another call may open an order this much later than its provider takes at most. */
const OPENING_GRACE_MS = 10_000;

export type TopUpCreation = {
  readonly database: Database;
  /** Where new orders are opened. Null: nowhere, top-ups are not offered. */
  readonly provider: PaymentProvider | null;
  readonly clock: Clock;
  /** How long an order can be paid. */
  readonly expiresAfterMs: number;
  /** Where the payer comes back to. */
  readonly returnUrlOf: (topUpId: string) => string;
  /** Called with the reason when a provider did not open an order. */
  readonly onFailure: (topUpId: string, error: unknown) => void;
};

/** What is ordered. */
export type TopUpOrder = {
  readonly accountId: string;
  readonly amount: bigint;
  readonly idempotencyKey: string;
  /** Whether the method that pays it is saved for automatic top-ups, as its payer agreed. Left out: no. */
  readonly savesMethod?: boolean;
};

/**
 * Opens a top-up, or returns the one that was opened under the same key. Its page may not be there yet while another call of
 * the same key is opening it. Errors: ValidationError; LimitExceeded when too many orders wait to be paid; NotFound where top-ups
 * are not offered; UpstreamBusy when the provider does not answer: the same key then tries again.
 */
export async function createTopUp(
  creation: TopUpCreation,
  { accountId, amount, idempotencyKey, savesMethod = false }: TopUpOrder,
): Promise<TopUp> {
  requireAmount(amount);
  const { provider } = creation;
  if (provider === null) throw new NotFound("Top-ups are not offered here.");
  if (savesMethod && provider.charge === null) throw new NotFound("No payment method can be saved here.");
  const order = { accountId, ordered: amount, idempotencyKey, provider: provider.name, savesMethod };
  const topUp = await writeDown(creation, order);
  const former = formerUse(topUp, { amount, savesMethod });
  if (former !== null)
    throw new ValidationError([{ field: "idempotencyKey", rule: "top_up.idempotency_key", message: former }]);
  // An order stays with its provider. One that was never opened there runs out by itself.
  if (topUp.provider === provider.name) await openOrder(creation, provider, topUp);
  return read(creation, topUp.topUpId);
}

/** What a key was used for before, where that was another order. */
function formerUse(topUp: TopUp, { amount, savesMethod }: { amount: bigint; savesMethod: boolean }): string | null {
  if (topUp.methodId !== null) return "is that of an automatic top-up";
  if (orderedAmountOf(topUp) !== amount) return `was used for a top-up of ${rupiahText(idr(orderedAmountOf(topUp)))}`;
  if (topUp.savesMethod === savesMethod) return null;
  return `was used for a top-up that saves ${topUp.savesMethod ? "its" : "no"} payment method`;
}

function requireAmount(amount: bigint): void {
  const isPossible = amount >= LEAST_AMOUNT && amount <= MOST_AMOUNT && amount % WHOLE_RUPIAH === 0n;
  if (isPossible) return;
  const message = `must be whole rupiah from ${formatMoney(idr(LEAST_AMOUNT))} to ${formatMoney(idr(MOST_AMOUNT))}`;
  throw new ValidationError([{ field: "amount", rule: "top_up.amount", message }]);
}

/** The amount that the customer has named. */
function orderedAmountOf({ amount, tax, isTaxIncluded }: TopUp): bigint {
  return isTaxIncluded ? amount + tax : amount;
}

/** The parts of an order by the rule that holds now. The least amount is the one that is credited. */
export async function taxedOrder(client: PoolClient, ordered: bigint) {
  const rule = await readTaxRule(client);
  const { net, tax } = taxedAmountOf(ordered, rule);
  if (net < LEAST_AMOUNT) {
    const message = `must be at least ${formatMoney(idr(leastOrderOf(LEAST_AMOUNT, rule)))}: ${formatMoney(idr(LEAST_AMOUNT))} without the tax`;
    throw new ValidationError([{ field: "amount", rule: "top_up.amount", message }]);
  }
  return { amount: net, tax, taxRate: rule.rate, isTaxIncluded: rule.isIncluded };
}

async function writeDown(
  { database, clock, expiresAfterMs }: TopUpCreation,
  order: { accountId: string; ordered: bigint; idempotencyKey: string; provider: string; savesMethod: boolean },
): Promise<TopUp> {
  const known = await selectTopUpOfKey(database.pool, order);
  if (known !== null) {
    const confirmed = await readConfirmed(database.pool, (client) => selectTopUpOfKey(client, order));
    if (confirmed !== null) return confirmed;
  }
  return withTransaction(database, async (client) => {
    // Behind the lock of the account, so that orders which come at once are all counted.
    await lockAccount(client, order.accountId);
    const nowMs = clock.now();
    const expiresAt = new Date(nowMs + expiresAfterMs);
    const nextCheckAt = new Date(nowMs + FIRST_CHECK_MS);
    const open = await countOpenOrders(client, order.accountId, MOST_OPEN_ORDERS);
    const isNew = open < MOST_OPEN_ORDERS;
    const taxed = await taxedOrder(client, order.ordered);
    if (isNew) await insertTopUp(client, { ...order, ...taxed, topUpId: uuidv7(nowMs), expiresAt, nextCheckAt });
    const topUp = await selectTopUpOfKey(client, order);
    if (topUp === null) throw new LimitExceeded(`No more than ${MOST_OPEN_ORDERS} top-ups can wait to be paid.`);
    return topUp;
  });
}

async function openOrder(creation: TopUpCreation, provider: PaymentProvider, topUp: TopUp): Promise<void> {
  const { database, returnUrlOf, onFailure } = creation;
  const { topUpId, expiresAt } = topUp;
  const amount = paidAmountOf(topUp);
  if (!(await claimOpening(database.pool, topUpId, provider.opensWithinMs + OPENING_GRACE_MS))) return;
  try {
    const description = `Saldo Rp ${formatMoney(idr(amount))}`;
    const opened = await provider.open({
      orderId: topUpId,
      amount,
      description,
      expiresAt,
      returnUrl: returnUrlOf(topUpId),
      ...(topUp.savesMethod ? { saveFor: topUpId } : {}),
    });
    await saveOpened(database.pool, { topUpId, ...opened });
  } catch (error) {
    await endOpening(database.pool, topUpId).catch(() => {}); // it ends by itself
    if (!(error instanceof PaymentProviderError)) throw error;
    onFailure(topUpId, error);
    throw new UpstreamBusy(undefined, { cause: error });
  }
}

async function read({ database }: TopUpCreation, topUpId: string): Promise<TopUp> {
  const [topUp] = await selectTopUps(database.pool, [topUpId]);
  invariant(topUp !== undefined, "a top-up that was written can be read");
  return topUp;
}
