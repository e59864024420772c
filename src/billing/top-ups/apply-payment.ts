// Applies a provider's answer about an order to our books: one transaction changes the state and moves the money, behind the
// lock of the account and then of the top-up. A repeated or late answer finds nothing left to do.

import type { PoolClient } from "pg";
import type { Database } from "../../database/database.ts";
import { withRetry, withTransaction } from "../../database/transactions.ts";
import { NotFound } from "../../kernel/errors.ts";
import { invariant } from "../../kernel/invariant.ts";
import { uuidv7 } from "../../kernel/ids.ts";
import { idr, IDR } from "../../kernel/money.ts";
import { rupiahText } from "../../kernel/rupiah-text.ts";
import { lockAccount } from "../../ledger/account-lock.ts";
import { creditAccount } from "../../ledger/credits.ts";
import { debitAvailable } from "../../ledger/debits.ts";
import { noteOutcome } from "../auto-top-ups/store.ts";
import { systemAccounts } from "../../ledger/system-accounts.ts";
import type { PaymentFacts } from "../payments/payment-provider.ts";
import { settleDisputes } from "./disputes.ts";
import { postProviderMoney } from "./provider-money.ts";
import { owe } from "../../ledger/receivables.ts";
import { insertPostings } from "../../ledger/postings.ts";
import { divisibleOf, givenBackParts, type TaxedAmount } from "../receipts/tax.ts";
import { isCredited, type ReportedState, statesAfter } from "./states.ts";
import { lockTopUp, saveMoved, selectTopUps } from "./store.ts";
import { paidAmountOf, type TopUp } from "./top-up.ts";

const { providerClearing, taxPayable } = systemAccounts;
const NOTHING: TaxedAmount = { net: 0n, tax: 0n };

/** The decision about a top-up, before it is carried out. */
type Decision = {
  readonly steps: readonly ReportedState[];
  /** The whole amount given back after the steps, by its parts. */
  readonly back: TaxedAmount;
  readonly problem: string | null;
};

/** A provider's answer. */
export type PaymentReport = PaymentFacts & {
  /** Whether its answer, asked for again after the credit, is that there is no payment. Left out: false. */
  readonly isUndone?: boolean;
  /** Whether its answer, asked for after the chargeback, is that the payment is paid. Left out: false. */
  readonly isWonBack?: boolean;
};

/**
 * Applies a provider's answer and returns the updated top-up. Errors: NotFound.
 */
export function applyPayment(database: Database, topUpId: string, facts: PaymentReport): Promise<TopUp> {
  return withRetry(() => withTransaction(database, (client) => applyIn(client, topUpId, facts)));
}

async function applyIn(client: PoolClient, topUpId: string, facts: PaymentReport): Promise<TopUp> {
  const [known] = await selectTopUps(client, [topUpId]);
  if (known === undefined) throw new NotFound("There is no such top-up.");
  await lockAccount(client, known.accountId);
  const topUp = await lockTopUp(client, topUpId);
  invariant(topUp !== null, "a top-up stays where it is");
  const decision = decide(topUp, facts);
  // Answers do not show disputes, so one is settled only when all was given back since.
  const isSettled = sumOf(decision.back) === paidAmountOf(topUp) && sumOf(backOf(topUp)) < paidAmountOf(topUp);
  const dispute = isSettled ? null : topUp.dispute;
  const providerReference = facts.reference ?? topUp.providerReference;
  const state = decision.steps.at(-1) ?? topUp.state;
  const { back, problem } = decision;
  const grows = sumOf(back) > sumOf(backOf(topUp));
  const isShown = problem === topUp.problem && dispute === topUp.dispute;
  const isSame = state === topUp.state && !grows && isShown;
  const isPaid = isCredited(state) && facts.state !== "unknown" && isCredited(facts.state);
  if (isSame && providerReference === topUp.providerReference) {
    // The fee of a payment may be known later than the payment.
    if (isPaid) await postProviderMoney(client, topUp, facts);
    return topUp;
  }

  if (decision.steps.includes("paid")) await credit(client, topUp);
  if (isPaid) await postProviderMoney(client, topUp, facts);
  if (isSettled) await settleDisputes(client, topUpId);
  if (grows) await takeBack(client, topUp, { back, state });
  const shown = { problem, dispute, providerReference, givenBack: back.net, taxGivenBack: back.tax };
  // The credit waits for nothing of the method, which is saved behind it.
  const isMethodDue = decision.steps.at(-1) === "paid" && topUp.savesMethod && facts.method != null;
  await saveMoved(client, { topUpId, state, ...shown, isMethodDue, isCredited: isCredited(state) });
  if (topUp.methodId !== null) await noteOutcome(client, topUpId);
  const [moved] = await selectTopUps(client, [topUpId]);
  invariant(moved !== undefined, "a top-up that was written can be read");
  return moved;
}

// What comes back of a chargeback is less by the bank's fees, so a person reads the provider's statement and credits by hand.
// Stored problems are compared with this sentence: another wording would not clear them.
const WON_BACK =
  "The provider reports paid for a payment that was charged back: the dispute may be won. Nothing was credited for it.";

