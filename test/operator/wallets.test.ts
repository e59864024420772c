// The wallets that pay transfers out, as operators list and resume them over the contract.

import { timestampNow } from "@bufbuild/protobuf/wkt";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ValidationError } from "../../src/kernel/errors.ts";
import type { PayoutChain } from "../../src/merchant/chains/payout-chain.ts";
import { haltWallet, openWallet } from "../../src/merchant/payouts/wallet-store.ts";
import { findStop, resumeWallet, type WalletStop } from "../../src/operator/commands/payouts.ts";
import { whileLocked } from "../setup/held-row.ts";
import { OPERATOR, refusal, serveOperator, type ServedOperator } from "./operator-calls.ts";

/** Two real chains beside the sandbox's: one answers, the other one never does. */
function chainsOf(sandbox: PayoutChain): PayoutChain[] {
  sandboxChain = sandbox;
  const real = { ...sandbox, feeCoin: { currencyCode: "ETH", network: "ethereum", decimals: 18 } } as const;
  return [
    sandbox,
    {
      ...real,
      name: "ethereum",
      wallet: "0xaa",
      currencies: ["ETH", "USDT"],
      balance: async ({ decimals }) => 15n * 10n ** BigInt(decimals - 1),
    },
    {
      ...real,
      name: "bsc",
      wallet: "0xbb",
      currencies: ["BNB"],
      balance: () => Promise.reject(new Error("away")),
      head: () => Promise.reject(new Error("away")),
    },
  ];
}

let sandboxChain: PayoutChain;
let served: ServedOperator;
beforeAll(async () => {
  served = await serveOperator({}, chainsOf);
});
afterAll(() => served.stop());

/** The rules that refused an order without a serving chain. */
async function rulesOf(order: Promise<unknown>): Promise<string[]> {
  const error: unknown = await order.then(
    () => undefined,
    (refused: unknown) => refused,
  );
  if (!(error instanceof ValidationError)) throw new Error("the order was not refused", { cause: error });
  return error.details.map(({ field, rule }) => `${field} ${rule}`);
}

