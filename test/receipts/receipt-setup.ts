// Taxed top-ups of two processes, and their receipts as the database has them.

import { issueReceipts, type ReceiptWork } from "../../src/billing/receipts/issue-receipts.ts";
import { setSeller, setTaxRule } from "../../src/billing/settings.ts";
import type { TaxRule } from "../../src/billing/receipts/tax.ts";
import type { Database } from "../../src/database/database.ts";
import { withTransaction } from "../../src/database/transactions.ts";
import { setup } from "../top-ups/two-processes.ts";

export const SELLER = { name: "PT Saldo Nusantara", address: "Jl. Thamrin 9\nJakarta", npwp: "0012345678901000" };

/** Sets the seller and the tax, as operators do. */
export async function setTax(rule: TaxRule, seller = SELLER): Promise<void> {
  await withTransaction(setup.money.opened.database, async (client) => {
    await setSeller(client, seller);
    await setTaxRule(client, rule);
  });
}

/** What a process needs to write receipts. */
export function workOf(database: Database): ReceiptWork {
  const ownerOf = (accountId: string) => Promise.resolve({ name: `${accountId}@saldo.example`, address: "", npwp: "" });
  return { database, sellerByDefault: null, ownerOf };
}

/** Writes receipts by a process until it has none to write. */
export const issue = ({ database }: { readonly database: Database }): Promise<number> =>
  issueReceipts(workOf(database));

export type Row = {
  readonly topUpId: string;
  readonly kind: string;
  readonly series: string;
  readonly number: number;
  readonly net: bigint;
  readonly tax: bigint;
  readonly buyer: { readonly name: string; readonly npwp: string };
};

/** Every receipt, by series and number. */
export async function allReceipts(): Promise<Row[]> {
  const text = `SELECT top_up_id AS "topUpId", kind, series, number, net, tax, buyer FROM receipt ORDER BY series, year, number`;
  return (await setup.money.pool.query<Row>(text)).rows;
}

/** Receipts of one top-up, in the order of their issue. */
export async function receiptsOf(topUpId: string): Promise<Row[]> {
  const text = `SELECT top_up_id AS "topUpId", kind, series, number, net, tax, buyer FROM receipt WHERE top_up_id = $1 ORDER BY id`;
  return (await setup.money.pool.query<Row>(text, [topUpId])).rows;
}

/** Each series has the numbers from 1 on, each once. Returns how many there are. */
export async function countWithoutGaps(): Promise<number> {
  const rows = await allReceipts();
  const bySeries = Map.groupBy(rows, ({ series }) => series);
  for (const [series, own] of bySeries) {
    const numbers = own.map(({ number }) => number);
    const expected = numbers.map((_, index) => index + 1);
    if (numbers.join() !== expected.join()) throw new Error(`${series} has the numbers ${numbers.join()}`);
  }
  return rows.length;
}

/** What was posted between two of our accounts for a top-up, in micro-rupiah, from the first to the second. */
export async function postedBetween(topUpId: string, debit: string, credit: string): Promise<bigint> {
  const text = `SELECT coalesce(sum(amount), 0)::bigint AS sum FROM posting WHERE group_id = $1 AND debit = $2 AND credit = $3`;
  return (await setup.money.pool.query<{ sum: bigint }>(text, [topUpId, debit, credit])).rows[0]?.sum ?? 0n;
}
