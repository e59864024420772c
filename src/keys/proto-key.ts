// A key and its limits, between this room and the contract.

import { timestampDate, timestampFromDate } from "@bufbuild/protobuf/wkt";
import { BudgetPeriod as ProtoPeriod, type KeyLimits as ProtoLimits } from "#gen/saldo/keys/v1/key_pb.ts";
import type { BudgetPeriod } from "../kernel/key-limit-errors.ts";
import { ValidationError } from "../kernel/errors.ts";
import { formatMoney, IDR, idr, parseMoney } from "../kernel/money.ts";
import type { ApiKey } from "./api-key.ts";
import type { BudgetAmount, KeyBudgetState, KeyLimits } from "./key-limits.ts";
import type { MemberBudget } from "./member-budgets.ts";

const PERIODS = { total: ProtoPeriod.TOTAL, day: ProtoPeriod.DAY, month: ProtoPeriod.MONTH } as const satisfies Record<
  BudgetPeriod,
  ProtoPeriod
>;

const NAMES: Readonly<Partial<Record<ProtoPeriod, BudgetPeriod>>> = {
  [ProtoPeriod.TOTAL]: "total",
  [ProtoPeriod.DAY]: "day",
  [ProtoPeriod.MONTH]: "month",
};

/** The key as its owner sees it. `memberBudget`: that of the member who made it, where it is shown. */
export function toProtoKey(key: ApiKey, memberBudget: MemberBudget | null = null) {
  const { keyId: id, name, prefix, lastFour, rateLimit, createdAt, lastUsedAt, revokedAt, isPlayground } = key;
  const { rateLimitBound, tokensLeft } = key;
  return {
    id,
    name,
    prefix,
    lastFour,
    rateLimit,
    rateLimitBound,
    isPlayground,
    personId: key.personId ?? "",
    createdAt: timestampFromDate(createdAt),
    ...(lastUsedAt === null ? {} : { lastUsedAt: timestampFromDate(lastUsedAt) }),
    ...(revokedAt === null ? {} : { revokedAt: timestampFromDate(revokedAt) }),
    limits: toProtoLimits(key.limits),
    ...(tokensLeft === null ? {} : { tokensLeft }),
    ...(key.budget === null ? {} : { budget: toProtoBudget(key.budget) }),
    ...(memberBudget === null ? {} : { memberBudget: toProtoMemberBudget(memberBudget) }),
  };
}

/** The key as a program with only the key reads it. */
export function toProtoOwnKey(key: ApiKey, memberBudget: MemberBudget | null) {
  const { keyId: id, name, prefix, lastFour, createdAt, lastUsedAt, rateLimit, tokensLeft, limits, budget } = key;
  const { expiresAt, allowedModels, allowedNetworks, tokenLimit } = limits;
  return {
    id,
    name,
    prefix,
    lastFour,
    rateLimit,
    createdAt: timestampFromDate(createdAt),
    ...(lastUsedAt === null ? {} : { lastUsedAt: timestampFromDate(lastUsedAt) }),
    ...(expiresAt === null ? {} : { expiresAt: timestampFromDate(expiresAt) }),
    tokenLimit: tokenLimit ?? 0,
    ...(tokensLeft === null ? {} : { tokensLeft }),
    allowedModels: [...(allowedModels ?? [])],
    allowedNetworks: [...(allowedNetworks ?? [])],
    ...(limits.budget === null || budget === null ? {} : { budget: toProtoOwnBudget(limits.budget, budget) }),
    ...(memberBudget === null ? {} : { memberBudget: toProtoOwnBudget(memberBudget.limit, memberBudget.state) }),
  };
}

function toProtoOwnBudget({ amount, period }: BudgetAmount, state: KeyBudgetState) {
  return { period, limitIdr: formatMoney(idr(amount)), ...toProtoBudget(state) };
}

/** The budget of a member. */
export function toProtoMemberBudget({ limit: { amount, period }, state }: MemberBudget) {
  return { budgetIdr: formatMoney(idr(amount)), budgetPeriod: PERIODS[period], state: toProtoBudget(state) };
}

function toProtoLimits({ budget, expiresAt, allowedModels, allowedNetworks, tokenLimit }: KeyLimits) {
  return {
    budgetIdr: budget === null ? "" : formatMoney(idr(budget.amount)),
    budgetPeriod: budget === null ? ProtoPeriod.UNSPECIFIED : PERIODS[budget.period],
    allowedModels: [...(allowedModels ?? [])],
    allowedNetworks: [...(allowedNetworks ?? [])],
    tokenLimit: tokenLimit ?? 0,
    ...(expiresAt === null ? {} : { expiresAt: timestampFromDate(expiresAt) }),
  };
}

function toProtoBudget({ spent, held, left, resetsAt, timeZone }: KeyBudgetState) {
  return {
    spentIdr: formatMoney(idr(spent)),
    heldIdr: formatMoney(idr(held)),
    leftIdr: formatMoney(idr(left)),
    timeZone: timeZone ?? "",
    ...(resetsAt === null ? {} : { resetsAt: timestampFromDate(resetsAt) }),
  };
}

/** The limits of a request. Errors: ValidationError. */
export function fromProtoLimits(limits: ProtoLimits): KeyLimits {
  const { expiresAt, allowedModels, allowedNetworks, tokenLimit } = limits;
  return {
    budget: fromProtoBudget(limits, "limits."),
    expiresAt: expiresAt === undefined ? null : timestampDate(expiresAt),
    allowedModels: allowedModels.length === 0 ? null : allowedModels,
    allowedNetworks: allowedNetworks.length === 0 ? null : allowedNetworks,
    tokenLimit: tokenLimit === 0 ? null : tokenLimit,
  };
}

/** The budget of a request, whose fields begin with `path` in errors. Null: none. Errors: ValidationError. */
export function fromProtoBudget(
  { budgetIdr, budgetPeriod }: Pick<ProtoLimits, "budgetIdr" | "budgetPeriod">,
  path = "",
): BudgetAmount | null {
  const period = NAMES[budgetPeriod];
  if ((budgetIdr === "") !== (period === undefined)) {
    const message = "must be set exactly where a budget is set";
    throw new ValidationError([{ field: `${path}budgetPeriod`, rule: "budget_period.required", message }]);
  }
  return period === undefined ? null : { amount: amountOf(budgetIdr, path), period };
}

function amountOf(text: string, path: string): bigint {
  try {
    return parseMoney(text, IDR).units;
  } catch {
    const message = "must be a decimal number with up to six decimals";
    throw new ValidationError([{ field: `${path}budgetIdr`, rule: "budget.decimal", message }]);
  }
}
