// Money in and out of the service, and what running requests hold: figures for an operator's first look. Money comes in by a debit of
// a clearing account and goes out by its credit, so the flows of all time come to the clearing accounts' rows of the trial balance.

import type { Pool } from "pg";
import { readWithin } from "../database/bounded-read.ts";
import { uuidv7Floor } from "../kernel/ids.ts";
import type { Asset } from "../kernel/money.ts";
import { systemAccounts } from "./system-accounts.ts";

/** An operator waits for the page. */
const ANSWER_WITHIN_MS = 5_000;
/** At most so many postings of an account and a side are read, the newest. */
const MOST_POSTINGS = 50_000;
/** At most so many holds are read. A node has far fewer requests at a time. */
const MOST_HOLDS = 100_000;

const { providerClearing, merchantClearing } = systemAccounts;

// The conditions on the side are those of the indexes `posting_debit` and `posting_credit`.
const side = (name: "debit" | "credit", account: string): string => `
(SELECT '${name}' AS side, asset, amount, id FROM posting
 WHERE ${name} = '${account}' AND ${name} < '00000000-0000-7000-8000-000000000100'
   ${name === "credit" ? `AND debit <> '${systemAccounts.operatorLoss}'` : ""} AND id >= $1::uuid
 ORDER BY id DESC LIMIT $3::int)`;

const FLOWS = `
WITH moved AS (
  ${[providerClearing, merchantClearing].flatMap((id) => [side("debit", id), side("credit", id)]).join(" UNION ALL ")}
)
SELECT asset, side, sum(amount)::text AS week, coalesce(sum(amount) FILTER (WHERE id >= $2::uuid), 0)::text AS today, count(*)::int AS postings
FROM moved GROUP BY asset, side ORDER BY asset, side`;

const HOLDS = `
SELECT count(*)::int AS requests, coalesce(sum(amount), 0)::text AS amount, min(placed_at) AS "oldestAt"
FROM (SELECT amount, placed_at FROM hold LIMIT ${MOST_HOLDS}) h`;

/** What came in and went out of one asset, in its smallest unit. */
export type MoneyFlow = {
  readonly asset: Asset;
  readonly todayIn: bigint;
  readonly todayOut: bigint;
  readonly weekIn: bigint;
  readonly weekOut: bigint;
};

export type MoneyFlows = {
  readonly flows: readonly MoneyFlow[];
  /** False: there were more postings than are read, and the oldest are missing. */
  readonly isComplete: boolean;
};

/** From when on the sums count, as milliseconds of Unix time. */
export type FlowTimes = { readonly weekFromMs: number; readonly todayFromMs: number };

type Row = { asset: Asset; side: "debit" | "credit"; week: string; today: string; postings: number };

/** Sums the flows of each asset that moved, by asset. Errors: ServiceBusy when it takes too long. */
export async function readMoneyFlows(
  pool: Pool,
  { weekFromMs, todayFromMs }: FlowTimes,
  mostPostings = MOST_POSTINGS,
): Promise<MoneyFlows> {
  const values = [uuidv7Floor(weekFromMs), uuidv7Floor(todayFromMs), mostPostings];
  const rows = await readWithin(pool, ANSWER_WITHIN_MS, (query) => query<Row>(FLOWS, values));
  const flows = [...Map.groupBy(rows, ({ asset }) => asset)].map(([asset, ofAsset]) => {
    const into = ofAsset.find((row) => row.side === "debit");
    const out = ofAsset.find((row) => row.side === "credit");
    return {
      asset,
      todayIn: BigInt(into?.today ?? 0),
      todayOut: BigInt(out?.today ?? 0),
      weekIn: BigInt(into?.week ?? 0),
      weekOut: BigInt(out?.week ?? 0),
    };
  });
  // No side can have reached its limit while all of them together are below it.
  return { flows, isComplete: rows.reduce((read, { postings }) => read + postings, 0) < mostPostings };
}

/** What running requests hold, in micro-rupiah. */
export type OpenHolds = { readonly requests: number; readonly amount: bigint; readonly oldestAt: Date | null };

/** Sums the open holds. Errors: ServiceBusy when it takes too long. */
export async function readOpenHolds(pool: Pool): Promise<OpenHolds> {
  type HoldRow = Omit<OpenHolds, "amount"> & { amount: string };
  const [row] = await readWithin(pool, ANSWER_WITHIN_MS, (query) => query<HoldRow>(HOLDS));
  return { requests: row?.requests ?? 0, amount: BigInt(row?.amount ?? 0), oldestAt: row?.oldestAt ?? null };
}
