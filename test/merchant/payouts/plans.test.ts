// What rounds ask of the database every second, and operators now and then, stays a look at keys, however many transfers there
// have been.

import { afterAll, beforeAll, expect, it } from "vitest";
import type { Database } from "../../../src/database/database.ts";
import { readWalletFacts } from "../../../src/merchant/payouts/payout-facts.ts";
import { readPayoutHistory } from "../../../src/merchant/payouts/payout-history.ts";
import { readCandidates, readInFlight, readOpenPayouts } from "../../../src/merchant/payouts/payout-store.ts";
import { openWallet } from "../../../src/merchant/payouts/wallet-store.ts";
import { EVERY_TRANSFER, findTransfers } from "../../../src/merchant/transfer-search-store.ts";
import { onServer } from "../../setup/test-servers.ts";
import { createTestDatabase, type TestDatabase } from "../../setup/test-database.ts";
import { OrderingMerchant } from "./ordered.ts";

const ENDED = 20_000;
/** Rows of the large tables that one question may read: a few for each of what is open. */
const MOST_ROWS = 200;
/** The first page of an operator's list. */
const NEWEST = { ...EVERY_TRANSFER, beforeId: null, limit: 51 };

let opened: TestDatabase;
let database: Database;
let walletId: string;
let transferId: string;
beforeAll(async () => {
  opened = await createTestDatabase();
  ({ database } = opened);
  const merchant = await OrderingMerchant.open(database, "sandbox", { TRX: "1000" });
  transferId = await merchant.order({ currencyCode: "TRX", amount: "1", to: "TReceiver" });
  ({ walletId } = await openWallet(database.pool, { chain: "sandbox", address: "w", nextNonce: 0 }));
  await onServer(
    opened.url,
    `INSERT INTO transfer (id, merchant_id, environment, external_id, slug, currency_code, network, implied_network, asset, address,
       ordered_address, received, fee, total, fee_id, status, awaits_approval, transaction_hash, confirmed_at)
     SELECT gen_random_uuid(), merchant_id, environment, 'old-' || n, 's' || n, currency_code, network, implied_network, asset, address,
       ordered_address, received, fee, total, fee_id, 'CONFIRMED', false, 'x' || n, now()
     FROM transfer, generate_series(1, ${ENDED}) n`,
  );
  await onServer(
    opened.url,
    `WITH paid AS (
       INSERT INTO payout (id, wallet_id, nonce, transfer_id, state, attempts, final_hash, ended_at)
       SELECT gen_random_uuid(), '${walletId}', row_number() OVER () - 1, id, 'confirmed', 1, transaction_hash, now()
       FROM transfer WHERE status = 'CONFIRMED' RETURNING id, final_hash
     )
     INSERT INTO payout_attempt (payout_id, number, kind, raw, hash, fee_most, fee_priority, state, block_number, block_hash)
     SELECT id, 1, 'payment', '', final_hash, 1, 1, 'final', 1, 'b' FROM paid`,
  );
  // One payout is open, and one transfer is to be paid: an empty answer would cost nothing whatever the plan.
  await merchant.order({ currencyCode: "TRX", amount: "1", to: "TReceiver" });
  await onServer(
    opened.url,
    `WITH open AS (
       INSERT INTO payout (id, wallet_id, nonce, transfer_id, state, attempts)
       VALUES (gen_random_uuid(), '${walletId}', ${ENDED}, '${transferId}', 'signed', 1) RETURNING id
     )
     INSERT INTO payout_attempt (payout_id, number, kind, raw, hash, fee_most, fee_priority, broadcast_at)
     SELECT id, 1, 'payment', '', 'open', 1, 1, now() FROM open`,
  );
  await onServer(opened.url, "ANALYZE");
});
afterAll(() => opened.drop());

type Plan = {
  readonly "Plan Rows": number;
  readonly "Actual Rows": number;
  readonly "Actual Loops": number;
  readonly "Rows Removed by Filter"?: number;
  readonly Plans?: readonly Plan[];
};

/** A pool that explains what it is asked, and the most rows that any step of it has read. */
function explaining() {
  let most = 0;
  let asked = 0;
  const visit = (plan: Plan): void => {
    most = Math.max(most, plan["Actual Loops"] * (plan["Actual Rows"] + (plan["Rows Removed by Filter"] ?? 0)));
    plan.Plans?.forEach(visit);
  };
  const query = async (text: string, values: unknown[] = []) => {
    const { rows } = await database.pool.query<{ "QUERY PLAN": [{ Plan: Plan }] }>(
      `EXPLAIN (ANALYZE, FORMAT JSON) ${text}`,
      values,
    );
    if (rows[0] !== undefined) visit(rows[0]["QUERY PLAN"][0].Plan);
    asked += 1;
    return database.pool.query(text, values);
  };
  return { pool: { query } as unknown as Database["pool"], read: () => ({ most, asked }) };
}

it.each([
  [
    "what is to be paid",
    async (pool: Database["pool"]) =>
      readCandidates(pool, { environment: "sandbox", network: null, currencies: null, limit: 100 }),
  ],
  ["what is open", async (pool: Database["pool"]) => readOpenPayouts(pool, { walletId })],
  ["what is under way", async (pool: Database["pool"]) => readInFlight(pool, walletId)],
  ["how wallets stand", async (pool: Database["pool"]) => readWalletFacts(pool)],
  [
    "what waits for an operator",
    async (pool: Database["pool"]) => findTransfers(pool, { ...NEWEST, awaitsApproval: true }),
  ],
  ["everybody's newest transfers", async (pool: Database["pool"]) => findTransfers(pool, NEWEST)],
  [
    "for a transfer by its merchant's name for it",
    async (pool: Database["pool"]) => findTransfers(pool, { ...NEWEST, name: "old-7" }),
  ],
  ["for a transfer by its id", async (pool: Database["pool"]) => findTransfers(pool, { ...NEWEST, name: transferId })],
  ["what was done for a transfer", async (pool: Database["pool"]) => readPayoutHistory(pool, transferId)],
])("asking %s reads few rows", async (_what, ask) => {
  const { pool, read } = explaining();
  await ask(pool);
  const { most, asked } = read();
  expect(asked).toBeGreaterThan(0);
  expect(most).toBeLessThan(MOST_ROWS);
});
