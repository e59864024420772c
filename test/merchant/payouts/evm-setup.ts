// Payouts on a real node: anvil with a token, a wallet that pays, a merchant with coins, and engines on one database.

import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Hex } from "viem";
import { expect } from "vitest";
import type { Database } from "../../../src/database/database.ts";
import { createEvmChain, type EvmSettings } from "../../../src/merchant/chains/evm/evm-chain.ts";
import type { PayoutChain } from "../../../src/merchant/chains/payout-chain.ts";
import { BooksGuard, type BooksGuardOptions } from "../../../src/merchant/payouts/books-guard.ts";
import { journalFolder, SignedJournal } from "../../../src/merchant/payouts/signed-journal.ts";
import { PayoutEngine, type PayoutPolicy, type PayoutTrouble } from "../../../src/merchant/payouts/payout-engine.ts";
import { Anvil, type TestWallet } from "../../chains/anvil.ts";
import { createTestDatabase, type TestDatabase } from "../../setup/test-database.ts";
import { expectSoundBooks, hasEnded, OrderingMerchant } from "./ordered.ts";

/** More than the deepest reorganization that is tried. */
export const FINAL_AFTER = 14;
const NEVER_MS = 3_600_000;
/** Nothing is due by the clock; a test names what is. */
export const PATIENT: PayoutPolicy = {
  leaseMs: 0,
  maxInFlight: 16,
  stuckAfterMs: NEVER_MS,
  giveUpAfterMs: NEVER_MS,
  // Tests mine as many blocks at once as they like.
  headPace: { blocksAtOnce: 1_000, msPerBlock: 1 },
  dailyCaps: {},
};
const MOST_ROUNDS = 60;
const TOKENS = 1_000_000_000n;
/** The default order: 5 coins, and the fee of 30 % on top. */
export const [AMOUNT, UNITS, TOTAL] = ["5", 5_000_000n, 6.5];

export class EvmSetup {
  readonly opened: TestDatabase;
  readonly anvil: Anvil;
  readonly token: Hex;
  readonly hot: TestWallet;
  readonly merchant: OrderingMerchant;
  readonly troubles: PayoutTrouble[] = [];
  /** Where the engines' journals are. */
  readonly journals: string;

  private constructor(facts: Pick<EvmSetup, "opened" | "anvil" | "token" | "hot" | "merchant" | "journals">) {
    this.opened = facts.opened;
    this.anvil = facts.anvil;
    this.token = facts.token;
    this.hot = facts.hot;
    this.merchant = facts.merchant;
    this.journals = facts.journals;
  }

  /** A setup of its own: a database, a node, a wallet that has never paid. */
  static async open(): Promise<EvmSetup> {
    const opened = await createTestDatabase();
    const anvil = await Anvil.start();
    const token = await anvil.deployToken();
    const hot = await anvil.wallet();
    await anvil.giveTokens(token, hot.address, TOKENS);
    const merchant = await OrderingMerchant.open(opened.database, "production", { USDT: "10000", ETH: "1000" });
    const journals = await mkdtemp(join(tmpdir(), "saldo-journals-"));
    return new EvmSetup({ opened, anvil, token, hot, merchant, journals });
  }

  get database(): Database {
    return this.opened.database;
  }

  settings(): EvmSettings {
    return {
      network: "ethereum",
      rpcUrl: this.anvil.url,
      chainId: 31_337,
      privateKey: this.hot.privateKey,
      tokens: { USDT: this.token },
      finality: FINAL_AFTER,
      maxFeeGwei: 500,
      timeoutMs: 10_000,
    };
  }

  chain(rpcUrl = this.anvil.url, more: Partial<EvmSettings> = {}): PayoutChain {
    return createEvmChain({ ...this.settings(), rpcUrl, ...more });
  }

  engine({
    chain = this.chain(),
    policy = {},
    guard = this.guard(),
  }: { chain?: PayoutChain; policy?: Partial<PayoutPolicy>; guard?: BooksGuard } = {}): PayoutEngine {
    return new PayoutEngine({
      pool: this.database.pool,
      chain,
      serves: { environment: "production", network: "ethereum" },
      policy: { ...PATIENT, ...policy },
      report: (trouble) => this.troubles.push(trouble),
      guard,
    });
  }

  /** The guard of a node: all nodes without another folder are one. */
  guard(more: Partial<BooksGuardOptions> & { folder?: string } = {}): BooksGuard {
    const { folder = this.journals, ...options } = more;
    const journal = new SignedJournal(journalFolder(folder, { chain: "ethereum", address: this.hot.address }));
    return new BooksGuard({ pool: this.database.pool, journal, requiresStandby: true, termMs: 0, ...options });
  }

  /** A recipient of one payment alone. */
  async recipient(): Promise<Hex> {
    return (await this.anvil.wallet(0n)).address;
  }

  /** Orders so much of the token. */
  orderTokens(to: Hex, amount = AMOUNT): Promise<string> {
    return this.merchant.order({ currencyCode: "USDT", amount, to });
  }

  /** What the merchant has of the token and may order. */
  async available(): Promise<number> {
    return Number((await this.merchant.balance("USDT")).available);
  }

  /** The chain has one transfer to the recipient, by the transaction that the merchant was shown. */
  async expectPaidOnce(transferId: string, to: Hex, availableBefore: number): Promise<void> {
    const transfers = await this.anvil.tokenTransfersTo(this.token, to);
    const transfer = await this.merchant.transfer(transferId);
    expect(transfers).toEqual([{ transactionHash: transfer.transactionHash, value: UNITS }]);
    expect(transfer).toMatchObject({ status: "CONFIRMED", confirmations: FINAL_AFTER });
    expect(await this.merchant.statuses(transferId)).toEqual(["PENDING", "SUBMITTED", "CONFIRMED"]);
    const { available, held } = await this.merchant.balance("USDT");
    expect(availableBefore - Number(available)).toBeCloseTo(TOTAL, 6);
    expect(held).toBe("0");
    await expectSoundBooks(this.database);
  }

  /** The wallet's transactions that lie in the mempool and can be mined. */
  pooled(): Promise<Hex[]> {
    return this.anvil.pooledOf(this.hot.address);
  }

  /** Rounds with a block behind each, until the transfers have ended. */
  async runToEnd(engine: Pick<PayoutEngine, "round">, transferIds: readonly string[]): Promise<void> {
    for (let round = 0; round < MOST_ROUNDS; round += 1) {
      await engine.round();
      const transfers = await Promise.all(transferIds.map((id) => this.merchant.transfer(id)));
      if (transfers.every(hasEnded)) return;
      await this.anvil.mine();
    }
    const stand = await Promise.all(transferIds.map(async (id) => (await this.merchant.transfer(id)).status));
    throw new Error(`not ended after ${MOST_ROUNDS} rounds: ${stand.join(" ")}; ${JSON.stringify(this.troubles)}`);
  }

  async close(): Promise<void> {
    await this.anvil.stop();
    await this.opened.drop();
    await rm(this.journals, { recursive: true });
  }
}
