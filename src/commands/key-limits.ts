// The options of a key's limits. `none`, `never` and `all` take a limit away.

import { DAY_MS, isBillingDay, startOfBillingDay } from "../kernel/clock.ts";
import { BUDGET_PERIODS, type BudgetPeriod } from "../kernel/key-limit-errors.ts";
import { formatMoney, idr } from "../kernel/money.ts";
import type { ApiKey } from "../keys/api-key.ts";
import { type KeyLimits, MAX_TOKEN_LIMIT } from "../keys/key-limits.ts";
import { type CommandValues, UsageError } from "./command.ts";
import type { CommandOption } from "./help.ts";
import { amountOption, choiceOption, integerOption } from "./option-values.ts";

export const limitOptions: Readonly<Record<string, CommandOption>> = {
  budget: {
    required: false,
    value: "RUPIAH",
    about: "the most its requests cost in a period; 0 stops all that cost, none is no budget",
  },
  "budget-period": { required: false, value: "P", about: "total, day or month; total", choices: BUDGET_PERIODS },
  expires: {
    required: false,
    value: "DAY",
    about: "the last day on which it works, or a moment such as 2027-01-31T09:00:00Z, or never",
  },
  models: { required: false, value: "LIST", about: "ids with commas between, or beginnings such as demo/*, or all" },
  "token-limit": { required: false, value: "N", about: "tokens in any 60 seconds, or none" },
  networks: {
    required: false,
    value: "LIST",
    about: "addresses or networks such as 203.0.113.0/24 with commas between, or all",
  },
};

/** Whether an option of a limit was given. */
export function hasLimits(values: CommandValues): boolean {
  return Object.keys(limitOptions).some((option) => values.get(option) !== undefined);
}

/** The limits with the options that were given in place of the present ones. Errors: UsageError. */
export function limitsFrom(values: CommandValues, present: KeyLimits): KeyLimits {
  const [expires, models, networks] = ["expires", "models", "networks"].map((option) => values.get(option));
  return {
    budget: budgetFrom(values, present.budget),
    expiresAt: expires === undefined ? present.expiresAt : momentFrom(expires),
    allowedModels: models === undefined ? present.allowedModels : listFrom(models, "models", "ids of models"),
    tokenLimit: tokenLimitFrom(values.get("token-limit"), present.tokenLimit),
    allowedNetworks: networks === undefined ? present.allowedNetworks : listFrom(networks, "networks", "networks"),
  };
}

/** A budget with the options that were given in place of the present one. Errors: UsageError. */
export function budgetFrom(values: CommandValues, present: KeyLimits["budget"]): KeyLimits["budget"] {
  const [text, periodText] = [values.get("budget"), values.get("budget-period")];
  if (text === "none") {
    if (periodText !== undefined) throw new UsageError("--budget-period needs a --budget");
    return null;
  }
  const amount = text === undefined ? present?.amount : amountOption(text, "budget", 0n);
  if (amount === undefined) {
    if (periodText !== undefined) throw new UsageError("--budget-period needs a --budget");
    return null;
  }
  const period: BudgetPeriod =
    periodText === undefined ? (present?.period ?? "total") : choiceOption(periodText, "budget-period", BUDGET_PERIODS);
  return { amount, period };
}

function tokenLimitFrom(text: string | undefined, present: number | null): number | null {
  if (text === undefined) return present;
  return text === "none" ? null : integerOption(text, "token-limit", { min: 1, max: MAX_TOKEN_LIMIT });
}

function momentFrom(text: string): Date | null {
  if (text === "never") return null;
  if (isBillingDay(text)) return new Date(startOfBillingDay(text) + DAY_MS);
  const isMoment = /^\d{4}-\d\d-\d\dT.*(?:Z|[+-]\d\d:\d\d)$/.test(text) && isBillingDay(text.slice(0, 10));
  const moment = new Date(isMoment ? text : Number.NaN);
  if (!Number.isNaN(moment.getTime())) return moment;
  throw new UsageError("--expires must be a day such as 2027-01-31, a moment such as 2027-01-31T09:00:00Z, or never");
}

function listFrom(text: string, option: string, what: string): readonly string[] | null {
  if (text === "all") return null;
  const items = text.split(",").map((item) => item.trim());
  if (items.every((item) => item !== "")) return items;
  throw new UsageError(`--${option} must be ${what} with commas between, or all`);
}

/** A key with its limits and the state of its budget, as commands print it. */
export function keyFacts({
  keyId,
  name,
  rateLimit,
  rateLimitBound,
  tokensLeft,
  limits,
  budget,
  revokedAt,
}: ApiKey): Readonly<Record<string, unknown>> {
  const { expiresAt, allowedModels, allowedNetworks, tokenLimit } = limits;
  return {
    keyId,
    name,
    rateLimit,
    rateLimitBound,
    tokenLimit,
    tokensLeft,
    budgetIdr: limits.budget === null ? null : rupiah(limits.budget.amount),
    budgetPeriod: limits.budget?.period ?? null,
    budgetSpentIdr: budget === null ? null : rupiah(budget.spent),
    budgetHeldIdr: budget === null ? null : rupiah(budget.held),
    budgetLeftIdr: budget === null ? null : rupiah(budget.left),
    budgetResetsAt: budget?.resetsAt?.toISOString() ?? null,
    budgetTimeZone: budget?.timeZone ?? null,
    expiresAt: expiresAt?.toISOString() ?? null,
    models: allowedModels,
    networks: allowedNetworks,
    revokedAt: revokedAt?.toISOString() ?? null,
  };
}

function rupiah(units: bigint): string {
  return formatMoney(idr(units));
}
