// The limits of a key, as a form has them and as the server takes them.

import { type Timestamp, timestampDate, timestampFromDate } from "@bufbuild/protobuf/wkt";
import { BudgetPeriod, type KeyLimits } from "#gen/saldo/keys/v1/key_pb.ts";
import { beginOf, type Day, dayOf, daysLater, isDay } from "../../i18n/days.ts";
import { type AmountRules, amountOf, asTyped, RUPIAH } from "../../i18n/read-amount.ts";

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
/** A budget of nothing stops a key that is to work again. */
export const BUDGET: AmountRules = { ...RUPIAH, zero: true };

/** Which fields have no sound value. A last day that was set before may be over. */
export function problemsOf(
  { budget, lastDay, models }: LimitFields,
  today: Day,
  present = NO_LIMITS,
): readonly (keyof LimitFields)[] {
  const isSound = {
    budget: budget.trim() === "" || amountOf(budget, BUDGET) !== null,
    lastDay: lastDay === present.lastDay || lastDay === "" || (isDay(lastDay) && lastDay >= today),
    models: namesIn(models).length <= MOST_MODELS,
  };
  return (["budget", "lastDay", "models"] as const).filter((field) => !isSound[field]);
}

/** What the server takes. The fields have no problem. An end that was set to the second stays where its day does. */
export function limitsOf({ budget, period, lastDay, models }: LimitFields, present?: KeyLimits) {
  const isKept = present?.expiresAt !== undefined && fieldsOf(present).lastDay === lastDay;
  const expiresAt = isKept ? present.expiresAt : endOf(lastDay);
  const budgetIdr = amountOf(budget, BUDGET) ?? "";
  return {
    budgetIdr,
    budgetPeriod: budgetIdr === "" ? BudgetPeriod.UNSPECIFIED : period,
    allowedModels: namesIn(models),
    ...(expiresAt === undefined ? {} : { expiresAt }),
  };
}

function endOf(lastDay: string): Timestamp | undefined {
  return lastDay === "" ? undefined : timestampFromDate(beginOf(daysLater(lastDay, 1)));
}

/** Whether a key may ask a model, by the server's rule. */
export function isAllowed(models: readonly string[], id: string): boolean {
  if (models.length === 0) return true;
  return models.some((text) => (text.endsWith("*") ? id.startsWith(text.slice(0, -1)) : text === id));
}

function namesIn(text: string): string[] {
  return [...new Set(text.split(/[\s,]+/).filter((name) => name !== ""))];
}
