// The limits of a key, as a form has them and as the server takes them.

import { type Timestamp, timestampDate, timestampFromDate } from "@bufbuild/protobuf/wkt";
import { type ApiKey, BudgetPeriod, type KeyLimits } from "#gen/saldo/keys/v1/key_pb.ts";
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
  /** Addresses and networks with spaces, commas or lines between. */
  readonly networks: string;
  /** Requests in a minute. Empty: as many as the operator's bound. */
  readonly rate: string;
  /** Tokens in a minute. Empty: no limit. */
  readonly tokens: string;
};

/** How many requests in a minute the owner of a new key may set. */
export const NEW_KEY_BOUND = 60;

export const NO_LIMITS: LimitFields = {
  budget: "",
  period: BudgetPeriod.MONTH,
  lastDay: "",
  models: "",
  networks: "",
  rate: "",
  tokens: "",
};

/** The fields that show the limits of a key. */
export function fieldsOf({
  limits,
  rateLimit,
  rateLimitBound,
}: Pick<ApiKey, "limits" | "rateLimit" | "rateLimitBound">): LimitFields {
  const rate = rateLimit === rateLimitBound ? "" : String(rateLimit);
  if (limits === undefined) return { ...NO_LIMITS, rate };
  const { budgetIdr, budgetPeriod, expiresAt, allowedModels, allowedNetworks, tokenLimit } = limits;
  return {
    rate,
    networks: allowedNetworks.join("\n"),
    tokens: tokenLimit === 0 ? "" : String(tokenLimit),
    budget: budgetIdr === "" ? "" : asTyped(budgetIdr),
    period: budgetIdr === "" ? NO_LIMITS.period : budgetPeriod,
    lastDay: expiresAt === undefined ? "" : lastDayOf(expiresAt),
    models: allowedModels.join("\n"),
  };
}

const MOST_MODELS = 100;
const MOST_NETWORKS = 100;
/** What a network is made of; the server reads it exactly. */
const NETWORK = /^(?=.*[.:])[0-9a-f.:]+(?:\/\d{1,3})?$/i;
/** A budget of nothing stops a key that is to work again. */
export const BUDGET: AmountRules = { ...RUPIAH, zero: true };

/** The bounds of the fields: today, what the key has, and the most requests in a minute; 0: any number. */
type LimitBounds = { readonly today: Day; readonly present?: LimitFields | undefined; readonly bound: number };

/** Which fields have no sound value. A last day that was set before may be over. */
export function problemsOf(
  { budget, lastDay, models, networks, rate, tokens }: LimitFields,
  { today, present = NO_LIMITS, bound }: LimitBounds,
): readonly (keyof LimitFields)[] {
  const isSound = {
    budget: budget.trim() === "" || amountOf(budget, BUDGET) !== null,
    lastDay: lastDay === present.lastDay || lastDay === "" || (isDay(lastDay) && lastDay >= today),
    models: namesIn(models).length <= MOST_MODELS,
    networks: namesIn(networks).length <= MOST_NETWORKS && namesIn(networks).every((name) => NETWORK.test(name)),
    rate: rate.trim() === "" || isCount(rate.trim(), bound === 0 ? MOST_REQUESTS : bound),
    tokens: tokens.trim() === "" || isCount(tokens.trim(), MOST_TOKENS),
  };
  return (["budget", "lastDay", "models", "networks", "rate", "tokens"] as const).filter((field) => !isSound[field]);
}

/** What the server takes. The fields have no problem. An end that was set to the second stays where its day does. */
export function limitsOf({ budget, period, lastDay, models, networks, tokens }: LimitFields, present?: KeyLimits) {
  const isKept = present?.expiresAt !== undefined && lastDayOf(present.expiresAt) === lastDay;
  const expiresAt = isKept ? present.expiresAt : endOf(lastDay);
  const budgetIdr = amountOf(budget, BUDGET) ?? "";
  return {
    budgetIdr,
    budgetPeriod: budgetIdr === "" ? BudgetPeriod.UNSPECIFIED : period,
    allowedModels: namesIn(models),
    allowedNetworks: namesIn(networks),
    tokenLimit: Number(tokens.trim()),
    ...(expiresAt === undefined ? {} : { expiresAt }),
  };
}

/** The rate limit that the server takes. The field has no problem. */
export function rateOf({ rate }: LimitFields, bound: number): number {
  return rate.trim() === "" ? bound : Number(rate.trim());
}

function isCount(text: string, most: number): boolean {
  return /^[1-9]\d{0,9}$/.test(text) && Number(text) <= most;
}

const MOST_REQUESTS = 1_000_000;
const MOST_TOKENS = 1_000_000_000;

function lastDayOf(end: Timestamp): Day {
  return dayOf(new Date(timestampDate(end).getTime() - 1));
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
