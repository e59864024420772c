// The JSON of an alert, as the webhook gets it: the same text for the same alert, however often it is sent.

import { startOfBillingPeriod } from "../../kernel/clock.ts";
import type { BudgetPeriod } from "../../kernel/key-limit-errors.ts";
import { formatMoney, idr } from "../../kernel/money.ts";
import type { Alert } from "./alert-types.ts";

/** The body of a delivery. Amounts are rupiah as decimal strings. */
export function alertMessage(alert: Alert): string {
  const { id, accountId, type, createdAt } = alert;
  return JSON.stringify({ id, type, createdAt: createdAt.toISOString(), accountId, data: factsOf(alert) });
}

function factsOf(alert: Alert): object {
  const currency = "IDR";
  switch (alert.type) {
    case "balance.low": {
      const { threshold, balance } = alert.data;
      return { currency, threshold: rupiah(threshold), balance: rupiah(balance) };
    }
    case "key.budget_reached":
    case "member.budget_reached": {
      const { budget, spent, resetMs, ...facts } = alert.data;
      const resetsAt = resetOf(facts.period, resetMs, alert.createdAt)?.toISOString() ?? null;
      return { currency, ...facts, budget: rupiah(budget), spent: rupiah(spent), resetsAt };
    }
    case "usage.daily": {
      const { dailySpend, spent, ...facts } = alert.data;
      return { currency, ...facts, dailySpend: rupiah(dailySpend), spent: rupiah(spent) };
    }
    case "top_up.succeeded":
      break;
  }
  const { topUpId, amount, paidAt } = alert.data;
  return { currency, topUpId, amount: rupiah(amount), paidAt: new Date(paidAt).toISOString() };
}

/** Alerts of versions before have no moment, and budgets of days and months of Jakarta alone. */
function resetOf(period: BudgetPeriod, resetMs: number | undefined, createdAt: Date): Date | null {
  if (period === "total") return null;
  return new Date(resetMs ?? startOfBillingPeriod(period, createdAt.getTime(), 1));
}

function rupiah(micro: string): string {
  return formatMoney(idr(BigInt(micro)));
}
