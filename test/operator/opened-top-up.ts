// A top-up that waits for its payment.

import { insertTopUp } from "../../src/billing/top-ups/store.ts";
import type { Database } from "../../src/database/database.ts";
import { uuidv7 } from "../../src/kernel/ids.ts";
import { IDR, parseMoney } from "../../src/kernel/money.ts";

const HOUR_MS = 3_600_000;

/** Opens an order of Rp 25.000 at the provider. Returns its id. */
export async function openTopUp(
  database: Database,
  { accountId, provider = "sandbox" }: { accountId: string; provider?: string },
): Promise<string> {
  const topUpId = uuidv7();
  const at = new Date(Date.now() + HOUR_MS);
  const order = { topUpId, accountId, provider, idempotencyKey: topUpId, expiresAt: at, nextCheckAt: at };
  await insertTopUp(database.pool, { ...order, amount: parseMoney("25000", IDR).units });
  return topUpId;
}
