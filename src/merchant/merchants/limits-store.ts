// Merchants' limits; what is locked and counted is SQL. Amounts are in 10^-18 of a whole coin, so that one row serves every network of a currency.

import type { Pool, PoolClient } from "pg";
import { entitiesOn } from "../../database/orm.ts";
import { formatDecimal, parseDecimal } from "../../kernel/decimal.ts";
import { invariant } from "../../kernel/invariant.ts";

/** Decimals in which limits are kept: no coin has more. */
export const LIMIT_DECIMALS = 18;

// A production merchant begins with the default limits; the sandbox has none.
const OPEN = `
INSERT INTO merchant_limit (merchant_id, currency_code, per_transfer, daily, approval_above)
SELECT m.id, $2, d.per_transfer, d.daily, d.approval_above
FROM merchant m LEFT JOIN default_limit d ON d.currency_code = $2 AND m.environment = 'production'
WHERE m.id = $1::uuid ON CONFLICT DO NOTHING`;
const OPEN_DEFAULTS = `
INSERT INTO merchant_limit (merchant_id, currency_code, per_transfer, daily, approval_above)
SELECT m.id, d.currency_code, d.per_transfer, d.daily, d.approval_above FROM merchant m CROSS JOIN default_limit d
WHERE m.id = $1::uuid AND m.environment = 'production' ON CONFLICT DO NOTHING`;
// The day is read under the lock: an order that waited over midnight counts on the new day.
const LOCK = `
WITH locked AS MATERIALIZED (
  SELECT per_transfer, daily, approval_above, used_day, used FROM merchant_limit
  WHERE merchant_id = $1::uuid AND currency_code = $2 FOR NO KEY UPDATE
)
SELECT locked.*, (clock_timestamp() AT TIME ZONE 'Asia/Jakarta')::date AS today FROM locked`;
const SET_USED = `
UPDATE merchant_limit SET used_day = $3::date, used = $4::numeric WHERE merchant_id = $1::uuid AND currency_code = $2`;

const SET = `
UPDATE merchant_limit SET per_transfer = $3::numeric, daily = $4::numeric, approval_above = $5::numeric
WHERE merchant_id = $1::uuid AND currency_code = $2`;
const OF_MERCHANT = `
SELECT currency_code, per_transfer, daily, approval_above, used_day, used,
       (clock_timestamp() AT TIME ZONE 'Asia/Jakarta')::date AS today
FROM merchant_limit WHERE merchant_id = $1::uuid ORDER BY currency_code`;

/** The limits of a merchant and currency; null: none of the kind. */
export type Limits = {
  readonly perTransfer: bigint | null;
  readonly daily: bigint | null;
  readonly approvalAbove: bigint | null;
};

export type LimitKey = { readonly merchantId: string; readonly currencyCode: string };

/** Limits with the amount ordered today, by the day in Jakarta. */
export type CountedLimits = Limits & { readonly today: string; readonly usedToday: bigint };

type LimitColumns = {
  per_transfer: string | null;
  daily: string | null;
  approval_above: string | null;
  used_day: string | null;
  used: string;
  today: string;
};

/** Gives a new production merchant the default limits of every currency. */
export async function openDefaultLimits(client: PoolClient, merchantId: string): Promise<void> {
  await client.query(OPEN_DEFAULTS, [merchantId]);
}

/** The limits that production merchants begin with, by currency. */
export async function readDefaultLimits(pool: Pool): Promise<(Limits & { readonly currencyCode: string })[]> {
  const { em, DefaultLimit } = await entitiesOn(pool);
  const rows = await em.findAll(DefaultLimit, { orderBy: { currencyCode: "asc" } });
  return rows.map(({ currencyCode, perTransfer, daily, approvalAbove }) => ({
    currencyCode,
    perTransfer: parse(perTransfer ?? null),
    daily: parse(daily ?? null),
    approvalAbove: parse(approvalAbove ?? null),
  }));
}

/** Sets the default limits of production merchants from now on; existing merchants keep theirs. */
export async function writeDefaultLimit(
  client: PoolClient,
  { currencyCode, perTransfer, daily, approvalAbove }: Limits & { readonly currencyCode: string },
): Promise<void> {
  const { em, DefaultLimit } = await entitiesOn(client);
  const terms = { perTransfer: print(perTransfer), daily: print(daily), approvalAbove: print(approvalAbove) };
  await em.upsert(DefaultLimit, { currencyCode, ...terms });
}

/** Locks the limits of a merchant and currency. */
export async function lockLimits(client: PoolClient, { merchantId, currencyCode }: LimitKey): Promise<CountedLimits> {
  await client.query(OPEN, [merchantId, currencyCode]);
  const { rows } = await client.query<LimitColumns>(LOCK, [merchantId, currencyCode]);
  invariant(rows[0] !== undefined, "limits that were just opened are there");
  return fromLimitColumns(rows[0]);
}

/** Writes the limits of a merchant and currency, which are locked. */
export async function writeLimits(
  client: PoolClient,
  { merchantId, currencyCode, ...limits }: LimitKey & Limits,
): Promise<void> {
  const { perTransfer, daily, approvalAbove } = limits;
  await client.query(SET, [merchantId, currencyCode, print(perTransfer), print(daily), print(approvalAbove)]);
}

/** The limits of a merchant, by currency. */
export async function readLimits(
  client: Pick<Pool, "query">,
  merchantId: string,
): Promise<(CountedLimits & { readonly currencyCode: string })[]> {
  const { rows } = await client.query<LimitColumns & { currency_code: string }>(OF_MERCHANT, [merchantId]);
  return rows.map((row) => ({ currencyCode: row.currency_code, ...fromLimitColumns(row) }));
}

function fromLimitColumns(row: LimitColumns): CountedLimits {
  return {
    perTransfer: parse(row.per_transfer),
    daily: parse(row.daily),
    approvalAbove: parse(row.approval_above),
    today: row.today,
    usedToday: row.used_day === row.today ? parseDecimal(row.used, LIMIT_DECIMALS) : 0n,
  };
}

/** Writes the amount ordered on a day, of limits that are locked. */
export async function writeUsed(
  client: PoolClient,
  { merchantId, currencyCode, day, used }: LimitKey & { day: string; used: bigint },
): Promise<void> {
  await client.query(SET_USED, [merchantId, currencyCode, day, formatDecimal(used, LIMIT_DECIMALS)]);
}

function print(units: bigint | null): string | null {
  return units === null ? null : formatDecimal(units, LIMIT_DECIMALS);
}

function parse(text: string | null): bigint | null {
  return text === null ? null : parseDecimal(text, LIMIT_DECIMALS);
}
