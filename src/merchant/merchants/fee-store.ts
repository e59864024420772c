// The fee schedule. Each quote reads it by SQL; an operator's new version goes through the entity manager.

import type { Pool, PoolClient } from "pg";
import { entitiesOn } from "../../database/orm.ts";
import { formatDecimal, parseDecimal } from "../../kernel/decimal.ts";
import { FEE_DECIMALS, type FeeRow, type FeeTerms } from "./fee-schedule.ts";

const COLUMNS = `
  id, merchant_id AS "merchantId", currency_code AS "currencyCode", version, flat, rate, min, max, created_at AS "createdAt"`;
const OF_TRANSFER = `
SELECT DISTINCT ON (merchant_id, currency_code) ${COLUMNS} FROM fee_schedule
WHERE (merchant_id = $1::uuid OR merchant_id IS NULL) AND (currency_code = $2::text OR currency_code IS NULL)
ORDER BY merchant_id, currency_code, version DESC`;
const PAGE = `
SELECT * FROM (
  SELECT ${COLUMNS}, version = (
    SELECT max(version) FROM fee_schedule n
    WHERE n.merchant_id IS NOT DISTINCT FROM f.merchant_id AND n.currency_code IS NOT DISTINCT FROM f.currency_code) AS "isCurrent"
  FROM fee_schedule f
) fee
WHERE id < $1::uuid AND ($2::uuid IS NULL OR "merchantId" = $2::uuid) AND ("isCurrent" OR $3::boolean)
ORDER BY id DESC LIMIT $4::int`;
const LAST_UUID = "ffffffff-ffff-ffff-ffff-ffffffffffff";

/** The newest version of each scope that fits a transfer: four rows at most. */
export async function readFeeRows(
  client: Pool | PoolClient,
  transfer: { merchantId: string; currencyCode: string },
): Promise<FeeRow[]> {
  const { rows } = await client.query<Row>(OF_TRANSFER, [transfer.merchantId, transfer.currencyCode]);
  return rows.map(fromRow);
}

/** A row of the fee schedule with its place in it. */
export type ScheduledFee = FeeRow & {
  /** Whether it is the newest of its scope. */
  readonly isCurrent: boolean;
};

/** The rows of the fee schedule to list: of one merchant or of all, and whether replaced ones are included. */
export type FeePage = {
  readonly merchantId: string | null;
  readonly withReplaced: boolean;
  readonly beforeId: string | null;
  readonly limit: number;
};

/** Rows of the fee schedule, newest first. */
export async function findFees(pool: Pool, page: FeePage): Promise<ScheduledFee[]> {
  const values = [page.beforeId ?? LAST_UUID, page.merchantId, page.withReplaced, page.limit];
  const { rows } = await pool.query<Row & { isCurrent: boolean }>(PAGE, values);
  return rows.map((row) => ({ ...fromRow(row), isCurrent: row.isCurrent }));
}

/** The newest row of a scope; undefined: it has none. */
export async function readFeeVersion(
  client: Pool | PoolClient,
  { merchantId, currencyCode }: Pick<FeeRow, "merchantId" | "currencyCode">,
): Promise<FeeRow | undefined> {
  const { em, FeeSchedule } = await entitiesOn(client);
  const row = await em.findOne(FeeSchedule, { merchantId, currencyCode }, { orderBy: { version: "desc" } });
  return row === null ? undefined : fromRow(row);
}

/** Adds a version of a scope; undefined when another writer took that version. */
export async function insertFeeVersion(
  client: Pool | PoolClient,
  fee: Omit<FeeRow, "createdAt">,
): Promise<FeeRow | undefined> {
  const { em, FeeSchedule } = await entitiesOn(client);
  const terms = {
    flat: printTerm(fee.flat),
    rate: printTerm(fee.rate),
    min: fee.min === null ? null : printTerm(fee.min),
    max: fee.max === null ? null : printTerm(fee.max),
  };
  const insert = em.createQueryBuilder(FeeSchedule).insert({ ...fee, ...terms });
  if ((await insert.onConflict().ignore().execute("run")).affectedRows === 0) return undefined;
  return fromRow(await em.findOneOrFail(FeeSchedule, { id: fee.id }));
}

type Row = {
  readonly id: string;
  readonly merchantId?: string | null | undefined;
  readonly currencyCode?: string | null | undefined;
  readonly version: number;
  readonly flat: string;
  readonly rate: string;
  readonly min?: string | null | undefined;
  readonly max?: string | null | undefined;
  readonly createdAt: Date;
};

/** Terms as the table has them: decimal digits. */
export type StoredTerms = {
  readonly flat: string;
  readonly rate: string;
  readonly min: string | null;
  readonly max: string | null;
};

export function readTerms({ flat, rate, min, max }: StoredTerms): FeeTerms {
  return {
    flat: parseTerm(flat),
    rate: parseTerm(rate),
    min: min === null ? null : parseTerm(min),
    max: max === null ? null : parseTerm(max),
  };
}

function fromRow({ merchantId = null, currencyCode = null, min = null, max = null, ...row }: Row): FeeRow {
  return {
    id: row.id,
    merchantId,
    currencyCode,
    version: row.version,
    ...readTerms({ ...row, min, max }),
    createdAt: row.createdAt,
  };
}

function printTerm(term: bigint): string {
  return formatDecimal(term, FEE_DECIMALS);
}

function parseTerm(text: string): bigint {
  return parseDecimal(text, FEE_DECIMALS);
}
