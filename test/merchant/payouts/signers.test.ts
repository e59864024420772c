// Payouts whose keys are outside the process: they are signed with a random k, the signer may be away, and it may have another key.
// Signing a payment twice gives two transactions with two hashes. The network gets one that is in the books, and no other.

import { generatePrivateKey } from "viem/accounts";
import { type Hex, keccak256, parseTransaction, recoverTransactionAddress } from "viem";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { openDatabase } from "../../../src/database/database.ts";
import { uuidv7 } from "../../../src/kernel/ids.ts";
import type { PayoutChain } from "../../../src/merchant/chains/payout-chain.ts";
import { PayoutEngine } from "../../../src/merchant/payouts/payout-engine.ts";
import { WAITS_FOR_SIGNER } from "../../../src/merchant/payouts/waiting-transfers.ts";
import { findStop, resumeWallet } from "../../../src/operator/commands/payouts.ts";
import { RandomSigner } from "../../chains/random-signer.ts";
import { onServer, urlOfDatabase } from "../../setup/test-servers.ts";
import { EvmSetup, PATIENT } from "./evm-setup.ts";
import { expectSoundBooks } from "./ordered.ts";

const HALF_ORDER = 0x7fff_ffff_ffff_ffff_ffff_ffff_ffff_ffff_5d57_6e73_57a4_501d_dfe9_2f46_681b_20a0n;

