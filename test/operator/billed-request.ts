// A billed request, with the rows that a settlement writes.

import type { Database } from "../../src/database/database.ts";
import { withTransaction } from "../../src/database/transactions.ts";
import { billingDay } from "../../src/kernel/clock.ts";
import { uuidv7 } from "../../src/kernel/ids.ts";
import { creditAccount } from "../../src/ledger/credits.ts";
import { systemAccounts } from "../../src/ledger/system-accounts.ts";

/** One input token, at the price of this charge. */
const RECORD = `
INSERT INTO usage_record (account_id, request_id, key_id, model, input_tokens_uncached, input_tokens_cached, output_tokens, input_price,
  output_price, cost, charge, basis, billing_day, streamed, duration_ms, upstream)
VALUES ($1, $2, $2, 'acme/large', 1000000, 0, 0, $3::bigint, 1, $3::bigint, $3::bigint, 'exact', $4, false, 1, 'local')`;

/** Gives the account the charge of the request, and charges it. Returns the request's id. */
export async function billRequest(
  database: Database,
  { accountId, charge }: { accountId: string; charge: bigint },
): Promise<string> {
  const nowMs = Date.now();
  const requestId = uuidv7(nowMs);
  await withTransaction(database, async (client) => {
    await creditAccount(client, { accountId, amount: charge, from: systemAccounts.promotions, reason: "demo_credit" });
    await client.query(RECORD, [accountId, requestId, charge, billingDay(nowMs)]);
    await client.query("UPDATE account SET posted = posted - $2 WHERE id = $1", [accountId, charge]);
  });
  return requestId;
}
