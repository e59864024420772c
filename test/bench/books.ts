// The books after a benchmark: a fast gateway with wrong bills is not fast.

import type { Pool } from "pg";
import { GROWN_MODEL } from "./grow.ts";
import { costOfRequest } from "./price.ts";

const USAGE = `
SELECT count(*) AS records, coalesce(sum(cost), 0)::bigint AS cost, coalesce(sum(charge), 0)::bigint AS charge,
       count(*) FILTER (WHERE basis <> 'exact' OR clamped OR cost <> $1::bigint) AS odd
FROM usage_record WHERE model <> '${GROWN_MODEL}'`;
const BALANCES = `SELECT sum(posted)::bigint AS posted, sum(held)::bigint AS held FROM account`;
const HOLDS = `SELECT count(*) AS open FROM hold`;

/** Lists how the books of all databases together differ from so many answered requests and so much credit (in micro-rupiah). */
export async function findDifferences(
  pools: readonly Pool[],
  expected: { readonly answered: number; readonly credited: bigint },
): Promise<string[]> {
  const price = costOfRequest();
  const charged = BigInt(expected.answered) * price;
  const [usage, balances, holds] = await Promise.all([
    sums(pools, USAGE, [price]),
    sums(pools, BALANCES, []),
    sums(pools, HOLDS, []),
  ]);
  const differences: string[] = [];
  const compare = (what: string, found: bigint | undefined, wanted: bigint): void => {
    if (found !== wanted) differences.push(`${what}: ${found} instead of ${wanted}`);
  };
  compare("usage records", usage["records"], BigInt(expected.answered));
  compare("sum of costs", usage["cost"], charged);
  compare("sum of charges", usage["charge"], charged);
  compare("records that are not exact or not of the one price", usage["odd"], 0n);
  compare("sum of balances", balances["posted"], expected.credited - charged);
  compare("sum held", balances["held"], 0n);
  compare("open holds", holds["open"], 0n);
  return differences;
}

/** The sums of a statement over all databases. */
async function sums(pools: readonly Pool[], text: string, values: unknown[]): Promise<Record<string, bigint>> {
  const total: Record<string, bigint> = {};
  for (const pool of pools) {
    const { rows } = await pool.query<Record<string, unknown>>(text, values);
    for (const [name, value] of Object.entries(rows[0] ?? {}))
      total[name] = (total[name] ?? 0n) + BigInt(String(value));
  }
  return total;
}
