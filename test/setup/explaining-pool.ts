// Pools that do with statements what a test of plans wants.

import type { Pool, PoolClient, QueryConfig } from "pg";

type Plan = {
  readonly "Plan Rows": number;
  readonly "Actual Rows": number;
  readonly "Actual Loops": number;
  readonly "Rows Removed by Filter"?: number;
  readonly Plans?: readonly Plan[];
};
type Asked = { readonly text: string; readonly values: unknown[] };
type Ask = (client: Pick<PoolClient, "query">, asked: Asked) => Promise<unknown>;

/** What opens, closes and sets up a transaction has no plan. */
const HAS_PLAN = /^\s*(SELECT|WITH)\b/;

/** A pool that explains what it is asked, and the most rows that any step of it has read. */
export function explaining(pool: Pool): { pool: Pool; read: () => { most: number; asked: number } } {
  let most = 0;
  let asked = 0;
  const visit = (plan: Plan): void => {
    most = Math.max(most, plan["Actual Loops"] * (plan["Actual Rows"] + (plan["Rows Removed by Filter"] ?? 0)));
    plan.Plans?.forEach(visit);
  };
  const explain: Ask = async (client, { text, values }) => {
    const { rows } = await client.query<{ "QUERY PLAN": [{ Plan: Plan }] }>(
      `EXPLAIN (ANALYZE, FORMAT JSON) ${text}`,
      values,
    );
    if (rows[0] !== undefined) visit(rows[0]["QUERY PLAN"][0].Plan);
    asked += 1;
    return client.query(text, values);
  };
  return { pool: asking(pool, explain), read: () => ({ most, asked }) };
}

/** A pool whose every look takes a minute. */
export function pausing(pool: Pool): Pool {
  return asking(pool, (client) => client.query("SELECT pg_sleep(60)"));
}

function asking(pool: Pool, ask: Ask): Pool {
  const query =
    (client: Pick<PoolClient, "query">) =>
    (asked: string | QueryConfig, values: unknown[] = []) => {
      const { text, values: own = values } = typeof asked === "string" ? { text: asked } : asked;
      return HAS_PLAN.test(text) ? ask(client, { text, values: own }) : client.query(text, own);
    };
  const connect = async () => {
    const client = await pool.connect();
    return { query: query(client), release: (broken?: Error) => client.release(broken) };
  };
  return { query: query(pool), connect } as unknown as Pool;
}
