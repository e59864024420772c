// The SQL of receipts. A number is taken, and its receipt written, in one transaction behind the lock of the top-up: a process that dies
// takes both back.

import type { Pool, PoolClient } from "pg";
import type { Party } from "./party.ts";
import type { Receipt } from "./receipt.ts";

type Reader = Pick<Pool | PoolClient, "query">;

/** The condition of the index `top_up_unreceipted`. */
const IS_UNRECEIPTED =
  "paid_at IS NOT NULL AND (receipted_at IS NULL OR coalesce(noted_back, 0) < given_back + coalesce(tax_given_back, 0))";
const UNRECEIPTED = `SELECT id FROM top_up WHERE ${IS_UNRECEIPTED} AND id > $1::uuid ORDER BY id LIMIT $2::int`;
const LOCK = `
SELECT id AS "topUpId", account_id AS "accountId", provider, amount, coalesce(tax, 0) AS tax, coalesce(tax_rate, 0) AS "taxRate",
  coalesce(tax_included, false) AS "isTaxIncluded", given_back AS "givenBack", coalesce(tax_given_back, 0) AS "taxGivenBack",
  receipted_at IS NOT NULL AS "isReceipted", coalesce(noted_back, 0) AS "notedBack", paid_at AS "paidAt"
FROM top_up WHERE id = $1::uuid AND ${IS_UNRECEIPTED} FOR NO KEY UPDATE`;
const NOTED = `
SELECT coalesce(sum(net), 0)::bigint AS net, coalesce(sum(tax), 0)::bigint AS tax FROM receipt
WHERE top_up_id = $1::uuid AND kind = 'credit_note'`;

const PARTIES = `SELECT seller, buyer FROM receipt WHERE top_up_id = $1::uuid AND kind = 'receipt'`;

const OPEN_SERIES = `INSERT INTO receipt_series (series, year) VALUES ($1, $2::int) ON CONFLICT DO NOTHING`;
const TAKE_NUMBER = `
UPDATE receipt_series SET last_number = last_number + 1 WHERE series = $1 AND year = $2::int RETURNING last_number AS number`;
const INSERT = `
INSERT INTO receipt (id, kind, series, year, number, account_id, top_up_id, net, tax, tax_rate, tax_included, given_back, provider, seller,
  buyer, dated_at)
VALUES ($1::uuid, $2, $3, $4::int, $5::int, $6::uuid, $7::uuid, $8::bigint, $9::bigint, $10::int, $11::boolean, $12::bigint, $13, $14::jsonb,
  $15::jsonb, $16::timestamptz)`;
const MARK = `
UPDATE top_up SET receipted_at = coalesce(receipted_at, clock_timestamp()), noted_back = $2::bigint, revision = revision + 1
WHERE id = $1::uuid`;
const NOW = `SELECT clock_timestamp() AS now`;

const COLUMNS = `
id AS "receiptId", kind, series, year, number, account_id AS "accountId", top_up_id AS "topUpId", net, tax, tax_rate AS "taxRate",
tax_included AS "isTaxIncluded", given_back AS "givenBack", provider, seller, buyer, dated_at AS "datedAt", issued_at AS "issuedAt"`;
const OF_ID = `SELECT ${COLUMNS} FROM receipt WHERE id = $1::uuid`;
const OF_ACCOUNT = `
SELECT ${COLUMNS} FROM receipt WHERE account_id = $1::uuid AND id < coalesce($2::uuid, 'ffffffff-ffff-ffff-ffff-ffffffffffff')
ORDER BY id DESC LIMIT $3::int`;
const OF_TOP_UPS = `SELECT ${COLUMNS} FROM receipt WHERE top_up_id = ANY ($1::uuid[]) ORDER BY id`;

const BUYER = `SELECT name, address, npwp FROM receipt_buyer WHERE account_id = $1::uuid AND name <> ''`;
const SET_BUYER = `
INSERT INTO receipt_buyer (account_id, name, address, npwp) VALUES ($1::uuid, $2, $3, $4)
ON CONFLICT (account_id) DO UPDATE SET name = excluded.name, address = excluded.address, npwp = excluded.npwp,
  changed_at = clock_timestamp()`;

