// Charging what accounts want while their balance is low. An order is decided behind the lock of its account and committed; then the
// provider is called once. What became of that call is only ever asked (top-ups/check-top-ups.ts): no second call can charge the order.

import type { PoolClient } from "pg";
import type { Database } from "../../database/database.ts";
import { createLook } from "../../database/throttled-reader.ts";
import { withTransaction } from "../../database/transactions.ts";
import type { Clock } from "../../kernel/clock.ts";
import { BEFORE_ALL_IDS, uuidv7 } from "../../kernel/ids.ts";
import { formatMoney, idr } from "../../kernel/money.ts";
import { SecretUnreadable } from "../../kernel/sealed-text.ts";
import { lockAccount } from "../../ledger/account-lock.ts";
import { PaymentProviderError } from "../payments/payment-provider.ts";
import type { PaymentProviders } from "../payments/payment-providers.ts";
import { applyPayment } from "../top-ups/apply-payment.ts";
import { FIRST_CHECK_MS } from "../top-ups/check-schedule.ts";
import { taxedOrder } from "../top-ups/create-top-up.ts";
import { insertTopUp, wake } from "../top-ups/store.ts";
import { openMethodToken, readMethod } from "./saved-method.ts";
import {
  addNotice,
  claimCharge,
  isUncalled,
  pause,
  putOff,
  readHistory,
  readPlan,
  selectLowAccounts,
} from "./store.ts";

/** So many refusals in a row pause it, until its owner saves the settings again. */
export const MOST_REFUSALS = 3;
/** A process that slept for longer behind its claim makes no call: the order may have ended, and another may have been charged. */
const CALL_WITHIN_MS = 10_000;
/** An order of which the provider knows nothing after this time was never made. No call takes a tenth of it. */
const ENDS_AFTER_MS = 15 * 60_000;
/** How many accounts of a provider are charged at a time: a call that gets no answer delays one of them. */
const AT_ONCE = 8;
/** The part of the time for which the database looks for accounts beside requests. */
const SHARE = 0.2;

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
  /** What is charged, tax included. */
  readonly paid: bigint;
};

/** The providers whose saved methods are charged. */
export function chargingProviders({ providers }: Pick<AutoTopUpWork, "providers">): readonly string[] {
  return providers.names.filter((name) => providers.of(name)?.charge != null);
}

/** Charges every account that is low, wants it and has a method of the provider: some at a time. */
export async function chargeAutoTopUps(work: AutoTopUpWork, provider: string, signal?: AbortSignal): Promise<void> {
  const accounts = lowAccounts(work, provider, signal);
  const chargeOnes = async (): Promise<void> => {
    for await (const accountId of accounts) {
      if (signal?.aborted === true) return;
      await chargeAutoTopUp(work, accountId).catch((error: unknown) => work.onFailure(accountId, error));
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, chargeOnes));
}

async function* lowAccounts(
  { database }: AutoTopUpWork,
  provider: string,
  signal: AbortSignal | undefined,
): AsyncGenerator<string, void> {
  const look = createLook(database.pool, { share: SHARE, ...(signal && { signal }) });
  for (let after: string | null = BEFORE_ALL_IDS; after !== null;) {
    const page = await selectLowAccounts(look, { after, provider });
    yield* page.accounts;
    after = page.next;
  }
}

/** Charges one account if it is low, wants it, and nothing speaks against it. Errors: those of the database; SecretUnreadable. */
export async function chargeAutoTopUp(work: AutoTopUpWork, accountId: string): Promise<void> {
  const method = await openMethod(work.database, accountId);
  if (method === null) return;
  const order = await withTransaction(work.database, (client) => decide(client, work, { accountId, ...method }));
  if (order !== null) await charge(work, order, method.token);
}

/** The method of an account, to be charged. Null: it has none. One that cannot be read is looked at again in an hour. */
async function openMethod(
  database: Database,
  accountId: string,
): Promise<{ readonly methodId: string; readonly token: string } | null> {
  try {
    const methodId = (await readMethod(database.pool, accountId))?.methodId;
    const token = methodId === undefined ? null : await openMethodToken(database.pool, methodId);
    return methodId === undefined || token === null ? null : { methodId, token };
  } catch (error) {
    if (error instanceof SecretUnreadable) {
      await withTransaction(database, async (client) => {
        await lockAccount(client, accountId);
        await putOff(client, accountId, null);
      });
    }
    throw error;
  }
}

/** Writes an order down. Null: none is due. All that counts is read behind the lock of the account. */
async function decide(
  client: PoolClient,
  { clock }: AutoTopUpWork,
  { accountId, methodId }: { accountId: string; methodId: string },
): Promise<Order | null> {
  const account = await lockAccount(client, accountId);
  const plan = await readPlan(client, accountId);
  if (plan?.methodId !== methodId || account.posted - account.owed >= plan.threshold) return null;
  const history = await readHistory(client, accountId, plan.resumedAt);
  if (history.open > 0) return null;
  if (history.refusals >= MOST_REFUSALS || history.wasGivenBack) {
    await pause(client, accountId);
    const about = `paused:${plan.resumedAt.toISOString()}`;
    await addNotice(client, { accountId, kind: "paused", about, amount: plan.amount });
    return null;
  }
  if (history.waitUntil !== null) {
    await putOff(client, accountId, history.waitUntil);
    return null;
  }
  const taxed = await taxedOrder(client, plan.amount);
  const paid = taxed.amount + taxed.tax;
  if (history.charged + paid > plan.monthlyCap) {
    const about = `capped:${history.month}:${plan.monthlyCap}`;
    await addNotice(client, { accountId, kind: "capped", about, amount: plan.monthlyCap });
    await putOff(client, accountId, null);
    return null;
  }
  const { provider } = plan;
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
  return { topUpId, accountId, provider, paid };
}

/** Calls the provider for an order that is committed: once for ever, whatever becomes of the call. */
async function charge(
  { database, providers, callWithinMs = CALL_WITHIN_MS, onFailure }: AutoTopUpWork,
  order: Order,
  token: string,
): Promise<void> {
  const { topUpId, accountId, paid } = order;
  const provider = providers.of(order.provider);
  const sinceMs = performance.now();
  const claim = await withTransaction(database, async (client) => {
    await lockAccount(client, accountId);
    if (provider?.charge != null && (await claimCharge(client, topUpId))) return "ours";
    return (await isUncalled(client, topUpId)) ? "stopped" : "gone";
  });
  if (claim === "gone") return;
  // No call was made, and none will be: the order ends now, and counts as no refusal.
  if (provider?.charge == null || claim === "stopped" || performance.now() - sinceMs > callWithinMs) {
    await applyPayment(database, topUpId, { state: "canceled", amount: null, givenBack: null, reference: null });
    return;
  }
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
