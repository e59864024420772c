// Counts of work: how many rows of each table the statements of an audit or a seal read, by the plans of the same statements.

import type { Pool } from "pg";
import type { Database } from "../../src/database/database.ts";
import { withTransaction } from "../../src/database/transactions.ts";
import { nodesOf, type PlanNode, rowsTouched } from "./plan-nodes.ts";

type Statement = { readonly settings: string; readonly text: string; readonly values: unknown[] };

/** A pool that notes the reads of a throttled reader, and what they were. */
export function recordingPool(pool: Pool): { pool: Pool; statements: Statement[] } {
  const statements: Statement[] = [];
  const connect = async () => {
    const client = await pool.connect();
    let settings = "";
    const query = (statement: string | { text: string; values: unknown[] }) => {
      if (typeof statement === "string")
        settings = statement.startsWith("SET LOCAL") || statement.startsWith("\nSET LOCAL") ? statement : settings;
      else if (!/^\s*(INSERT|UPDATE|DELETE)/.test(statement.text))
        statements.push({ settings, text: statement.text, values: statement.values });
      return client.query(statement as string);
    };
    return { query, release: (broken?: Error) => client.release(broken) };
  };
  const query = (...args: [string]) => pool.query(...args);
  return { pool: { connect, query } as unknown as Pool, statements };
}

/** The rows that these statements read, by table; months of usage count as one table. */
export async function rowsRead(database: Database, statements: readonly Statement[]): Promise<Record<string, number>> {
  const touched: Record<string, number> = {};
  for (const { settings, text, values } of statements) {
    await withTransaction(database, async (client) => {
      if (settings !== "") await client.query(settings);
      const { rows } = await client.query<{ "QUERY PLAN": [{ Plan: PlanNode }] }>(
        `EXPLAIN (ANALYZE, FORMAT JSON) ${text}`,
        values,
      );
      for (const node of rows.flatMap((row) => nodesOf(row["QUERY PLAN"][0].Plan))) {
        const name = node["Relation Name"]?.replace(/_(\d{4}_\d\d|default)$/, "");
        if (name !== undefined) touched[name] = (touched[name] ?? 0) + rowsTouched(node);
      }
    });
  }
  return touched;
}
