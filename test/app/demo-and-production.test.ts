// A demo and production never share a database: a demo's keys and pairs are not valid there.

import { afterAll, beforeAll, expect, it } from "vitest";
import { creditMerchant, createMerchant } from "../../src/merchant/merchants/merchants.ts";
import { Browser } from "../identity/browser.ts";
import { runSaldo, saldoJson } from "../setup/saldo-command.ts";
import { SaldoHere } from "../setup/saldo-here.ts";
import { PRODUCTION, runSaldoProcess } from "../setup/saldo-process.ts";
import { createTestDatabase, type TestDatabase } from "../setup/test-database.ts";
import { chat, newCustomer } from "./customer.ts";

const HELLO = { model: "demo/small", messages: [{ role: "user", content: "Hello!" }] };
const KEY = /gw_[A-Za-z0-9]{49}/;
const PAIR = /mk_test_\w+:sk_test_\w+/;
let own: TestDatabase;
let settings: Record<string, string>;
beforeAll(async () => {
  own = await createTestDatabase();
  settings = { DATABASE_URL: own.url };
});
afterAll(() => own.drop());

it("keeps a production start from a demo's database until it is cleared, and a demo from production's", async () => {
  const demo = await SaldoHere.start(settings);
  const browser = new Browser(demo.httpUrl);
  await browser.auth("/demo/sign-in", {});
  await buyTopUp(browser, "1000000000");
  const key = demo.announced(KEY);
  const pair = demo.announced(PAIR);
  const accountId =
    demo
      .announced(/demo account +\S+/)
      .split(/ +/)
      .at(-1) ?? "";
  const other = await newCustomer(settings, { amount: "5000" });
  expect((await chat(demo.httpUrl, other.key, HELLO)).status).toBe(200);
  const merchant = await createMerchant(own.database, { accountId: other.accountId, environment: "production" });
  await creditMerchant(own.database, { merchantId: merchant.merchantId, currencyCode: "TRX", amountText: "250" });
  const { token = "" } = await saldoJson(["service-token", "create", "--all", "--name", "t"], settings);

  const whileServing = await runSaldo(["demo", "clear"], settings);
  expect(whileServing).toMatchObject({ code: 1, stderr: expect.stringContaining("Stop it") as string });
  await demo.stop();
  await expect(SaldoHere.start({ ...settings, SALDO_DEMO: "0" })).rejects.toThrow("`saldo demo clear`");
  const refused = await runSaldoProcess(["serve"], { ...settings, ...PRODUCTION });
  expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining("`saldo demo clear`") as string });

  const cleared = await saldoJson(["demo", "clear"], settings);
  expect(cleared).toMatchObject({ keys: 2, pairs: 2, serviceTokens: 1, sessions: 1, merchantFunds: 1 });
  expect(Number(cleared["playMoney"])).toBeGreaterThan(1_000_000_000);
  expect(await saldoJson(["audit", "--full", "--hurry"], settings)).toMatchObject({ ok: true, violations: [] });
  for (const account of [accountId, other.accountId]) {
    expect(await saldoJson(["account", "show", "--account", account], settings)).toMatchObject({ posted: "0" });
  }
  expect(await clearingBalance()).toBe(0n);

  const real = await SaldoHere.start({ ...settings, ...PRODUCTION });
  try {
    const bearers = [key, other.key, token].map((secret) => ({ authorization: `Bearer ${secret}` }));
    const basic = { authorization: `Basic ${Buffer.from(pair).toString("base64")}` };
    const asked = [
      ...bearers.map((headers) => fetch(`${real.httpUrl}/v1/balance`, { headers })),
      fetch(`${real.httpUrl}/sandbox/v1/merchant-transfers`, { headers: basic }),
    ];
    expect((await Promise.all(asked)).map(({ status }) => status)).toEqual([401, 401, 401, 401]);
    const stolen = new Browser(real.httpUrl).with(browser.cookies());
    expect((await stolen.rpcStatus("accounts.v1.AccountsService/GetMe")).status).toBe(401);
    expect((await saldoJson(["operator", "list"], settings))["operators"]).toEqual([]);
  } finally {
    await real.stop();
  }
  await expect(SaldoHere.start(settings)).rejects.toThrow("SALDO_DEMO=0");
  expect((await runSaldo(["demo", "clear"], settings)).code).toBe(1);
}, 120_000);

it("keeps a demo from a database that only production has served", async () => {
  const database = await createTestDatabase();
  try {
    const variables = { DATABASE_URL: database.url };
    const production = await SaldoHere.start({ ...variables, ...PRODUCTION });
    await production.stop();
    await expect(SaldoHere.start(variables)).rejects.toThrow("SALDO_DEMO=0");
    expect((await runSaldo(["demo", "clear"], variables)).code).toBe(1);
  } finally {
    await database.drop();
  }
}, 60_000);

/** Buys play money on the sandbox's page. */
async function buyTopUp(browser: Browser, amount: string): Promise<void> {
  const { topUp } = await browser.rpc<{ topUp: { paymentUrl: string } }>("billing.v1.BillingService/CreateTopUp", {
    amount,
    idempotencyKey: "a top-up",
  });
  const body = new URLSearchParams({ action: "pay" });
  expect((await fetch(topUp.paymentUrl, { method: "POST", redirect: "manual", body })).status).toBe(303);
  const balance = () => browser.rpc<{ balance: { available: string } }>("billing.v1.BillingService/GetBalance");
  await expect
    .poll(async () => Number((await balance()).balance.available), { timeout: 20_000 })
    .toBeGreaterThan(Number(amount));
}

/** The balance at payment providers, by the books. */
async function clearingBalance(): Promise<bigint> {
  const clearing = "00000000-0000-7000-8000-000000000003";
  const { rows } = await own.database.pool.query<{ sum: string }>(
    `SELECT coalesce(sum(CASE WHEN credit = $1::uuid THEN amount ELSE -amount END), 0) AS sum FROM posting
     WHERE $1::uuid IN (credit, debit)`,
    [clearing],
  );
  return BigInt(rows[0]?.sum ?? "1");
}
