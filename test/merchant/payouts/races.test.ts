// Two engines at the same place at the same time. They are held there until both have come, so the race is run every time.

import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Database } from "../../../src/database/database.ts";
import { systemClock } from "../../../src/kernel/clock.ts";
import type { MinedTransaction, PayoutChain } from "../../../src/merchant/chains/payout-chain.ts";
import { createSandboxChain } from "../../../src/merchant/chains/sandbox/sandbox-chain.ts";
import { PayoutEngine, type PayoutTrouble } from "../../../src/merchant/payouts/payout-engine.ts";
import {
  hasPayoutBegun,
  markFilling,
  readOpenPayouts,
  storeAttempt,
} from "../../../src/merchant/payouts/payout-store.ts";
import { inTransaction } from "../../../src/merchant/payouts/payout-transaction.ts";
import { settlePayout } from "../../../src/merchant/payouts/settle-payout.ts";
import { readWallet } from "../../../src/merchant/payouts/wallet-store.ts";
import { createTestDatabase, testBackends, type TestDatabase } from "../../setup/test-database.ts";
import { expectSoundBooks, OrderingMerchant } from "./ordered.ts";

const NEVER_MS = 3_600_000;
const POLICY = {
  leaseMs: 0,
  maxInFlight: 10,
  stuckAfterMs: NEVER_MS,
  giveUpAfterMs: NEVER_MS,
  headPace: null,
  dailyCaps: {},
};

/** Lets none pass until so many have come; then all, for ever. */
function gate(count: number): () => Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  let come = 0;
  return () => {
    come += 1;
    if (come >= count) resolve();
    return promise;
  };
}

describe.each(testBackends())("a race of engines on the %s server", (backend) => {
  let opened: TestDatabase;
  let database: Database;
  let merchant: OrderingMerchant;
  let troubles: PayoutTrouble[] = [];
  beforeAll(async () => {
    opened = await createTestDatabase({ backend });
    ({ database } = opened);
    merchant = await OrderingMerchant.open(database, "sandbox", { TRX: "100000" });
  });
  afterAll(() => opened.drop());

  const sandbox = (): PayoutChain => createSandboxChain(database, systemClock);
  function engineOn(chain: PayoutChain): PayoutEngine {
    return new PayoutEngine({
      pool: database.pool,
      chain,
      serves: { environment: "sandbox", network: null },
      policy: POLICY,
      guard: null,
      report: (trouble) => troubles.push(trouble),
    });
  }
  const order = (): Promise<string> => merchant.order({ currencyCode: "TRX", amount: "1", to: "TReceiver" });
  const openPayout = async (transferId: string) => {
    const chain = sandbox();
    const wallet = await readWallet(database.pool, { chain: chain.name, address: chain.wallet });
    const payouts = await readOpenPayouts(database.pool, { walletId: wallet?.walletId ?? "" });
    const payout = payouts.find((each) => each.transferId === transferId);
    if (payout === undefined) throw new Error("the transfer has no open payout");
    return payout;
  };
  const transactionsOf = async (nonce: number): Promise<number> => {
    const text = "SELECT count(*)::int AS sent FROM sandbox_transaction WHERE nonce = $1";
    return (await database.pool.query<{ sent: number }>(text, [nonce])).rows[0]?.sent ?? 0;
  };

  it("of two choosers gives a transfer one nonce", async () => {
    troubles = [];
    const transferId = await order();
    const bothHaveLooked = gate(2);
    const engines = [1, 2].map(() => {
      const chain = sandbox();
      return engineOn({ ...chain, balance: (coin) => bothHaveLooked().then(() => chain.balance(coin)) });
    });
    await Promise.all(engines.map((engine) => engine.round()));
    expect(await merchant.history(transferId)).toHaveLength(1);
    expect(troubles).toEqual([]);
  });

  it("of two signers stores one attempt, and the network sees no other", async () => {
    const transferId = await order();
    // Chosen, and not signed yet.
    await engineOn({ ...sandbox(), suggestFee: () => Promise.resolve(null) }).round();
    troubles = [];
    const { nonce, attempts } = await openPayout(transferId);
    expect(attempts).toEqual([]);
    const bothHaveSigned = gate(2);
    const engines = [1_001n, 1_002n].map((most) => {
      const chain = sandbox();
      return engineOn({
        ...chain,
        suggestFee: () => Promise.resolve({ most, priority: 100n }),
        sign: async (what) => {
          const signed = await chain.sign(what);
          if (what.nonce === nonce) await bothHaveSigned();
          return signed;
        },
      });
    });
    await Promise.all(engines.map((engine) => engine.round()));
    expect((await openPayout(transferId)).attempts).toHaveLength(1);
    expect(await transactionsOf(nonce)).toBe(1);
    expect(troubles).toEqual([]);
  });

  it("of a signer and the decision to fill the nonce forgets what was signed too late", async () => {
    const transferId = await order();
    await engineOn({ ...sandbox(), suggestFee: () => Promise.resolve(null) }).round();
    const { payoutId, nonce, payment } = await openPayout(transferId);
    const fee = { most: 1_000n, priority: 100n };
    const signed = await sandbox().sign({ nonce, payment, fee });
    expect(await markFilling(database.pool, payoutId, "no")).toBe(true);
    const late = { ...signed, payoutId, number: 1, kind: "payment", fee } as const;
    expect(await storeAttempt(database.pool, late)).toBe(false);
    const filler = await sandbox().sign({ nonce, payment: null, fee });
    expect(await storeAttempt(database.pool, { ...filler, payoutId, number: 1, kind: "filler", fee })).toBe(true);
  });

  it("of two settlements ends a payout once, with one debit", async () => {
    const transferId = await order();
    await engineOn(sandbox()).round();
    const payout = await openPayout(transferId);
    const [attempt] = payout.attempts;
    if (attempt === undefined) throw new Error("nothing was signed");
    const before = await merchant.balance("TRX");
    const mined: MinedTransaction = {
      status: "mined",
      block: { number: 1, hash: "0xblock" },
      confirmations: 3,
      isFinal: true,
      succeeded: true,
      feePaid: 0n,
    };
    const settle = (): Promise<boolean> =>
      inTransaction(database.pool, (client) => settlePayout(client, { payout, attempt, mined, feeCoin: null }));
    const ended = await Promise.all([settle(), settle(), settle()]);
    expect(ended.filter(Boolean)).toHaveLength(1);
    expect(await merchant.statuses(transferId)).toEqual(["PENDING", "SUBMITTED", "CONFIRMED"]);
    const after = await merchant.balance("TRX");
    expect(Number(before.held) - Number(after.held)).toBeCloseTo(17.7, 6);
    expect(after.available).toBe(before.available);
    await expectSoundBooks(database);
  });

  it("between a cancellation and a nonce is decided by the transfer's lock", async () => {
    const transferId = await order();
    const begun = (): Promise<boolean> => hasPayoutBegun(database.pool, transferId);
    expect(await begun()).toBe(false);
    await engineOn(sandbox()).round();
    expect(await begun()).toBe(true);
  });
});
