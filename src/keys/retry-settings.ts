import type { Pool } from "pg";
import { entitiesOn } from "../database/orm.ts";
import { NotFound } from "../kernel/errors.ts";

/** What retries of an account's requests get. */
export type RetrySettings = { readonly keepAnswers: boolean };

/** Errors: NotFound. */
export async function readRetrySettings(pool: Pool, accountId: string): Promise<RetrySettings> {
  const { em, Account } = await entitiesOn(pool);
  const account = await em.findOne(Account, { id: accountId }, { fields: ["keepsAnswers"] });
  if (account === null) throw new NotFound("There is no such account.");
  return { keepAnswers: account.keepsAnswers };
}

/** Errors: NotFound. */
export async function setRetrySettings(pool: Pool, accountId: string, { keepAnswers }: RetrySettings): Promise<void> {
  const { em, Account } = await entitiesOn(pool);
  const changed = await em.nativeUpdate(Account, { id: accountId }, { keepsAnswers: keepAnswers });
  if (changed === 0) throw new NotFound("There is no such account.");
}
