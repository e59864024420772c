// A key and its limits, between this room and the contract.

import { timestampDate, timestampFromDate } from "@bufbuild/protobuf/wkt";
import { BudgetPeriod as ProtoPeriod, type KeyLimits as ProtoLimits } from "#gen/saldo/keys/v1/key_pb.ts";
import type { BudgetPeriod } from "../kernel/key-limit-errors.ts";
import { formatMoney, IDR, idr, parseMoney } from "../kernel/money.ts";
import type { ApiKey } from "./api-key.ts";
import { type KeyBudgetState, type KeyLimits, wrongLimit } from "./key-limits.ts";

const PERIODS = { total: ProtoPeriod.TOTAL, day: ProtoPeriod.DAY, month: ProtoPeriod.MONTH } as const satisfies Record<
  BudgetPeriod,
  ProtoPeriod
>;

const NAMES: Readonly<Partial<Record<ProtoPeriod, BudgetPeriod>>> = {
  [ProtoPeriod.TOTAL]: "total",
  [ProtoPeriod.DAY]: "day",
  [ProtoPeriod.MONTH]: "month",
};

/** The key as its owner sees it. */
export function toProtoKey(key: ApiKey) {
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
  };
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

function toProtoBudget({ spent, held, left, resetsAt }: KeyBudgetState) {
  return {
    spentIdr: formatMoney(idr(spent)),
    heldIdr: formatMoney(idr(held)),
    leftIdr: formatMoney(idr(left)),
    ...(resetsAt === null ? {} : { resetsAt: timestampFromDate(resetsAt) }),
  };
}

/** The limits of a request. Errors: ValidationError. */
export function fromProtoLimits(limits: ProtoLimits): KeyLimits {
  const { budgetIdr, budgetPeriod, expiresAt, allowedModels, allowedNetworks, tokenLimit } = limits;
  const period = NAMES[budgetPeriod];
  if ((budgetIdr === "") !== (period === undefined)) {
    throw wrongLimit("budgetPeriod", "budget_period.required", "must be set exactly where a budget is set");
  }
  return {
    budget: period === undefined ? null : { amount: amountOf(budgetIdr), period },
    expiresAt: expiresAt === undefined ? null : timestampDate(expiresAt),
    allowedModels: allowedModels.length === 0 ? null : allowedModels,
    allowedNetworks: allowedNetworks.length === 0 ? null : allowedNetworks,
    tokenLimit: tokenLimit === 0 ? null : tokenLimit,
  };
}

function amountOf(text: string): bigint {
  try {
    return parseMoney(text, IDR).units;
  } catch {
    throw wrongLimit("budgetIdr", "budget.decimal", "must be a decimal number with up to six decimals");
  }
}
