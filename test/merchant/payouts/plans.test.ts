// What rounds ask of the database every second, and operators now and then, stays a look at keys, however many transfers there
// have been.

import { afterAll, beforeAll, expect, it } from "vitest";
import type { Database } from "../../../src/database/database.ts";
import { UpstreamBusy } from "../../../src/kernel/errors.ts";
import { readWalletFacts } from "../../../src/merchant/payouts/payout-facts.ts";
import { readPayoutHistory } from "../../../src/merchant/payouts/payout-history.ts";
import {
  findWronglyForeign,
  readCandidates,
  readInFlight,
  readOpenPayouts,
} from "../../../src/merchant/payouts/payout-store.ts";
import { letFrozenWait } from "../../../src/merchant/payouts/waiting-transfers.ts";
import { openWallet } from "../../../src/merchant/payouts/wallet-store.ts";
import {
  findTransfers,
  type OwnedTransfer,
  readOwnedTransfer,
  type TransferPage,
} from "../../../src/merchant/transfers/transfer-search-store.ts";
import { explaining, pausing } from "../../setup/explaining-pool.ts";
import { onServer } from "../../setup/test-servers.ts";
import { createTestDatabase, type TestDatabase } from "../../setup/test-database.ts";
import { newMerchant } from "../merchant-accounts.ts";
import { OrderingMerchant } from "./ordered.ts";

const ENDED = 20_000;
const LOST = 20;
/** Rows of the large tables that one question may read: a few for each of what is open. */
const MOST_ROWS = 200;
/** Merchants of one account, which have no transfers. */
const OTHER_MERCHANTS = 1_000;
/** An operator's search without a filter. */
const EVERY_TRANSFER = {
  accountId: null,
  merchantId: null,
  environment: null,
  status: null,
  awaitsApproval: false,
  name: null,
};
/** The first page of an operator's list. */
const NEWEST = { ...EVERY_TRANSFER, beforeId: null, limit: 51 };

let opened: TestDatabase;
let database: Database;
let walletId: string;
let transferId: string;
/** A merchant that has all the transfers, one that has none, and one of many of its account. */
let busy: OwnedTransfer;
let idle: { merchantId: string; accountId: string };
let crowd: { merchantId: string; accountId: string };

async function ownedMerchant() {
  const { merchantId } = await newMerchant(database, "sandbox");
  const { rows } = await database.pool.query<{ accountId: string }>(
    `SELECT account_id AS "accountId" FROM merchant WHERE id = $1`,
    [merchantId],
  );
  return { merchantId, accountId: rows[0]?.accountId ?? "" };
}

beforeAll(async () => {
  opened = await createTestDatabase();
  ({ database } = opened);
  const merchant = await OrderingMerchant.open(database, "sandbox", { TRX: "1000" });
  [idle, crowd] = [await ownedMerchant(), await ownedMerchant()];
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
  // Nonces that were lost to others, and whose holders are therefore no attempts of ours.
  await onServer(
    opened.url,
    `INSERT INTO payout (id, wallet_id, nonce, state, final_hash, ended_at)
     SELECT gen_random_uuid(), '${walletId}', ${ENDED} + n, 'foreign', 'zz' || n, now() FROM generate_series(1, ${LOST}) n`,
  );
  await onServer(
    opened.url,
    `INSERT INTO merchant (id, account_id, environment)
     SELECT gen_random_uuid(), account_id, environment FROM merchant, generate_series(1, ${OTHER_MERCHANTS}) WHERE id = '${crowd.merchantId}'`,
  );
  await onServer(opened.url, "ANALYZE");
  const found = await readOwnedTransfer(database.pool, transferId);
  if (found === undefined) throw new Error("what was ordered is not there");
  busy = found;
});
afterAll(() => opened.drop());

const search = (given: () => Partial<TransferPage>) => (pool: Database["pool"]) =>
  findTransfers(pool, { ...NEWEST, ...given() });

it.each([
  [
    "what is to be paid",
    async (pool: Database["pool"]) =>
      readCandidates(pool, { environment: "sandbox", network: null, currencies: null, limit: 100 }),
  ],
  [
    "what waits for its account",
    async (pool: Database["pool"]) => letFrozenWait(pool, { environment: "sandbox", network: null }),
  ],
  ["what is open", async (pool: Database["pool"]) => readOpenPayouts(pool, { walletId })],
  ["what is under way", async (pool: Database["pool"]) => readInFlight(pool, walletId)],
  ["whether a wallet has lost a nonce to itself", async (pool: Database["pool"]) => findWronglyForeign(pool, walletId)],
  ["how wallets stand", async (pool: Database["pool"]) => readWalletFacts(pool)],
  ["what waits for an operator", search(() => ({ awaitsApproval: true }))],
  ["what of a merchant waits for an operator", search(() => ({ merchantId: idle.merchantId, awaitsApproval: true }))],
  ["everybody's newest transfers", search(() => ({}))],
  ["everybody's transfers long ago", search(() => ({ beforeId: "00000000-0000-4000-8000-000000000000" }))],
  ["a merchant's newest transfers", search(() => ({ merchantId: busy.merchant.merchantId }))],
  ["an account's newest transfers", search(() => ({ accountId: busy.accountId }))],
  ["for transfers of a merchant that has none", search(() => ({ merchantId: idle.merchantId }))],
  ["for transfers of an account that has none", search(() => ({ accountId: idle.accountId }))],
  [
    "for a merchant's transfers in the other environment",
    search(() => ({ merchantId: busy.merchant.merchantId, environment: "production" as const })),
  ],
  [
    "for a merchant's transfers of a status that it has few of",
    search(() => ({ merchantId: busy.merchant.merchantId, status: "PENDING" as const })),
  ],
  ["for transfers of a status that none has", search(() => ({ status: "CANCELED" as const }))],
  ["for transfers of an environment that has none", search(() => ({ environment: "production" as const }))],
  ["for newest transfers of an environment", search(() => ({ environment: "sandbox" as const }))],
  ["for newest transfers of a status", search(() => ({ status: "CONFIRMED" as const }))],
  ["for a transfer by its merchant's name for it", search(() => ({ name: "old-7" }))],
  ["for a transfer by its id", search(() => ({ name: transferId }))],
  ["for one transfer", async (pool: Database["pool"]) => readOwnedTransfer(pool, transferId)],
  ["what was done for a transfer", async (pool: Database["pool"]) => readPayoutHistory(pool, transferId)],
])("asking %s reads few rows", async (_what, ask) => {
  const { pool, read } = explaining(database.pool);
  await ask(pool);
  const { most, asked } = read();
  expect(asked).toBeGreaterThan(0);
  expect(most).toBeLessThan(MOST_ROWS);
});

it("a list ends when it takes too long, and its caller is asked to try again", async () => {
  await expect(findTransfers(pausing(database.pool), NEWEST, 50)).rejects.toBeInstanceOf(UpstreamBusy);
});
