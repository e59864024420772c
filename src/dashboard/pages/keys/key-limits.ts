// The limits of a key, as a form has them and as the server takes them.

import { timestampDate, timestampFromDate } from "@bufbuild/protobuf/wkt";
import { BudgetPeriod, type KeyLimits } from "#gen/saldo/keys/v1/key_pb.ts";
import { beginOf, type Day, dayOf, daysLater, isDay } from "../../i18n/days.ts";
import { amountOf, asTyped, RUPIAH } from "../../i18n/read-amount.ts";

/** The fields as typed. Empty: no limit. */
export type LimitFields = {
  readonly budget: string;
  readonly period: BudgetPeriod;
  /** The last day on which it works. */
  readonly lastDay: string;
  /** Ids with spaces, commas or lines between. */
  readonly models: string;
};

export const NO_LIMITS: LimitFields = { budget: "", period: BudgetPeriod.MONTH, lastDay: "", models: "" };

/** The fields that show the limits of a key. */
export function fieldsOf(limits: KeyLimits | undefined): LimitFields {
  if (limits === undefined) return NO_LIMITS;
  const { budgetIdr, budgetPeriod, expiresAt, allowedModels } = limits;
  return {
    budget: budgetIdr === "" ? "" : asTyped(budgetIdr),
    period: budgetIdr === "" ? NO_LIMITS.period : budgetPeriod,
    lastDay: expiresAt === undefined ? "" : dayOf(new Date(timestampDate(expiresAt).getTime() - 1)),
    models: allowedModels.join("\n"),
  };
}

const MOST_MODELS = 100;

/** Which fields have no sound value. */
export function problemsOf({ budget, lastDay, models }: LimitFields, today: Day): readonly (keyof LimitFields)[] {
  const isSound = {
    budget: budget.trim() === "" || amountOf(budget, RUPIAH) !== null,
    lastDay: lastDay === "" || (isDay(lastDay) && lastDay >= today),
    models: namesIn(models).length <= MOST_MODELS,
  };
  return (["budget", "lastDay", "models"] as const).filter((field) => !isSound[field]);
}

/** What the server takes. The fields have no problem. */
export function limitsOf({ budget, period, lastDay, models }: LimitFields) {
  const budgetIdr = amountOf(budget, RUPIAH) ?? "";
  return {
    budgetIdr,
    budgetPeriod: budgetIdr === "" ? BudgetPeriod.UNSPECIFIED : period,
    allowedModels: namesIn(models),
    ...(lastDay === "" ? {} : { expiresAt: timestampFromDate(beginOf(daysLater(lastDay, 1))) }),
  };
}

function namesIn(text: string): string[] {
  return [...new Set(text.split(/[\s,]+/).filter((name) => name !== ""))];
}