/** Decides what a report changes. */
function decide(topUp: TopUp, facts: PaymentReport): Decision {
  const paid = paidAmountOf(topUp);
  const nothing: Decision = { steps: [], back: backOf(topUp), problem: topUp.problem };
  if (facts.state === "unknown") return nothing;
  if (facts.isUndone === true && isCredited(topUp.state)) return undo(topUp, facts.state);
  if (facts.isWonBack === true && topUp.state === "charged_back") return { ...nothing, problem: WON_BACK };
  const steps = statesAfter(topUp.state, facts.state);
  if (steps.includes("paid")) {
    // The order's own amount is credited, and only if at least that and its tax were paid: a payer's fee may be on top of it.
    if (facts.amount === null || facts.amount < paid) {
      const reported = facts.amount === null ? "an amount that cannot be read" : rupiahText(idr(facts.amount));
      const problem = `The provider reports ${facts.state}, of ${reported}, and ${rupiahText(idr(paid))} were ordered.`;
      return { steps: statesAfter(topUp.state, "review"), back: NOTHING, problem };
    }
  }
  const last = steps.at(-1);
  if (last === undefined) return nothing;
  if (last !== "partially_refunded" && last !== "refunded" && last !== "charged_back") {
    return { steps, back: backOf(topUp), problem: null };
  }
  const parts = netAndTax(topUp);
  const reportedBack = facts.givenBack === null ? null : divisibleOf(facts.givenBack, parts);
  const givenBack = last === "refunded" ? paid : atMost(reportedBack, paid);
  if (givenBack === null) {
    const problem = `The provider reports ${last}, without an amount. Nothing was taken back for it.`;
    return { steps, back: backOf(topUp), problem };
  }
  // An older report may come later; the amount given back only grows.
  const before = sumOf(backOf(topUp));
  const grows = givenBack > before;
  if (topUp.state === "charged_back" && !grows) {
    // The provider reports again what was taken back: whatever its answers contradicted before is settled.
    return facts.state === "charged_back" && before > 0n ? { ...nothing, problem: null } : nothing;
  }
  return { steps, back: grows ? givenBackParts(givenBack, parts, topUp.taxGivenBack) : backOf(topUp), problem: null };
}

/** How a credit ends whose payment does not exist after all. */
function undo(topUp: TopUp, reported: ReportedState): Decision {
  // A payment that was captured is given back whole by canceling it.
  if (reported === "canceled")
    return { steps: statesAfter(topUp.state, "refunded"), back: netAndTax(topUp), problem: null };
  // No provider does that to a payment it has confirmed, so a person has to find out which of its two answers is wrong.
  const problem = `The provider reports ${reported} for a payment that it had confirmed. Nothing was taken back for it.`;
  return { steps: [], back: backOf(topUp), problem };
}

function netAndTax({ amount, tax }: TopUp): TaxedAmount {
  return { net: amount, tax };
}

/** What was given back of a top-up so far. */
function backOf({ givenBack, taxGivenBack }: TopUp): TaxedAmount {
  return { net: givenBack, tax: taxGivenBack };
}

function sumOf({ net, tax }: TaxedAmount): bigint {
  return net + tax;
}

function atMost(amount: bigint | null, most: bigint): bigint | null {
  return amount === null || amount < most ? amount : most;
}

/** Puts the order's own amount on the account, once for ever, and the tax on what we owe. A credit collects what the account owes. */
async function credit(client: PoolClient, { topUpId, accountId, amount, tax }: TopUp): Promise<void> {
  const posted = await creditAccount(client, {
    accountId,
    amount,
    from: providerClearing,
    reason: "top_up",
    reference: `top-up:${topUpId}`,
    groupId: topUpId,
  });
  invariant(posted.isNew, "a top-up that is not credited yet has no posting");
  if (tax > 0n) await postTax(client, { topUpId, accountId, amount: tax, name: "tax", isBack: false });
}

/** Takes back what the provider gave back: the available part at once, and the rest becomes debt. The tax is no longer owed. */
async function takeBack(
  client: PoolClient,
  topUp: TopUp,
  { back, state }: { back: TaxedAmount; state: TopUp["state"] },
): Promise<void> {
  const { topUpId, accountId } = topUp;
  const name = `given-back:${sumOf(back)}`;
  const tax = back.tax - topUp.taxGivenBack;
  if (tax > 0n) await postTax(client, { topUpId, accountId, amount: tax, name: `tax-${name}`, isBack: true });
  const amount = back.net - topUp.givenBack;
  if (amount === 0n) return;
  const reason = state === "charged_back" ? "top_up_charged_back" : "top_up_refunded";
  const reference = `top-up:${topUpId}:${name}`;
  const taken = await debitAvailable(client, {
    accountId,
    amount,
    to: providerClearing,
    reason,
    reference,
    groupId: topUpId,
  });
  if (taken < amount) await owe(client, { accountId, topUpId, amount: amount - taken, reason });
}

/** Posts tax of a payment as owed to the state, or back. It is never money of the account. */
async function postTax(
  client: PoolClient,
  tax: { topUpId: string; accountId: string; amount: bigint; name: string; isBack: boolean },
): Promise<void> {
  const { topUpId, accountId, amount, name, isBack } = tax;
  const sides = isBack
    ? { debit: taxPayable, credit: providerClearing }
    : { debit: providerClearing, credit: taxPayable };
  const reason = isBack ? "top_up_tax_returned" : "top_up_tax";
  const reference = `top-up:${topUpId}:${name}`;
  const posting = { id: uuidv7(), accountId, groupId: topUpId, asset: IDR, ...sides, amount, reason, reference };
  const posted = await insertPostings(client, [posting]);
  invariant(posted.length === 1, "the tax of a payment is posted once");
}
