// The trial balance: the sums of all account classes in each asset, in one statement and so of one moment. Each class is summed
// from its postings; customers' and merchants' funds also have a balance, and both must be equal.

import type { Pool } from "pg";
import { ARCHIVED_SUMS, FIRST_ID_AT_HAND } from "./archived-usage.ts";
import { readWithin } from "../database/bounded-read.ts";
import { type Asset, IDR } from "../kernel/money.ts";
import { type AccountClass, CUSTOMER_FUNDS, MERCHANT_FUNDS, systemClasses, UNKNOWN_ACCOUNT } from "./find-postings.ts";
import { systemAccounts } from "./system-accounts.ts";

/** One class in one asset, in the asset's smallest unit. */
export type TrialBalanceRow = {
  readonly asset: Asset;
  readonly accountClass: AccountClass;
  readonly debits: bigint;
  readonly credits: bigint;
  /** The sum of the accounts' balances. Null: the class keeps none. */
  readonly kept: bigint | null;
};

/** All classes of one asset. `balance` is the kept balance where the class keeps one; the sum is 0, or the books are wrong. */
export type TrialBalanceSum = {
  readonly asset: Asset;
  readonly debits: bigint;
  readonly credits: bigint;
  readonly balance: bigint;
};

export type TrialBalance = {
  readonly takenAt: Date;
  readonly rows: readonly TrialBalanceRow[];
  readonly sums: readonly TrialBalanceSum[];
  readonly isBalanced: boolean;
};

/** A longer read would keep dead rows from being cleaned on a serving system. */
const ANSWER_WITHIN_MS = 30_000;

const SUMS = `
WITH used AS MATERIALIZED (
  SELECT (SELECT coalesce(sum(charge), 0)::numeric FROM usage_record WHERE request_id >= ${FIRST_ID_AT_HAND})
       + (SELECT coalesce(sum(charge), 0) FROM ${ARCHIVED_SUMS} a) AS charge
), side(asset, id, debits, credits) AS (
  SELECT asset, debit, sum(amount), 0::numeric FROM posting GROUP BY asset, debit
  UNION ALL
  SELECT asset, credit, 0, sum(amount) FROM posting GROUP BY asset, credit
), classed(asset, class, debits, credits) AS (
  SELECT s.asset, CASE WHEN s.id::text LIKE '00000000-0000-7000-8000-%' THEN s.id::text
                       WHEN a.id IS NOT NULL THEN '${CUSTOMER_FUNDS}'
                       WHEN f.id IS NOT NULL THEN '${MERCHANT_FUNDS}' ELSE '${UNKNOWN_ACCOUNT}' END, s.debits, s.credits
  FROM side s LEFT JOIN account a ON a.id = s.id LEFT JOIN merchant_fund f ON f.id = s.id
  UNION ALL
  SELECT '${IDR}', '${CUSTOMER_FUNDS}', charge, 0 FROM used
  UNION ALL
  SELECT '${IDR}', '${systemAccounts.revenue}', 0, charge FROM used
), kept(asset, class, posted) AS (
  SELECT '${IDR}', '${CUSTOMER_FUNDS}', coalesce(sum(posted), 0)::numeric FROM account
  UNION ALL
  SELECT asset, '${MERCHANT_FUNDS}', sum(posted) FROM merchant_fund GROUP BY asset
), summed AS (
  SELECT asset, class, sum(debits) AS debits, sum(credits) AS credits FROM classed GROUP BY asset, class
)
SELECT coalesce(s.asset, k.asset) AS asset, coalesce(s.class, k.class) AS class, coalesce(s.debits, 0)::text AS debits,
       coalesce(s.credits, 0)::text AS credits, k.posted::text AS kept, statement_timestamp() AS "takenAt"
FROM summed s FULL JOIN kept k ON k.asset = s.asset AND k.class = s.class
ORDER BY 1, 2`;

type Row = { asset: Asset; class: string; debits: string; credits: string; kept: string | null; takenAt: Date };

/** Sums the books. Errors: ServiceBusy when it takes too long. */
export async function readTrialBalance(pool: Pool, answerWithinMs = ANSWER_WITHIN_MS): Promise<TrialBalance> {
  const found = await readWithin(pool, answerWithinMs, async (query) => {
    // The statement reads whole tables, which the settings of a serving session prevent.
    await query("SET LOCAL enable_seqscan = on");
    return query<Row>(SUMS);
  });
  const rows = found.map((row): TrialBalanceRow => ({
    asset: row.asset,
    accountClass: systemClasses.get(row.class) ?? row.class,
    debits: BigInt(row.debits),
    credits: BigInt(row.credits),
    kept: row.kept === null ? null : BigInt(row.kept),
  }));
  const sums = [...new Set(rows.map(({ asset }) => asset))].map((asset) => sumOf(asset, rows));
  return {
    takenAt: found[0]?.takenAt ?? new Date(),
    rows,
    sums,
    isBalanced:
      sums.every(({ balance, debits, credits }) => balance === 0n && debits === credits) &&
      rows.every(({ kept, debits, credits }) => kept === null || kept === credits - debits),
  };
}

function sumOf(asset: Asset, rows: readonly TrialBalanceRow[]): TrialBalanceSum {
  const own = rows.filter((row) => row.asset === asset);
  const total = (unitsOf: (row: TrialBalanceRow) => bigint): bigint => own.reduce((sum, row) => sum + unitsOf(row), 0n);
  return {
    asset,
    debits: total(({ debits }) => debits),
    credits: total(({ credits }) => credits),
    balance: total(({ kept, debits, credits }) => kept ?? credits - debits),
  };
}
