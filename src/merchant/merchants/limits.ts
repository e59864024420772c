// A merchant's limits of a currency: on one order, on one day, and the amount above which an operator must approve.
// Limits apply to the received amount, in whole coins, over all networks of the currency. A day counts its orders,
// with any end of them: its counter is a column of the locked row, never a sum of others.

import type { PoolClient } from "pg";
import type { Database } from "../../database/database.ts";
import { DecimalError, formatDecimal, parseDecimal } from "../../kernel/decimal.ts";
import { LimitExceeded, ValidationError } from "../../kernel/errors.ts";
import { type Money, scaleOf } from "../../kernel/money.ts";
import { CurrencyUnsupported } from "../../kernel/transfer-errors.ts";
import { MAX_AMOUNT_COINS } from "../transfers/amount.ts";
import { isCurrency } from "../chains/currencies.ts";
import {
  type CountedLimits,
  LIMIT_DECIMALS,
  type LimitKey,
  type Limits,
  lockLimits,
  readDefaultLimits,
  readLimits,
  writeDefaultLimit,
  writeLimits,
  writeUsed,
} from "./limits-store.ts";
import { requireMerchant } from "./store.ts";
import type { OrderedTransfer } from "../transfers/transfer.ts";

/**
 * Counts an order against its merchant's limits, inside the transaction that places it and under its fund's lock.
 * Returns whether an operator has to approve it. Errors: LimitExceeded.
 */
export async function countAgainstLimits(client: PoolClient, order: OrderedTransfer): Promise<boolean> {
  const { merchantId, coin, received } = order;
  const { currencyCode } = coin;
  const limits = await lockLimits(client, { merchantId, currencyCode });
  const amount = inLimitUnits(received);
  if (limits.perTransfer !== null && amount > limits.perTransfer) {
    throw new LimitExceeded(`A transfer of ${currencyCode} is at most ${print(limits.perTransfer)} for this merchant.`);
  }
  const used = limits.usedToday + amount;
  if (limits.daily !== null && used > limits.daily) {
    const left = limits.daily > limits.usedToday ? limits.daily - limits.usedToday : 0n;
    throw new LimitExceeded(
      `This merchant may order ${print(limits.daily)} ${currencyCode} a day, of which ${print(left)} are left today.`,
    );
  }
  await writeUsed(client, { merchantId, currencyCode, day: limits.today, used });
  return limits.approvalAbove !== null && amount > limits.approvalAbove;
}

/** Limits as an operator writes them: decimals in whole coins; empty: no such limit. */
export type LimitChange = LimitKey & {
  readonly perTransfer: string;
  readonly daily: string;
  readonly approvalAbove: string;
};

/** Limits in whole coins, with today's ordered amount; null: no such limit. */
export type ShownLimits = {
  readonly currencyCode: string;
  readonly perTransfer: string | null;
  readonly daily: string | null;
  readonly approvalAbove: string | null;
  readonly usedToday: string;
};

/**
 * Replaces the limits of a merchant and currency, inside the caller's transaction. Errors: NotFound, ValidationError,
 * CurrencyUnsupported.
 */
export async function setLimits(client: PoolClient, change: LimitChange): Promise<ShownLimits> {
  const { merchantId, currencyCode } = change;
  const limits = limitsOf(change);
  if (!isCurrency(currencyCode)) throw new CurrencyUnsupported();
  await requireMerchant(client, merchantId);
  const before = await lockLimits(client, { merchantId, currencyCode });
  await writeLimits(client, { merchantId, currencyCode, ...limits });
  return show({ ...before, ...limits, currencyCode });
}

/**
 * Sets the limits of new production merchants, inside the caller's transaction. Errors: ValidationError,
 * CurrencyUnsupported.
 */
export async function setDefaultLimits(client: PoolClient, change: Omit<LimitChange, "merchantId">): Promise<void> {
  const { currencyCode } = change;
  if (!isCurrency(currencyCode)) throw new CurrencyUnsupported();
  await writeDefaultLimit(client, { currencyCode, ...limitsOf(change) });
}

const printed = (units: bigint | null): string | null => (units === null ? null : print(units));

/** Limits in whole coins. */
export function showLimits({ currencyCode, ...limits }: Limits & { readonly currencyCode: string }) {
  return {
    currencyCode,
    perTransfer: printed(limits.perTransfer),
    daily: printed(limits.daily),
    approvalAbove: printed(limits.approvalAbove),
  };
}

/**
 * Whether a change would allow a merchant more than now. Errors: NotFound, ValidationError, CurrencyUnsupported where
 * the change is wrong.
 */
export async function isLooser(pool: Pick<Database, "pool">["pool"], change: LimitChange): Promise<boolean> {
  const wanted = limitsOf(change);
  if (!isCurrency(change.currencyCode)) throw new CurrencyUnsupported();
  const own = (await readLimits(pool, change.merchantId)).find(
    ({ currencyCode }) => currencyCode === change.currencyCode,
  );
  const now = own ?? (await readDefaultLimits(pool)).find(({ currencyCode }) => currencyCode === change.currencyCode);
  return (
    isMore(now?.perTransfer ?? null, wanted.perTransfer) ||
    isMore(now?.daily ?? null, wanted.daily) ||
    isMore(now?.approvalAbove ?? null, wanted.approvalAbove)
  );
}

function isMore(was: bigint | null, is: bigint | null): boolean {
  return was !== null && (is === null || is > was);
}

/** The limits of a merchant, by currency. */
export async function listLimits({ pool }: Pick<Database, "pool">, merchantId: string): Promise<ShownLimits[]> {
  return (await readLimits(pool, merchantId)).map(show);
}

function show(limits: CountedLimits & { readonly currencyCode: string }): ShownLimits {
  return { ...showLimits(limits), usedToday: print(limits.usedToday) };
}

function limitsOf(change: Pick<LimitChange, "perTransfer" | "daily" | "approvalAbove">): Limits {
  return {
    perTransfer: readLimit("per_transfer", change.perTransfer),
    daily: readLimit("daily", change.daily),
    approvalAbove: readLimit("approval_above", change.approvalAbove, { orZero: true }),
  };
}

function readLimit(field: string, text: string, { orZero = false } = {}): bigint | null {
  if (text === "") return null;
  try {
    const units = parseDecimal(text, LIMIT_DECIMALS);
    if (units > MAX_AMOUNT_COINS * 10n ** BigInt(LIMIT_DECIMALS)) throw tooLarge(field);
    if (units > 0n || orZero) return units;
  } catch (error) {
    if (!(error instanceof DecimalError)) throw error;
    throw new ValidationError([{ field, rule: "decimal", message: error.message }], { cause: error });
  }
  throw new ValidationError([{ field, rule: "decimal.gt", message: "must be greater than 0" }]);
}

function tooLarge(field: string): ValidationError {
  const message = `must be at most ${formatDecimal(MAX_AMOUNT_COINS, 0)}`;
  return new ValidationError([{ field, rule: "decimal.lte", message }]);
}

function inLimitUnits({ units, asset }: Money): bigint {
  return units * 10n ** BigInt(LIMIT_DECIMALS - scaleOf(asset));
}

function print(units: bigint): string {
  return formatDecimal(units, LIMIT_DECIMALS);
}
