// Asks providers for the state of orders: those that a notification woke, those that are due, and one that an operator names.
// The provider is asked outside of any transaction; its answer is applied in one.

import type { Database } from "../../database/database.ts";
import { NotFound, UpstreamBusy } from "../../kernel/errors.ts";
import type { Clock } from "../../kernel/clock.ts";
import { saveDueMethod } from "../auto-top-ups/saved-method.ts";
import { type PaymentFacts, PaymentProviderError } from "../payments/payment-provider.ts";
import type { PaymentProviders } from "../payments/payment-providers.ts";
import { applyPayment } from "./apply-payment.ts";
import { hasRunOut, nextCheck, pauseAfterFailure } from "./check-schedule.ts";
import { isCredited, isUnpaid } from "./states.ts";
import { claimDue, type DueTopUp, reschedule, selectTopUps } from "./store.ts";
import type { TopUp } from "./top-up.ts";

/** How many orders one round asks about, all at a time. A round that was full is followed by another at once. */
const ORDERS_PER_ROUND = 16;
const MOST_ROUNDS = 50;

export type TopUpChecks = {
  readonly database: Database;
  /** The providers of this process. Orders of others are left to processes that have them. */
  readonly providers: Pick<PaymentProviders, "names" | "of">;
  readonly clock: Clock;
  /** Called with the reason when an order could not be asked about or applied. It is tried again. */
  readonly onFailure: (topUpId: string, error: unknown) => void;
};

/** Asks about a top-up now and returns it as it is then. Errors: NotFound; UpstreamBusy when its provider does not answer. */
export async function verifyTopUpNow(checks: TopUpChecks, topUpId: string): Promise<TopUp> {
  try {
    return await askAndApply(checks, topUpId);
  } catch (error) {
    if (error instanceof PaymentProviderError) throw new UpstreamBusy(undefined, { cause: error });
    throw error;
  }
}

/** Which due top-ups are asked about. Left out: those of every provider, until all were asked about. */
export type WhichDue = { readonly provider?: string; readonly signal?: AbortSignal };

/** Asks about every top-up that is due, in bounded rounds. Returns how many. */
export async function checkDueTopUps(checks: TopUpChecks, { provider, signal }: WhichDue = {}): Promise<number> {
  const providers = provider === undefined ? checks.providers.names : [provider];
  let asked = 0;
  for (let round = 0; round < MOST_ROUNDS && signal?.aborted !== true; round += 1) {
    const due = await claimDue(checks.database.pool, { providers, limit: ORDERS_PER_ROUND });
    await Promise.all(due.map((each) => checkDue(checks, each)));
    asked += due.length;
    if (due.length < ORDERS_PER_ROUND) break;
  }
  return asked;
}

async function checkDue(checks: TopUpChecks, due: DueTopUp): Promise<void> {
  const { database, clock } = checks;
  try {
    const topUp = await askAndApply(checks, due.topUpId);
    const at = nextCheck(topUp, clock.now());
    await reschedule(database.pool, due, { at: at === null ? null : new Date(at), learnt: true });
  } catch (error) {
    checks.onFailure(due.topUpId, error);
    const at = new Date(clock.now() + pauseAfterFailure(due.failures));
    // While the database is away, the claim runs out by itself.
    await reschedule(database.pool, due, { at, learnt: false }).catch(() => {});
  }
}

async function askAndApply(checks: TopUpChecks, topUpId: string): Promise<TopUp> {
  const { database, providers, clock } = checks;
  const [topUp] = await selectTopUps(database.pool, [topUpId]);
  if (topUp === undefined) throw new NotFound("There is no such top-up.");
  const provider = providers.of(topUp.provider);
  if (provider === null) throw new PaymentProviderError("refused", `the provider ${topUp.provider} is not configured`);
  const asked = {
    // The row's own id: the provider compares texts, and the caller may have written the id in capitals.
    orderId: topUp.topUpId,
    reference: topUp.providerReference,
    isCredited: isCredited(topUp.state),
    ...methodOf(topUp),
  };
  let facts = await provider.ask(asked);
  // An answer that was on its way while the payment was confirmed is old. An answer to a question after the credit, given twice, is
  // not.
  const contradicts = asked.isCredited && isUnpaid(facts.state);
  if (contradicts) facts = await provider.ask(asked);
  const isUndone = contradicts && isUnpaid(facts.state);
  const isWonBack = topUp.state === "charged_back" && facts.state === "paid";
  const known = hasRunOut(topUp, facts.state, clock.now()) ? expired(facts) : facts;
  const applied = await applyPayment(database, topUp.topUpId, { ...known, isUndone, isWonBack });
  return saveMethodOf(checks, applied, facts);
}

/** Saves the method that paid, behind the credit. Where that fails, the next check tries again: the credit stays as it is. */
async function saveMethodOf({ database, onFailure }: TopUpChecks, topUp: TopUp, facts: PaymentFacts): Promise<TopUp> {
  if (topUp.methodDueAt === null || facts.method == null) return topUp;
  try {
    await saveDueMethod(database, topUp, facts.method);
    return { ...topUp, methodDueAt: null };
  } catch (error) {
    onFailure(topUp.topUpId, error);
    return topUp;
  }
}

function methodOf({ methodId, savesMethod }: TopUp): { method?: "saved" | "charged" } {
  if (methodId !== null) return { method: "charged" };
  return savesMethod ? { method: "saved" } : {};
}

function expired(facts: PaymentFacts): PaymentFacts {
  return { ...facts, state: "expired" };
}
