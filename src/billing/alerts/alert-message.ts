// The JSON of an alert, as the webhook gets it: the same text for the same alert, however often it is sent.

import { budgetResetMs } from "../../kernel/key-limit-errors.ts";
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
      const { budget, spent, ...facts } = alert.data;
      const resetMs = budgetResetMs(facts.period, alert.createdAt.getTime());
      const resetsAt = resetMs === null ? null : new Date(resetMs).toISOString();
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

function rupiah(micro: string): string {
  return formatMoney(idr(BigInt(micro)));
}
