// What a merchant may order of a currency: how much at once, how much in a day, and from when on an operator is asked. Limits
// are on what the receiver gets, in whole coins, over all networks of the currency. A day counts what was ordered on it,
// whatever became of it: its counter is a column of the row that is locked, never a sum of others.

import type { PoolClient } from "pg";
import { formatDecimal } from "../kernel/decimal.ts";
import { LimitExceeded } from "../kernel/errors.ts";
import { type Money, scaleOf } from "../kernel/money.ts";
import { LIMIT_DECIMALS, lockLimits, writeUsed } from "./limits-store.ts";
import type { OrderedTransfer } from "./transfer.ts";

/**
 * Counts an order against its merchant's limits, inside the transaction that places it and behind its fund's lock. Gives
 * whether an operator has to approve it. Errors: LimitExceeded.
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

function inLimitUnits({ units, asset }: Money): bigint {
  return units * 10n ** BigInt(LIMIT_DECIMALS - scaleOf(asset));
}

function print(units: bigint): string {
  return formatDecimal(units, LIMIT_DECIMALS);
}