describe("payouts that a signer outside the process signs", () => {
  let setup: EvmSetup;
  let signer: RandomSigner;
  /** Everything that was handed to the network, by hash. */
  let handedOver: Hex[];
  beforeAll(async () => {
    setup = await EvmSetup.open();
  });
  beforeEach(() => {
    signer = new RandomSigner(setup.hot.privateKey);
    handedOver = [];
    setup.troubles.length = 0;
  });
  afterEach(async () => {
    // Of all that the network was ever given, the books and the journal have the bytes.
    const { rows } = await setup.database.pool.query<{ hash: Hex }>("SELECT hash FROM payout_attempt");
    const stored = rows.map(({ hash }) => hash);
    const { entries } = await setup.guard().journal.read();
    const journaled = entries.map(({ hash }) => hash);
    expect(handedOver.filter((hash) => !stored.includes(hash) || !journaled.includes(hash))).toEqual([]);
    await expectSoundBooks(setup.database);
  });
  afterAll(() => setup.close());

  /** The chain with a signer, which notes what is handed over. */
  function signing(): PayoutChain {
    const chain = setup.chain(setup.anvil.url, { privateKey: setup.hot.address, signer: signer.outside });
    return {
      ...chain,
      broadcast: async (raw) => {
        handedOver.push(keccak256(raw as Hex));
        await chain.broadcast(raw);
      },
    };
  }
  const kinds = (): readonly string[] => setup.troubles.map(({ kind }) => kind);
  const nextNonceInBooks = async (): Promise<number> => {
    const { rows } = await setup.database.pool.query<{ next_nonce: number }>(
      "SELECT next_nonce FROM wallet WHERE address = $1",
      [setup.hot.address],
    );
    return rows[0]?.next_nonce ?? 0;
  };
  const attemptsOf = async (transferId: string) =>
    (await setup.merchant.history(transferId)).flatMap(({ attempts }) => attempts);

  it("are paid once each, with a low s that leads to the wallet", async () => {
    const before = await setup.available();
    const to = await setup.recipient();
    const transferId = await setup.orderTokens(to);
    const engine = setup.engine({ chain: signing() });
    await setup.runToEnd(engine, [transferId]);
    await setup.expectPaidOnce(transferId, to, before);
    const more = await Promise.all(Array.from({ length: 5 }, async () => setup.orderTokens(await setup.recipient())));
    await setup.runToEnd(engine, more);
    const { rows } = await setup.database.pool.query<{ raw: Hex }>("SELECT raw FROM payout_attempt");
    expect(rows).toHaveLength(6);
    for (const { raw } of rows) {
      expect(BigInt(parseTransaction(raw).s ?? 0n) <= HALF_ORDER).toBe(true);
      expect(await recoverTransactionAddress({ serializedTransaction: raw as `0x02${string}` })).toBe(
        setup.hot.address,
      );
    }
  });

  it("wait with a reason and without a nonce while the signer is away, and go on by themselves", async () => {
    const [to, before, nonce] = [await setup.recipient(), await setup.available(), await nextNonceInBooks()];
    signer.trouble = new Error("no answer");
    const engine = setup.engine({ chain: signing() });
    const transferId = await setup.orderTokens(to);
    await engine.round();
    await engine.round();
    expect(await setup.merchant.transfer(transferId)).toMatchObject({ status: "WAITING", reason: WAITS_FOR_SIGNER });
    expect(await setup.merchant.history(transferId)).toEqual([]);
    expect(new Set(kinds())).toEqual(new Set(["signer_silent"]));
    expect(await nextNonceInBooks()).toBe(nonce);
    signer.trouble = null;
    await setup.runToEnd(engine, [transferId]);
    expect(await setup.anvil.tokenTransfersTo(setup.token, to)).toHaveLength(1);
    expect(await nextNonceInBooks()).toBe(nonce + 1);
    expect(before - (await setup.available())).toBeCloseTo(6.5, 6);
  });

  it.each<[what: string, fail: () => void, kind: string]>([
    ["goes away", () => void (signer.trouble = new Error("throttled")), "signer_silent"],
    ["gets another key", () => void (signer.privateKey = generatePrivateKey()), "wrong_signer"],
  ])("keep their nonce and fail nothing when the signer %s behind it", async (_what, fail, kind) => {
    const [to, before, nonce] = [await setup.recipient(), await setup.available(), await nextNonceInBooks()];
    const chain = signing();
    const transferId = await setup.orderTokens(to);
    // It has just proven itself, and the nonce is taken then.
    const engine = setup.engine({
      chain: {
        ...chain,
        checkSigner: async () => {
          await chain.checkSigner();
          fail();
        },
      },
    });
    for (let round = 0; round < 5; round += 1) await engine.round();
    expect(await setup.merchant.statuses(transferId)).toEqual(["PENDING"]);
    const history = await setup.merchant.history(transferId);
    expect(history).toMatchObject([{ nonce, state: "chosen", attempts: [] }]);
    expect(new Set(kinds())).toEqual(new Set([kind]));
    expect(handedOver).toEqual([]);
    expect(await setup.pooled()).toEqual([]);
    // Another transfer takes no nonce meanwhile.
    const second = await setup.orderTokens(await setup.recipient());
    const watching = setup.engine({ chain });
    await watching.round();
    expect(await nextNonceInBooks()).toBe(nonce + 1);

    [signer.trouble, signer.privateKey] = [null, setup.hot.privateKey];
    await setup.runToEnd(watching, [transferId, second]);
    expect(await setup.merchant.history(transferId)).toMatchObject([{ nonce, state: "confirmed" }]);
    expect(await setup.anvil.tokenTransfersTo(setup.token, to)).toHaveLength(1);
    expect(before - (await setup.available())).toBeCloseTo(13, 6);
  });

  it("stop at an unsignable payment alone", async () => {
    const before = await setup.available();
    const transferId = await setup.orderTokens("0xnobody");
    const engine = setup.engine({ chain: signing() });
    await setup.runToEnd(engine, [transferId]);
    expect(await setup.merchant.transfer(transferId)).toMatchObject({ status: "REJECTED" });
    expect(await setup.available()).toBeCloseTo(before, 6);
  });

  it("that two engines sign at once go out as what was stored first, and the other is discarded unseen", async () => {
    const [to, before] = [await setup.recipient(), await setup.available()];
    const transferId = await setup.orderTokens(to);
    const colleague = setup.engine({ chain: signing() });
    const chain = signing();
    const slow: string[] = [];
    const engine = setup.engine({
      chain: {
        ...chain,
        sign: async (order) => {
          const signed = await chain.sign(order);
          if (slow.length === 0) {
            slow.push(signed.hash);
            await colleague.round();
          }
          return signed;
        },
      },
    });
    await engine.round();
    const attempts = await attemptsOf(transferId);
    expect(attempts).toHaveLength(1);
    // The same payment was signed by both, with two hashes.
    const payments = new Set(signer.signed.slice(-2));
    expect(payments.size).toBe(1);
    expect(attempts[0]?.hash).not.toBe(slow[0]);
    expect(new Set(handedOver)).toEqual(new Set([attempts[0]?.hash]));
    await setup.runToEnd(engine, [transferId]);
    await setup.expectPaidOnce(transferId, to, before);
  });

  /** An engine whose store of a signed attempt ends in an error, once: behind the statement, or before it. */
  function storingBadly(isStored: boolean): PayoutEngine {
    let failures = 1;
    const { pool } = setup.database;
    const query = async (text: string, values: unknown[]) => {
      const isStore = text.includes("INSERT INTO payout_attempt") && failures > 0;
      if (!isStore) return pool.query(text, values);
      failures -= 1;
      if (isStored) await pool.query(text, values);
      throw new Error("Connection terminated unexpectedly");
    };
    const flaky = new Proxy(pool, {
      get: (target, name) => {
        if (name === "query") return query;
        const value: unknown = Reflect.get(target, name);
        return typeof value === "function" ? value.bind(target) : value;
      },
    });
    return new PayoutEngine({
      pool: flaky,
      chain: signing(),
      serves: { environment: "production", network: "ethereum" },
      policy: PATIENT,
      report: (trouble) => setup.troubles.push(trouble),
      guard: setup.guard(),
    });
  }

  it("are not signed again where the answer to storing them is lost", async () => {
    const [to, before] = [await setup.recipient(), await setup.available()];
    const transferId = await setup.orderTokens(to);
    const engine = storingBadly(true);
    await engine.round();
    expect(kinds()).toEqual(["payout_failed"]);
    const [stored] = await attemptsOf(transferId);
    expect(handedOver).toEqual([]);
    const signatures = signer.signed.length;
    await setup.runToEnd(engine, [transferId]);
    await setup.expectPaidOnce(transferId, to, before);
    expect(signer.signed).toHaveLength(signatures);
    expect(new Set(handedOver)).toEqual(new Set([stored?.hash]));
  });

  it("are signed again where they were never stored, and the first bytes are never seen", async () => {
    const [to, before] = [await setup.recipient(), await setup.available()];
    const transferId = await setup.orderTokens(to);
    const engine = storingBadly(false);
    await engine.round();
    expect(await attemptsOf(transferId)).toEqual([]);
    expect(handedOver).toEqual([]);
    await setup.runToEnd(engine, [transferId]);
    await setup.expectPaidOnce(transferId, to, before);
    expect(new Set(signer.signed.slice(-2)).size).toBe(1);
    const attempts = await attemptsOf(transferId);
    expect(new Set(handedOver)).toEqual(new Set(attempts.map(({ hash }) => hash)));
    expect(attempts).toHaveLength(1);
  });

  it("that the network has lost are handed over again while the signer that should outbid them is away", async () => {
    const [to, before] = [await setup.recipient(), await setup.available()];
    const transferId = await setup.orderTokens(to);
    const chain = signing();
    await setup.engine({ chain }).round();
    const [hash] = await setup.pooled();
    await setup.engine({ chain }).round();
    await setup.anvil.rpc("anvil_dropTransaction", [hash]);
    signer.trouble = new Error("away");
    await setup.engine({ chain, policy: { stuckAfterMs: 0 } }).round();
    expect(kinds()).toEqual(["signer_silent"]);
    expect(await setup.pooled()).toEqual([hash]);
    expect(await attemptsOf(transferId)).toHaveLength(1);
    signer.trouble = null;
    await setup.runToEnd(setup.engine({ chain }), [transferId]);
    await setup.expectPaidOnce(transferId, to, before);
  });

  it("that the books have lost are not signed again, which would give another hash", async () => {
    const [to, before] = [await setup.recipient(), await setup.available()];
    const transferId = await setup.orderTokens(to);
    const chain = signing();
    await loseRound(setup, chain);
    const [hash] = await setup.pooled();
    const signatures = signer.signed.length;
    await onServer(
      setup.opened.url,
      "UPDATE wallet SET timeline = timeline - 1; UPDATE payout_journal SET timeline = timeline - 1",
    );
    const engine = setup.engine({ chain });
    for (let round = 0; round < 3; round += 1) await engine.round();
    expect(kinds()).toEqual(["books_changed"]);
    expect(await attemptsOf(transferId)).toEqual([]);
    const wallet = { chains: [chain], name: chain.name };
    const stop = await findStop(setup.database.pool, wallet);
    const order = { ...wallet, stoppedAt: stop?.stoppedAt ?? new Date(0), reason: "looked at", adopts: true };
    expect(await resumeWallet({ database: setup.database, operator: "test" }, order)).toMatchObject({
      adoptedPayments: 1,
    });
    await setup.runToEnd(engine, [transferId]);
    expect(signer.signed).toHaveLength(signatures);
    expect((await setup.merchant.transfer(transferId)).transactionHash).toBe(hash);
    await setup.expectPaidOnce(transferId, to, before);
  });
});

/** Lets an engine work a round on a copy of the books that is dropped then. */
async function loseRound(setup: EvmSetup, chain: PayoutChain): Promise<void> {
  const { url } = setup.opened;
  const copy = `saldo_lost_${uuidv7().replaceAll("-", "")}`;
  const source = new URL(url).pathname.slice(1);
  const [server, copyUrl] = [urlOfDatabase(url, "postgres"), urlOfDatabase(url, copy)];
  await onServer(server, `SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE datname = '${source}'`);
  await onServer(server, `CREATE DATABASE ${copy} TEMPLATE ${source} STRATEGY file_copy`);
  const database = await openDatabase({ url: copyUrl, dataDir: "" });
  try {
    const guard = setup.guard({ pool: database.pool });
    const serves = { environment: "production", network: "ethereum" } as const;
    await new PayoutEngine({ pool: database.pool, chain, serves, policy: PATIENT, report: () => {}, guard }).round();
  } finally {
    await database.close();
    await onServer(server, `DROP DATABASE ${copy} WITH (FORCE)`);
  }
}
