// What a new account is given, by the operator's setting.

import type { PoolClient } from "pg";
import type { Database } from "../database/database.ts";
import { withRetry, withTransaction } from "../database/transactions.ts";
import { creditAccount } from "../ledger/credits.ts";
import type { PostedMove } from "../ledger/reference-lock.ts";
import { systemAccounts } from "../ledger/system-accounts.ts";
import { readBillingSettings } from "./settings.ts";

/**
 * Gives an account its welcome credit inside the caller's transaction: once, for ever, even when the setting changes. Null
 * while the setting is 0. Errors: NotFound.
 */
export async function giveWelcomeCredit(client: PoolClient, accountId: string): Promise<PostedMove | null> {
  const { welcomeCredit } = await readBillingSettings(client);
  if (welcomeCredit === 0n) return null;
  return creditAccount(client, {
    accountId,
    amount: welcomeCredit,
    from: systemAccounts.promotions,
    reason: "welcome_credit",
    reference: `welcome:${accountId}`,
  });
}

/** The same in a transaction of its own. Errors: NotFound. */
export function postWelcomeCredit(database: Pick<Database, "pool">, accountId: string): Promise<PostedMove | null> {
  return withRetry(() => withTransaction(database, (client) => giveWelcomeCredit(client, accountId)));
}