describe("wallets", () => {
  const walletsByChain = async () =>
    new Map((await served.operator.listPayoutWallets({})).wallets.map((wallet) => [wallet.chain, wallet]));

  test("are listed with their chains' answers, and that a chain did not answer", async () => {
    await openWallet(served.database.pool, { chain: "tron", address: "T1", nextNonce: 3 });
    const wallets = await walletsByChain();
    expect([...wallets.keys()]).toEqual(["bsc", "ethereum", "sandbox", "tron"]);
    expect(wallets.get("ethereum")).toMatchObject({
      address: "0xaa",
      configured: true,
      stopped: false,
      balancesKnown: true,
      balances: [
        { currencyCode: "ETH", amount: "1.5" },
        { currencyCode: "USDT", amount: "1.5" },
      ],
    });
    expect(wallets.get("bsc")).toMatchObject({ configured: true, balancesKnown: false, balances: [] });
    expect(wallets.get("sandbox")).toMatchObject({ configured: true, balancesKnown: true, balances: [] });
    expect(wallets.get("tron")).toMatchObject({ configured: false, balancesKnown: false });
    expect((await refusal(served.member.listPayoutWallets({}))).code).toBe("permission_denied");
  });

  test("sign again once they are resumed, once, and the reason is written down", async () => {
    const { pool } = served.database;
    const { address = "" } = (await walletsByChain()).get("sandbox") ?? {};
    const { walletId } = await openWallet(pool, { chain: "sandbox", address, nextNonce: 0 });
    await haltWallet(pool, walletId, "another program has used nonce 0");
    const stopped = (await walletsByChain()).get("sandbox");
    expect(stopped).toMatchObject({ stopped: true, stopReason: "another program has used nonce 0" });
    expect(stopped?.stoppedAt).toBeDefined();
    const order = { chain: "sandbox", reason: "it was us" };
    expect((await refusal(served.operator.resumePayoutWallet(order))).code).toBe("validation_error");
    const stoppedAt = stopped?.stoppedAt ?? {};
    const resume = () => served.operator.resumePayoutWallet({ ...order, stoppedAt });
    expect(await resume()).toMatchObject({ isNew: true, foreignNonces: 0 });
    expect(await resume()).toMatchObject({ isNew: false, foreignNonces: 0 });
    expect((await walletsByChain()).get("sandbox")).toMatchObject({ stopped: false, stopReason: "" });
    expect(await served.linesOf(`sandbox ${address}`)).toEqual([
      { operator: OPERATOR, action: "payout resume", reason: "it was us" },
    ]);
  });

  test("sign again though an engine has just locked one", async () => {
    const { database } = served;
    const { walletId } = await openWallet(database.pool, { chain: "base", address: "0xdd", nextNonce: 0 });
    await haltWallet(database.pool, walletId, "another program has used nonce 0");
    const chain = { ...sandboxChain, name: "base", wallet: "0xdd", nextNonce: async () => 0 } as PayoutChain;
    const chains = [chain];
    const stop = await findStop(database.pool, { chains, name: "base" });
    const order = { chains, name: "base", stoppedAt: stop?.stoppedAt ?? new Date(0), reason: "it was us" };
    const lock = `SELECT FROM wallet WHERE id = '${walletId}' FOR NO KEY UPDATE`;
    const resumed = whileLocked(database.pool, lock, () => resumeWallet({ database, operator: "op" }, order));
    expect(await resumed).toMatchObject({ isNew: true });
  });

  test("are not resumed when they never paid, are not ours, or their chain does not answer", async () => {
    const order = { reason: "it was us", stoppedAt: timestampNow() };
    const resume = (chain: string) => refusal(served.operator.resumePayoutWallet({ ...order, chain }));
    expect(await resume("ethereum")).toMatchObject({ code: "not_found" });
    expect(await resume("tron")).toEqual({ code: "validation_error", rules: ["chain chain.known"] });
    const { pool } = served.database;
    const { walletId } = await openWallet(pool, { chain: "bsc", address: "0xbb", nextNonce: 0 });
    await haltWallet(pool, walletId, "another program has used nonce 0");
    expect(await resume("bsc")).toMatchObject({ code: "upstream_busy" });
    expect(await served.linesOf("bsc 0xbb")).toEqual([]);
  });

  test("do not sign again by the order of an operator who has looked at another stop", async () => {
    const { database } = served;
    const { pool } = database;
    const { walletId } = await openWallet(pool, { chain: "polygon", address: "0xcc", nextNonce: 0 });
    const quick = { ...sandboxChain, name: "polygon", wallet: "0xcc", nextNonce: async () => 0 } as PayoutChain;
    const asked = Promise.withResolvers<void>();
    const answered = Promise.withResolvers<void>();
    const slow: PayoutChain = {
      ...quick,
      head: async () => {
        asked.resolve();
        await answered.promise;
        return sandboxChain.head();
      },
    };
    const resume = (operator: string, chain: PayoutChain, stop: WalletStop | null) => {
      if (stop === null) throw new Error("the wallet has not stopped");
      const order = { chains: [chain], name: "polygon", stoppedAt: stop.stoppedAt, reason: stop.stopReason };
      return resumeWallet({ database, operator }, order);
    };
    const find = () => findStop(pool, { chains: [quick], name: "polygon" });
    await haltWallet(pool, walletId, "first");
    const first = await find();
    const late = rulesOf(resume("late", slow, first));
    await asked.promise;
    expect(await resume("early", quick, first)).toMatchObject({ isNew: true });
    await haltWallet(pool, walletId, "second");
    answered.resolve();
    expect(await late).toEqual(["stoppedAt wallet.stop"]);
    // Nor later, by a page that was not loaded again.
    expect(await rulesOf(resume("late", quick, first))).toEqual(["stoppedAt wallet.stop"]);
    expect(await find()).toMatchObject({ stopReason: "second" });
    const second = await find();
    expect(await resume("early", quick, second)).toMatchObject({ isNew: true });
    expect(await resume("late", quick, first)).toMatchObject({ foreignNonces: 0, isNew: false });
    const lines = (await served.linesOf("polygon 0xcc")).map(({ operator, reason }) => ({ operator, reason }));
    expect(lines).toEqual([
      { operator: "early", reason: "second" },
      { operator: "early", reason: "first" },
    ]);
  });
});
