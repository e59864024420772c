// What a key may do: a budget, an end, the models that it may ask, and the networks that may use it. The request path decides all but the
// networks in the database, on locked rows (database/functions/admit_request.sql); here they are checked and shown.

import { ValidationError } from "../kernel/errors.ts";
import { type BudgetPeriod, ModelNotAllowed } from "../kernel/key-limit-errors.ts";
import { parseIpNetwork } from "../kernel/ip-networks.ts";

/** The amount of a budget, in micro-rupiah, and what it is for. */
export type BudgetAmount = { readonly amount: bigint; readonly period: BudgetPeriod };

/** Amounts are micro-rupiah. */
export type KeyLimits = {
  /** Null: no budget. */
  readonly budget: BudgetAmount | null;
  /** From then on the key works no more. Null: it has no end. */
  readonly expiresAt: Date | null;
  /** Ids, or beginnings of ids with an asterisk behind them. Null: every model. */
  readonly allowedModels: readonly string[] | null;
  /** The networks whose clients may use it. Null: all. */
  readonly allowedNetworks: readonly string[] | null;
  /** Tokens in any 60 seconds. Null: no limit. */
  readonly tokenLimit: number | null;
};

/** What became of a budget in its present period, in micro-rupiah. */
export type KeyBudgetState = {
  readonly spent: bigint;
  readonly held: bigint;
  readonly left: bigint;
  /** When it begins again. Null: never. */
  readonly resetsAt: Date | null;
  /** The zone of its days or months. Null: it has none. */
  readonly timeZone: string | null;
};

/** The zone of an account that has chosen none. */
export const DEFAULT_BUDGET_ZONE = "Asia/Jakarta";

export const NO_LIMITS: KeyLimits = {
  budget: null,
  expiresAt: null,
  allowedModels: null,
  allowedNetworks: null,
  tokenLimit: null,
};

/** The largest budget: a bigint of the database, far above every balance. */
const MAX_BUDGET = 10n ** 18n;
/** What a timestamp in JSON can be. */
const LAST_END_MS = Date.UTC(9999, 11, 31, 23, 59, 59);
const MAX_MODELS = 100;
const MAX_MODEL_LENGTH = 200;
const MAX_NETWORKS = 100;
/** The largest limit of tokens in a minute. */
export const MAX_TOKEN_LIMIT = 1_000_000_000;

/** Errors: ValidationError. */
export function requireKeyLimits({ budget, expiresAt, allowedModels, allowedNetworks, tokenLimit }: KeyLimits): void {
  requireBudget(budget, "limits.budgetIdr");
  if (expiresAt !== null && !(expiresAt.getTime() <= LAST_END_MS)) {
    throw wrongLimit("expiresAt", "expires_at.range", "must be in the year 9999 or before");
  }
  if (tokenLimit !== null && !(Number.isInteger(tokenLimit) && tokenLimit > 0 && tokenLimit <= MAX_TOKEN_LIMIT)) {
    throw wrongLimit("tokenLimit", "token_limit.range", `must be a whole number from 1 to ${MAX_TOKEN_LIMIT}`);
  }
  if (allowedModels !== null && !isListOf(allowedModels, MAX_MODELS, isSoundModel)) {
    const message = `must be 1 to ${MAX_MODELS} ids of models, or beginnings with an asterisk behind them`;
    throw wrongLimit("allowedModels", "allowed_models.shape", message);
  }
  if (allowedNetworks !== null && !isListOf(allowedNetworks, MAX_NETWORKS, (text) => parseIpNetwork(text) !== null)) {
    const message = `must be 1 to ${MAX_NETWORKS} addresses of IPv4 or IPv6, or networks such as 203.0.113.0/24`;
    throw wrongLimit("allowedNetworks", "allowed_networks.shape", message);
  }
}

/** A budget is from 0 on. Errors: ValidationError. */
export function requireBudget(budget: BudgetAmount | null, field: string): void {
  if (budget === null || (budget.amount >= 0n && budget.amount <= MAX_BUDGET)) return;
  throw new ValidationError([{ field, rule: "budget.range", message: "must be an amount from 0 on" }]);
}

/** A key that has ended keeps its end while other limits change; a new end is in the future. Errors: ValidationError. */
export function requireFutureEnd({ expiresAt }: KeyLimits, present: Date | null, nowMs: number): void {
  if (expiresAt === null || expiresAt.getTime() > nowMs || expiresAt.getTime() === present?.getTime()) return;
  throw wrongLimit("expiresAt", "expires_at.future", "must be in the future");
}

/** A budget as the database reads it: what was spent in a period that has ended is not in it. */
export type BudgetColumns = {
  readonly amount: bigint;
  readonly period: BudgetPeriod;
  readonly spentNow: bigint;
  readonly held: bigint;
  readonly zone: string | null | undefined;
  readonly endsAt: Date | null | undefined;
};

/** The state of a budget. */
export function budgetState({ amount, period, spentNow, held, zone, endsAt }: BudgetColumns): KeyBudgetState {
  const left = amount - spentNow - held;
  return {
    spent: spentNow,
    held,
    left: left > 0n ? left : 0n,
    resetsAt: endsAt ?? null,
    timeZone: period === "total" ? null : (zone ?? DEFAULT_BUDGET_ZONE),
  };
}

/** Whether a key with these models may ask one. The database has the same rule (is_model_allowed). */
export function isModelAllowed(allowed: readonly string[] | null, model: string): boolean {
  if (allowed === null) return true;
  return allowed.some((text) => (text.endsWith("*") ? model.startsWith(text.slice(0, -1)) : text === model));
}

/** Errors: ModelNotAllowed where a key with these models may not ask one. */
export function requireAllowed(allowed: readonly string[] | null, model: string): void {
  if (!isModelAllowed(allowed, model)) throw new ModelNotAllowed(model);
}

function isListOf(texts: readonly string[], most: number, isSound: (text: string) => boolean): boolean {
  return texts.length > 0 && texts.length <= most && texts.every(isSound);
}

function isSoundModel(text: string): boolean {
  return text !== "" && text.length <= MAX_MODEL_LENGTH;
}

/** One wrong field of the limits. */
export function wrongLimit(field: string, rule: string, message: string): ValidationError {
  return new ValidationError([{ field: `limits.${field}`, rule, message }]);
}
