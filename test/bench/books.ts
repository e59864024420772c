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

/** Lists how the books differ from so many answered requests and so much credit (in micro-rupiah). */
export async function findDifferences(
  pool: Pool,
  expected: { readonly answered: number; readonly credited: bigint },
): Promise<string[]> {
  const price = costOfRequest();
  const charged = BigInt(expected.answered) * price;
  const [usage, balances, holds] = await Promise.all([
    one(pool, USAGE, [price]),
    one(pool, BALANCES, []),
    one(pool, HOLDS, []),
  ]);
  const differences: string[] = [];
  const compare = (what: string, found: unknown, wanted: bigint): void => {
    if (BigInt(String(found)) !== wanted) differences.push(`${what}: ${String(found)} instead of ${wanted}`);
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

async function one(pool: Pool, text: string, values: unknown[]): Promise<Record<string, unknown>> {
  const { rows } = await pool.query<Record<string, unknown>>(text, values);
  return rows[0] ?? {};
}
