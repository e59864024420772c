// Every kind of caller has a bound, and a storm of refusals stays cheap: a process of its own with small limits.

import { createClient } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { BillingService } from "#gen/saldo/billing/v1/billing_service_pb.ts";
import { ErrorFactsSchema } from "#gen/saldo/errors/v1/errors_pb.ts";
import { createTestDatabase, type TestDatabase } from "../setup/test-database.ts";
import { Browser } from "../identity/browser.ts";
import { type ServedSaldo, serveSaldo } from "../app/clients/served-saldo.ts";
import { SaldoHere } from "../setup/saldo-here.ts";
import { ConnectError } from "@connectrpc/connect";

const LIMIT = 5;
const RATES = {
  SALDO_RATE_PERSON: String(LIMIT),
  SALDO_RATE_MERCHANT: String(LIMIT),
  SALDO_RATE_SERVICE: String(LIMIT),
};

let served: ServedSaldo;
let neighbours: TestDatabase;
let guessed: SaldoHere;
beforeAll(async () => {
  neighbours = await createTestDatabase();
  // A process for wrong credentials apart, because this machine is one network. Behind a proxy each test is a network of its own.
  const guessing = { DATABASE_URL: neighbours.url, SALDO_RATE_REFUSED_CREDENTIALS: "10", SALDO_TRUSTED_PROXIES: "1" };
  [served, guessed] = await Promise.all([serveSaldo({ settings: RATES }), SaldoHere.start(guessing)]);
});
afterAll(async () => {
  await served.stop();
  await guessed.stop();
  await neighbours.drop();
});

/** How each of so many calls, one after the other, was answered. */
async function statuses(calls: number, call: () => Promise<{ status: number }>): Promise<number[]> {
  const answers: number[] = [];
  for (let i = 0; i < calls; i += 1) answers.push((await call()).status);
  return answers;
}

const ALLOWED = Array.from({ length: LIMIT }, () => 200);
const GET_BALANCE = "billing.v1.BillingService/GetBalance";

describe("a window", () => {
  test("holds for a person, whatever the method and the session", async () => {
    const browsers = await Promise.all(
      [0, 1].map(async () => {
        const browser = new Browser(served.server.httpUrl);
        await browser.auth("/demo/sign-in", {});
        return browser;
      }),
    );
    const [first, second] = browsers as [Browser, Browser];
    expect(await statuses(LIMIT, () => first.rpcStatus(GET_BALANCE))).toEqual(ALLOWED);
    const refused = await second.rpcStatus("accounts.v1.AccountsService/GetMe");
    expect(refused.status).toBe(429);
    expect(refused.json).toMatchObject({ code: "resource_exhausted" });
    expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(0);
    // As an operator it is the same person.
    expect((await first.rpcStatus("operator.v1.AccountService/ListAccounts")).status).toBe(429);
  });

  test("holds for a merchant pair in area B's shape, and for each pair apart", async () => {
    const merchant = await served.merchant({ environment: "sandbox", coins: { TRX: "100" } });
    const other = await served.merchant({ environment: "sandbox", coins: { TRX: "100" } });
    const calculate = (authorization: string, amount: unknown = 5) =>
      fetch(`${served.server.httpUrl}/sandbox/v1/merchant-transfers/calculate`, {
        method: "POST",
        headers: { authorization, "content-type": "application/json" },
        body: JSON.stringify({ currencyCode: "TRX", amount }),
      });
    // What is wrong with an order has cost as much to find out.
    expect((await calculate(merchant.authorization, "nonsense")).status).toBe(400);
    expect(await statuses(LIMIT - 1, () => calculate(merchant.authorization))).toEqual(ALLOWED.slice(1));
    const refused = await calculate(merchant.authorization);
    expect(refused.status).toBe(429);
    expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(0);
    expect(await refused.json()).toEqual({
      meta: { statusCode: 429, error: "rate_limit", message: expect.stringContaining("Too many requests") },
    });
    expect((await calculate(other.authorization)).status).toBe(200);
  });

  test("holds for a service token over Connect and gRPC together", async () => {
    const { accountId } = await served.customer();
    const { token = "" } = await served.saldo(["service-token", "create", "--all"]);
    const headers = { authorization: `Bearer ${token}`, "x-saldo-account": accountId };
    const browser = new Browser(served.server.httpUrl);
    expect(await statuses(LIMIT, () => browser.rpcStatus(GET_BALANCE, {}, headers))).toEqual(ALLOWED);
    const transport = createGrpcTransport({ baseUrl: `http://${served.server.grpcAddress}` });
    const refused = createClient(BillingService, transport).getBalance({}, { headers });
    const error = await refused.catch((thrown: unknown) => ConnectError.from(thrown));
    const [facts] = error instanceof ConnectError ? error.findDetails(ErrorFactsSchema) : [];
    expect(facts).toMatchObject({ code: "rate_limit" });
    expect(facts?.retryAfterSeconds).toBeGreaterThan(0);
  });
});

