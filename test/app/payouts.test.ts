// Transfers through the whole service: ordered over REST, carried out by its own workers, on the sandbox chain and on a real node.

import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Hex } from "viem";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Anvil } from "../chains/anvil.ts";
import { saldoJson } from "../setup/saldo-command.ts";
import { SaldoHere } from "../setup/saldo-here.ts";
import { createTestDatabase, type TestDatabase } from "../setup/test-database.ts";

const ENDS_WITHIN = { timeout: 90_000, interval: 500 } as const;

type Answer = { readonly status: number; readonly data: Readonly<Record<string, unknown>>; readonly text: string };

describe("a transfer that is ordered", () => {
  let opened: TestDatabase;
  let folder: string;
  let anvil: Anvil;
  let token: Hex;
  let settings: Record<string, string>;
  let saldo: SaldoHere;
  let walletAddress: string;
  const pairs: Record<string, string> = {};

  beforeAll(async () => {
    opened = await createTestDatabase();
    folder = await mkdtemp(join(tmpdir(), "saldo-payouts-"));
    anvil = await Anvil.start();
    token = await anvil.deployToken();
    const hot = await anvil.wallet();
    walletAddress = hot.address;
    await anvil.giveTokens(token, hot.address, 1_000_000_000n);
    settings = {
      DATABASE_URL: opened.url,
      SALDO_DATA_DIR: folder,
      SALDO_DEMO: "0",
      SALDO_ETHEREUM_RPC_URL: anvil.url,
      SALDO_ETHEREUM_CHAIN_ID: "31337",
      SALDO_ETHEREUM_KEY_VARIABLE: "HOT_WALLET_KEY",
      HOT_WALLET_KEY: hot.privateKey,
      SALDO_ETHEREUM_TOKENS: `USDT=${token}`,
      SALDO_ETHEREUM_FINALITY: "2",
    };
    const { accountId = "" } = await saldoJson(["account", "create", "--email", "merchant@test.example"], settings);
    for (const [environment, currency] of [
      ["sandbox", "TRX"],
      ["production", "USDT"],
    ] as const) {
      const words = ["merchant", "create", "--account", accountId, "--environment", environment];
      const { merchantId = "", apiKey, secretKey } = await saldoJson(words, settings);
      pairs[environment] = `Basic ${Buffer.from(`${apiKey}:${secretKey}`).toString("base64")}`;
      const credit = ["merchant", "credit", "--merchant", merchantId, "--currency", currency, "--amount", "1000"];
      await saldoJson([...credit, "--reason", "test", "--reference", merchantId], settings);
    }
    saldo = await SaldoHere.start(settings);
  }, 180_000);
  afterAll(async () => {
    await saldo.stop();
    await anvil.stop();
    await opened.drop();
    await rm(folder, { recursive: true });
  });

  async function call(environment: "sandbox" | "production", path: string, body?: object): Promise<Answer> {
    const base = `${saldo.httpUrl}${environment === "sandbox" ? "/sandbox" : ""}/v1/merchant-transfers`;
    const response = await fetch(`${base}${path}`, {
      method: body === undefined ? "GET" : "POST",
      headers: { authorization: pairs[environment] ?? "", "content-type": "application/json" },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    return { status: response.status, text, data: (JSON.parse(text) as { data?: Answer["data"] }).data ?? {} };
  }
  const statusOf = async (environment: "sandbox" | "production", id: unknown): Promise<unknown> =>
    (await call(environment, `/${String(id)}`)).data["status"];

  it("in the sandbox is confirmed, or rejected, by its amount", async () => {
    const order = { currencyCode: "TRX", address: "TJRabPrwbZy45sbavfcjinPJC18kjpRTv8" };
    const paid = await call("sandbox", "/create", { ...order, externalId: "paid", amount: 10 });
    const reverted = await call("sandbox", "/create", { ...order, externalId: "reverted", amount: 10.0004 });
    expect([paid.status, reverted.status, paid.data["status"]], paid.text).toEqual([200, 200, "PENDING"]);
    await expect.poll(() => statusOf("sandbox", paid.data["id"]), ENDS_WITHIN).toBe("CONFIRMED");
    await expect.poll(() => statusOf("sandbox", reverted.data["id"]), ENDS_WITHIN).toBe("REJECTED");
  }, 120_000);

  it("in production reaches the chain once and is confirmed; our own addresses and other currencies are refused", async () => {
    const { address: to } = await anvil.wallet(0n);
    const order = { currencyCode: "USDT", amount: 10, address: to };
    const { status, data, text } = await call("production", "/create", { ...order, externalId: "real" });
    expect(status, text).toBe(200);
    const blocks = setInterval(() => void anvil.mine(), 200);
    await expect
      .poll(() => statusOf("production", data["id"]), ENDS_WITHIN)
      .toBe("CONFIRMED")
      .finally(() => clearInterval(blocks));
    const { data: shown } = await call("production", `/${String(data["id"])}`);
    expect(await anvil.tokenTransfersTo(token, to)).toEqual([
      { transactionHash: shown["transactionHash"], value: 10_000_000n },
    ]);
    const again = await call("production", "/create", { ...order, externalId: "real" });
    expect([again.status, again.data["id"]]).toEqual([200, data["id"]]);

    const toToken = await call("production", "/create", { ...order, externalId: "token", address: token });
    expect([toToken.status, toToken.text]).toEqual([422, expect.stringContaining("address_invalid")]);
    const little = await call("production", "/create", { ...order, amount: 9.99, externalId: "little" });
    expect([little.status, little.text]).toEqual([422, expect.stringContaining("USDT on ethereum is at least 10.")]);
    const unserved = { currencyCode: "TRX", amount: 5, address: "TJRabPrwbZy45sbavfcjinPJC18kjpRTv8" };
    const other = await call("production", "/create", { ...unserved, externalId: "tron" });
    expect([other.status, other.text]).toEqual([422, expect.stringContaining("currency_unsupported")]);
  }, 120_000);

  it("is in the books, and in what operators see", async () => {
    expect(await saldoJson(["audit", "--full", "--hurry"], settings)).toMatchObject({ ok: true, violations: [] });
    const { wallets } = (await saldoJson(["payout", "status"], settings)) as unknown as { wallets: object[] };
    expect(wallets).toMatchObject([
      { chain: "ethereum", isHalted: false, openPayouts: 0 },
      { chain: "sandbox", isHalted: false, openPayouts: 0 },
    ]);
    await expect
      .poll(async () => (await fetch(`${saldo.metricsUrl}/metrics`)).text(), ENDS_WITHIN)
      .toMatch(/^saldo_wallet_float\{chain="ethereum",currency="USDT"\} 990$/m);
    expect(saldo.log.map((line) => JSON.stringify(line)).join("\n")).not.toContain(
      settings["HOT_WALLET_KEY"]?.slice(2),
    );
  }, 120_000);

  it("are left to others by a node that has the address of the wallet in place of its key", async () => {
    await saldo.stop();
    saldo = await SaldoHere.start({ ...settings, HOT_WALLET_KEY: walletAddress });
    const { address: to } = await anvil.wallet(0n);
    const order = { currencyCode: "USDT", amount: 10, address: to, externalId: "watched" };
    const { status, data, text } = await call("production", "/create", order);
    expect(status, text).toBe(200);
    // A transfer of the sandbox, which every node pays, comes later and is through before.
    const play = { currencyCode: "TRX", address: "TJRabPrwbZy45sbavfcjinPJC18kjpRTv8", amount: 10, externalId: "play" };
    const { data: other } = await call("sandbox", "/create", play);
    await expect.poll(() => statusOf("sandbox", other["id"]), ENDS_WITHIN).toBe("CONFIRMED");
    expect(await statusOf("production", data["id"])).toBe("PENDING");
    const own = await call("production", "/create", { ...order, externalId: "own", address: walletAddress });
    expect([own.status, own.text]).toEqual([422, expect.stringContaining("address_invalid")]);
    await saldo.stop();
    saldo = await SaldoHere.start(settings);
    const blocks = setInterval(() => void anvil.mine(), 200);
    await expect
      .poll(() => statusOf("production", data["id"]), ENDS_WITHIN)
      .toBe("CONFIRMED")
      .finally(() => clearInterval(blocks));
  }, 180_000);
});
