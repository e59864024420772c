// Merchants for the tests of this folder.

import type { Database } from "../../src/database/database.ts";
import { withTransaction } from "../../src/database/transactions.ts";
import { uuidv7 } from "../../src/kernel/ids.ts";
import { openAccount } from "../../src/ledger/accounts.ts";
import type { Environment } from "../../src/accounts/principal.ts";
import { createMerchant } from "../../src/merchant/merchants.ts";

/** Opens an account and makes a merchant of it. */
export async function newMerchant(
  database: Database,
  environment: Environment = "sandbox",
): ReturnType<typeof createMerchant> {
  const accountId = uuidv7();
  await withTransaction(database, (client) => openAccount(client, accountId));
  return createMerchant(database, { accountId, environment });
}
