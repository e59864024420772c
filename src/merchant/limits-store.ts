// SQL of merchants' limits. Amounts are in 10^-18 of a whole coin, so that one row serves every network of a currency.

import type { PoolClient } from "pg";
import { formatDecimal, parseDecimal } from "../kernel/decimal.ts";
import { invariant } from "../kernel/invariant.ts";

/** Decimals in which limits are kept: no coin has more. */
export const LIMIT_DECIMALS = 18;

const OPEN = `INSERT INTO merchant_limit (merchant_id, currency_code) VALUES ($1::uuid, $2) ON CONFLICT DO NOTHING`;
// The day is asked for behind the lock: whoever waited over midnight counts on the new day.
const LOCK = `
WITH locked AS MATERIALIZED (
  SELECT per_transfer, daily, approval_above, used_day, used FROM merchant_limit
  WHERE merchant_id = $1::uuid AND currency_code = $2 FOR NO KEY UPDATE
)
SELECT locked.*, (clock_timestamp() AT TIME ZONE 'Asia/Jakarta')::date AS today FROM locked`;
const SET_USED = `
UPDATE merchant_limit SET used_day = $3::date, used = $4::numeric WHERE merchant_id = $1::uuid AND currency_code = $2`;

/** The limits of a merchant and currency; null: none of the kind. */
export type Limits = {
  readonly perTransfer: bigint | null;
  readonly daily: bigint | null;
  readonly approvalAbove: bigint | null;
};

export type LimitKey = { readonly merchantId: string; readonly currencyCode: string };

type LimitColumns = {
  per_transfer: string | null;
  daily: string | null;
  approval_above: string | null;
  used_day: string | null;
  used: string;
  today: string;
};

/** Locks the limits of a merchant and currency, with what was ordered on the day it now is in Jakarta. */
export async function lockLimits(
  client: PoolClient,
  { merchantId, currencyCode }: LimitKey,
): Promise<Limits & { readonly today: string; readonly usedToday: bigint }> {
  await client.query(OPEN, [merchantId, currencyCode]);
  const { rows } = await client.query<LimitColumns>(LOCK, [merchantId, currencyCode]);
  const row = rows[0];
  invariant(row !== undefined, "limits that were just opened are there");
  return {
    perTransfer: parse(row.per_transfer),
    daily: parse(row.daily),
    approvalAbove: parse(row.approval_above),
    today: row.today,
    usedToday: row.used_day === row.today ? parseDecimal(row.used, LIMIT_DECIMALS) : 0n,
  };
}

/** Writes what was ordered on a day, of limits that are locked. */
export async function writeUsed(
  client: PoolClient,
  { merchantId, currencyCode, day, used }: LimitKey & { day: string; used: bigint },
): Promise<void> {
  await client.query(SET_USED, [merchantId, currencyCode, day, formatDecimal(used, LIMIT_DECIMALS)]);
}

function parse(text: string | null): bigint | null {
  return text === null ? null : parseDecimal(text, LIMIT_DECIMALS);
}