describe("a key without money", () => {
  const BODY = { model: "demo/small", messages: [{ role: "user", content: "hello" }], max_tokens: 8 };

  test("is decided again each time, so that a top-up works at once in the middle of a storm", async () => {
    const { accountId, key } = await served.customer({ credit: "0", rateLimit: 0 });
    const storm = await Promise.all(Array.from({ length: 40 }, () => served.chat(key, BODY)));
    expect(new Set(storm.map(({ status }) => status))).toEqual(new Set([402]));
    await served.saldo([
      "account",
      "credit",
      "--account",
      accountId,
      "--amount",
      "1000",
      "--reason",
      "test",
      "--reference",
      key.slice(-8),
    ]);
    expect((await served.chat(key, BODY)).status).toBe(200);
  });

  test("takes a slot with each 402, and a 429 moves nothing: the window is as the refusals for money left it", async () => {
    const { accountId, keyId, key } = await served.customer({ credit: "0", rateLimit: 3 });
    expect(await statuses(5, () => served.chat(key, BODY))).toEqual([402, 402, 402, 429, 429]);
    const window = async () =>
      (
        await served.database.pool.query("SELECT slots FROM api_key WHERE account_id = $1 AND id = $2", [
          accountId,
          keyId,
        ])
      ).rows[0];
    const before = await window();
    await Promise.all(Array.from({ length: 20 }, () => served.chat(key, BODY)));
    expect(await window()).toEqual(before);
    // Money does not open a full window.
    await served.saldo([
      "account",
      "credit",
      "--account",
      accountId,
      "--amount",
      "1000",
      "--reason",
      "test",
      "--reference",
      key.slice(-8),
    ]);
    expect((await served.chat(key, BODY)).status).toBe(429);
  });
});

describe("unknown credentials", () => {
  const WRONG = `gw_${"a".repeat(49)}`;
  let network = 0;
  /** A caller from a network of its own, as the proxy in front has seen it. */
  const newNetwork = () => `198.51.${(network += 1)}.7`;
  const ask = (path: string, address: string, authorization: string) =>
    fetch(guessed.httpUrl + path, { headers: { authorization, "x-forwarded-for": address } });
  const models = (address: string, key: string) => ask("/v1/models", address, `Bearer ${key}`);

  test("are refused by network after so many, and not for its neighbours", async () => {
    const address = newNetwork();
    const answers = await statuses(15, () => models(address, WRONG));
    expect(answers).toEqual([...Array.from({ length: 10 }, () => 401), ...Array.from({ length: 5 }, () => 429)]);
    // Another address of the network, another kind of credential, another path.
    const pair = await ask("/v1/merchant-balances", address.replace(/7$/, "99"), `Basic ${btoa("mk_a:sk_b")}`);
    expect(pair.status).toBe(429);
    expect(await pair.json()).toMatchObject({ meta: { error: "rate_limit" } });
    const plain = await models(address, WRONG);
    expect(await plain.json()).toMatchObject({ error: "rate_limit", retry_after: expect.any(Number) });
    expect((await models(newNetwork(), WRONG)).status).toBe(401);
  });

  test("refuse no caller whose key has worked here before", async () => {
    const address = newNetwork();
    const key = guessed.announced(/gw_\w{49}/);
    expect((await models(address, key)).status).toBe(200);
    const session = new Browser(guessed.httpUrl);
    await session.auth("/demo/sign-in", {});
    const forwarded = { "x-forwarded-for": address };
    expect((await session.rpcStatus(GET_BALANCE, {}, forwarded)).status).toBe(200);
    expect((await statuses(12, () => models(address, WRONG))).at(-1)).toBe(429);
    expect((await models(address, key)).status).toBe(200);
    expect((await session.rpcStatus(GET_BALANCE, {}, forwarded)).status).toBe(200);
    const chat = await fetch(`${guessed.httpUrl}/v1/chat/completions`, {
      method: "POST",
      headers: { authorization: `Bearer ${key}`, "content-type": "application/json", ...forwarded },
      body: JSON.stringify({ model: "demo/echo", messages: [{ role: "user", content: "hello" }] }),
    });
    expect(chat.status).toBe(200);
  });

  test("are counted on the chat path too, and cookies that name no session are not", async () => {
    const address = newNetwork();
    const chat = () =>
      fetch(`${guessed.httpUrl}/v1/chat/completions`, {
        method: "POST",
        headers: { authorization: `Bearer ${WRONG}`, "content-type": "application/json", "x-forwarded-for": address },
        body: "{}",
      });
    const browser = new Browser(guessed.httpUrl).with("theme=dark");
    const visit = () => browser.rpcStatus("accounts.v1.AccountsService/GetMe", {}, { "x-forwarded-for": address });
    expect(new Set(await statuses(20, visit))).toEqual(new Set([401]));
    const answers = await statuses(12, chat);
    expect(answers).toEqual([...Array.from({ length: 10 }, () => 401), 429, 429]);
  });

  test("leave lines in the security log with the first characters of the secret and no more", async () => {
    const lines = async () =>
      (await neighbours.database.pool.query("SELECT kind, outcome, network, subject FROM auth.security_event")).rows;
    await models("203.0.113.9", WRONG);
    await expect
      .poll(lines, { timeout: 10_000 })
      .toContainEqual({ kind: "key_authentication", outcome: "refused", network: "203.0.113.9", subject: "gw_aaaa" });
    expect(JSON.stringify(await lines())).not.toContain(WRONG.slice(0, 10));
    expect((await lines()).map(({ kind }) => String(kind))).toContain("rate_limit");
  });
});
