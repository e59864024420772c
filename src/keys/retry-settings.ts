import type { Pool } from "pg";
import { NotFound } from "../kernel/errors.ts";

const READ = `SELECT keeps_answers FROM account WHERE id = $1::uuid`;
const SET = `UPDATE account SET keeps_answers = $2 WHERE id = $1::uuid`;

/** What retries of an account's requests get. */
export type RetrySettings = { readonly keepAnswers: boolean };

/** Errors: NotFound. */
export async function readRetrySettings(pool: Pick<Pool, "query">, accountId: string): Promise<RetrySettings> {
  const { rows } = await pool.query<{ keeps_answers: boolean }>(READ, [accountId]);
  if (rows[0] === undefined) throw new NotFound("There is no such account.");
  return { keepAnswers: rows[0].keeps_answers };
}

/** Errors: NotFound. */
export async function setRetrySettings(
  pool: Pick<Pool, "query">,
  accountId: string,
  { keepAnswers }: RetrySettings,
): Promise<void> {
  const { rowCount } = await pool.query(SET, [accountId, keepAnswers]);
  if (rowCount === 0) throw new NotFound("There is no such account.");
}