/** A paid top-up whose receipt or credit note is not written yet. */
export type Unreceipted = {
  readonly topUpId: string;
  readonly accountId: string;
  readonly provider: string;
  readonly amount: bigint;
  readonly tax: bigint;
  readonly taxRate: number;
  readonly isTaxIncluded: boolean;
  readonly givenBack: bigint;
  readonly taxGivenBack: bigint;
  readonly isReceipted: boolean;
  readonly notedBack: bigint;
  readonly paidAt: Date;
};

/** The next top-ups behind an id whose receipt or credit note is to be written. */
export async function selectUnreceipted(reader: Reader, afterId: string, limit: number): Promise<string[]> {
  return (await reader.query<{ id: string }>(UNRECEIPTED, [afterId, limit])).rows.map(({ id }) => id);
}

/** Locks a top-up. Null: another process has written what it lacked. */
export async function lockUnreceipted(client: PoolClient, topUpId: string): Promise<Unreceipted | null> {
  return (await client.query<Unreceipted>(LOCK, [topUpId])).rows[0] ?? null;
}

/** What the credit notes of a top-up come to. */
export async function readNoted(client: PoolClient, topUpId: string): Promise<{ net: bigint; tax: bigint }> {
  return (await client.query<{ net: bigint; tax: bigint }>(NOTED, [topUpId])).rows[0] ?? { net: 0n, tax: 0n };
}

/** Who the receipt of a top-up is from and for. Null: it has none. */
export async function readParties(
  client: PoolClient,
  topUpId: string,
): Promise<{ seller: Party; buyer: Party } | null> {
  return (await client.query<{ seller: Party; buyer: Party }>(PARTIES, [topUpId])).rows[0] ?? null;
}

/** Takes the next number of a series, behind the lock of its row. A transaction that is rolled back gives it back. */
export async function takeNumber(
  client: PoolClient,
  { series, year }: { series: string; year: number },
): Promise<number> {
  const taken = await client.query<{ number: number }>(TAKE_NUMBER, [series, year]);
  if (taken.rows[0] !== undefined) return taken.rows[0].number;
  await client.query(OPEN_SERIES, [series, year]);
  return takeNumber(client, { series, year });
}

export async function insertReceipt(client: PoolClient, receipt: Omit<Receipt, "issuedAt">): Promise<void> {
  const { receiptId, kind, series, year, number, accountId, topUpId, net, tax, taxRate, isTaxIncluded } = receipt;
  const { givenBack, provider, seller, buyer, datedAt } = receipt;
  const parties = [JSON.stringify(seller), JSON.stringify(buyer)];
  const amounts = [net, tax, taxRate, isTaxIncluded, givenBack];
  const values = [receiptId, kind, series, year, number, accountId, topUpId, ...amounts, provider, ...parties, datedAt];
  await client.query(INSERT, values);
}

/** Marks a locked top-up: its receipt is written, and credit notes for so much of what was given back. */
export async function markReceipted(client: PoolClient, topUpId: string, notedBack: bigint): Promise<void> {
  await client.query(MARK, [topUpId, notedBack]);
}

/** The database's time. */
export async function readNow(client: PoolClient): Promise<Date> {
  const { rows } = await client.query<{ now: Date }>(NOW);
  return rows[0]?.now ?? new Date(Number.NaN);
}

export async function selectReceipt(reader: Reader, receiptId: string): Promise<Receipt | null> {
  return (await reader.query<Receipt>(OF_ID, [receiptId])).rows[0] ?? null;
}

/** An account's receipts and credit notes, newest first, with ids before one. */
export async function selectReceiptsOfAccount(
  reader: Reader,
  { accountId, beforeId, limit }: { accountId: string; beforeId: string | null; limit: number },
): Promise<Receipt[]> {
  return (await reader.query<Receipt>(OF_ACCOUNT, [accountId, beforeId, limit])).rows;
}

/** The receipts and credit notes of top-ups, oldest first. */
export async function selectReceiptsOfTopUps(reader: Reader, topUpIds: readonly string[]): Promise<Receipt[]> {
  if (topUpIds.length === 0) return [];
  return (await reader.query<Receipt>(OF_TOP_UPS, [topUpIds])).rows;
}

/** The buyer on an account's next receipts. Null: none is set. */
export async function selectBuyer(reader: Reader, accountId: string): Promise<Party | null> {
  return (await reader.query<Party>(BUYER, [accountId])).rows[0] ?? null;
}

export async function saveBuyer(reader: Reader, accountId: string, { name, address, npwp }: Party): Promise<void> {
  await reader.query(SET_BUYER, [accountId, name, address, npwp]);
}
