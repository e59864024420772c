// Charging what accounts want while their balance is low. An order is decided behind the lock of its account and committed; then the
// provider is called once. What became of that call is only ever asked (top-ups/check-top-ups.ts): no second call can charge the order.

import type { PoolClient } from "pg";
import type { Database } from "../../database/database.ts";
import { withTransaction } from "../../database/transactions.ts";
import type { Clock } from "../../kernel/clock.ts";
import { BEFORE_ALL_IDS, uuidv7 } from "../../kernel/ids.ts";
import { formatMoney, idr } from "../../kernel/money.ts";
import { lockAccount } from "../../ledger/account-lock.ts";
import { PaymentProviderError } from "../payments/payment-provider.ts";
import type { PaymentProviders } from "../payments/payment-providers.ts";
import { applyPayment } from "../top-ups/apply-payment.ts";
import { FIRST_CHECK_MS } from "../top-ups/check-schedule.ts";
import { taxedOrder } from "../top-ups/create-top-up.ts";
import { insertTopUp, wake } from "../top-ups/store.ts";
import { openMethodToken } from "./saved-method.ts";
import { addNotice, claimCharge, readPlan, noteOutcomes, pause, readHistory, selectLowAccounts } from "./store.ts";

/** So many refusals in a row pause it, until its owner saves the settings again. */
export const MOST_REFUSALS = 3;
/** A process that slept for longer behind its claim makes no call: the order may have ended, and another may have been charged. */
const CALL_WITHIN_MS = 10_000;
/** An order of which the provider knows nothing after this time was never made. No call takes a tenth of it. */
const ENDS_AFTER_MS = 15 * 60_000;

export type AutoTopUpWork = {
  readonly database: Database;
  readonly providers: Pick<PaymentProviders, "names" | "of">;
  readonly clock: Clock;
  /** How long a claim allows the call. Left out: ten seconds. */
  readonly callWithinMs?: number;
  /** Called with the reason when an order could not be decided or charged. */
  readonly onFailure: (accountId: string, error: unknown) => void;
};

type Order = {
  readonly topUpId: string;
  readonly accountId: string;
  readonly provider: string;
  readonly methodId: string;
  /** What is charged, tax included. */
  readonly paid: bigint;
};

/** Charges every account that is low and wants it, and owes the mails of what became of former charges. */
export async function chargeAutoTopUps(work: AutoTopUpWork, signal?: AbortSignal): Promise<void> {
  try {
    await chargeLowAccounts(work, signal);
  } finally {
    await noteOutcomes(work.database.pool);
  }
}

async function chargeLowAccounts(work: AutoTopUpWork, signal?: AbortSignal): Promise<void> {
  const { pool } = work.database;
  const providers = work.providers.names.filter((name) => work.providers.of(name)?.charge != null);
  if (providers.length === 0) return;
  for (let after: string | undefined = BEFORE_ALL_IDS; after !== undefined;) {
    const accounts: readonly string[] = await selectLowAccounts(pool, { after, providers });
    for (const accountId of accounts) {
      if (signal?.aborted) return;
      await chargeAutoTopUp(work, accountId).catch((error: unknown) => work.onFailure(accountId, error));
    }
    after = accounts.at(-1);
  }
}

/** Charges one account if it is low, wants it, and nothing speaks against it. Errors: those of the database. */
export async function chargeAutoTopUp(work: AutoTopUpWork, accountId: string): Promise<void> {
  const order = await withTransaction(work.database, (client) => decide(client, work, accountId));
  if (order !== null) await charge(work, order);
}

/** Writes an order down. Null: none is due. All that counts is read behind the lock of the account. */
async function decide(client: PoolClient, { clock }: AutoTopUpWork, accountId: string): Promise<Order | null> {
  const account = await lockAccount(client, accountId);
  const plan = await readPlan(client, accountId);
  if (plan === null || account.posted - account.owed >= plan.threshold) return null;
  const history = await readHistory(client, accountId, plan.resumedAt);
  if (history.open > 0) return null;
  if (history.refusals >= MOST_REFUSALS || history.wasGivenBack) {
    await pause(client, accountId);
    const about = `paused:${plan.resumedAt.toISOString()}`;
    await addNotice(client, { accountId, kind: "paused", about, amount: plan.amount });
    return null;
  }
  if (history.isWaiting) return null;
  const taxed = await taxedOrder(client, plan.amount);
  const paid = taxed.amount + taxed.tax;
  if (history.charged + paid > plan.monthlyCap) {
    const about = `capped:${history.month}:${plan.monthlyCap}`;
    await addNotice(client, { accountId, kind: "capped", about, amount: plan.monthlyCap });
    return null;
  }
  const { methodId, provider } = plan;
  const nowMs = clock.now();
  const topUpId = uuidv7(nowMs);
  await insertTopUp(client, {
    ...taxed,
    topUpId,
    accountId,
    provider,
    methodId,
    idempotencyKey: `automatic:${topUpId}`,
    expiresAt: new Date(nowMs + ENDS_AFTER_MS),
    nextCheckAt: new Date(nowMs + FIRST_CHECK_MS),
  });
  return { topUpId, accountId, provider, methodId, paid };
}

/** Calls the provider for an order that is committed: once for ever, whatever becomes of the call. */
async function charge(
  { database, providers, callWithinMs = CALL_WITHIN_MS, onFailure }: AutoTopUpWork,
  order: Order,
): Promise<void> {
  const { topUpId, accountId, methodId, paid } = order;
  const provider = providers.of(order.provider);
  const token = await openMethodToken(database.pool, methodId);
  // Nothing was called: the provider will know nothing of the order, and it ends by itself.
  if (provider?.charge == null || token === null) return;
  const sinceMs = performance.now();
  const isOurs = await withTransaction(database, async (client) => {
    await lockAccount(client, accountId);
    return claimCharge(client, topUpId);
  });
  if (!isOurs || performance.now() - sinceMs > callWithinMs) return;
  try {
    const description = `Saldo Rp ${formatMoney(idr(paid))}`;
    const { outcome, reference } = await provider.charge({
      orderId: topUpId,
      accountId,
      amount: paid,
      description,
      token,
    });
    if (outcome === "refused") {
      await applyPayment(database, topUpId, { state: "failed", amount: null, givenBack: null, reference });
      return;
    }
    await withTransaction(database, (client) => wake(client, topUpId, reference));
  } catch (error) {
    // What became of it is not known, and is asked when the order is due.
    if (!(error instanceof PaymentProviderError)) throw error;
    onFailure(accountId, error);
  }
}
