// The webhook route of a provider, over HTTP: refused before anything is stored, stored without a credit, and the answer while
// the database is unavailable.

import { request } from "node:http";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openPaymentProviders } from "../../src/billing/payments/payment-providers.ts";
import { createTopUps } from "../../src/billing/top-ups/top-ups.ts";
import { openDatabase } from "../../src/database/database.ts";
import { systemClock } from "../../src/kernel/clock.ts";
import { type Running, startServers } from "../transport/fakes.ts";
import { PostgresProxy } from "../faults/postgres-proxy.ts";
import { SOUND } from "../money/money-setup.ts";
import { type TopUpProcess, TopUpSetup } from "./top-up-setup.ts";

const TOO_LARGE = 64 * 1024 + 1;

let setup: TopUpSetup;
let process: TopUpProcess;
let proxy: PostgresProxy;
let running: Running;
const toClose: (() => Promise<unknown>)[] = [];
beforeAll(async () => {
  setup = await TopUpSetup.create();
  process = await setup.process("midtrans");
  proxy = await PostgresProxy.before(setup.money.opened.url);
  // The served process reaches its database through the proxy, and has no sandbox.
  const database = await openDatabase({ url: proxy.urlFor(setup.money.opened.url), dataDir: "" });
  const { midtrans, xendit } = setup.fake;
  const providers = openPaymentProviders(
    { chosen: "midtrans", sandbox: false, midtrans, xendit: { ...xendit, callbackToken: "" } },
    { pool: database.pool, baseUrl: () => "" },
  );
  const topUps = createTopUps({
    database,
    providers,
    clock: systemClock,
    expiresAfterMs: 60_000,
    returnUrlOf: () => "https://saldo.example/",
    onFailure: () => {},
  });
  running = await startServers({ payments: { topUps, desk: null } });
  toClose.push(
    () => running.servers.close(0),
    () => providers.close(),
    () => database.close(),
    () => proxy.close(),
    () => setup.close(),
  );
});
afterAll(async () => {
  for (const close of toClose) await close();
});

const post = async (provider: string, { headers, body }: { headers: Record<string, string>; body: Buffer }) => {
  const response = await fetch(`${running.http}/webhooks/payments/${provider}`, { method: "POST", headers, body });
  return { status: response.status, answer: (await response.json()) as Record<string, unknown> };
};

async function paidOrder(): Promise<{ accountId: string; topUpId: string }> {
  const accountId = await setup.money.account(0n);
  const { topUpId } = await setup.open(process, accountId);
  setup.fake.set(topUpId, { status: "paid" });
  return { accountId, topUpId };
}

describe("a notification", () => {
  it("is answered 200 when it is durable, as often as it comes", async () => {
    const { topUpId } = await paidOrder();
    for (let copy = 0; copy < 3; copy += 1) {
      expect((await post("midtrans", setup.fake.midtransNotification(topUpId))).status).toBe(200);
      expect(await setup.findingsOf(topUpId)).toEqual(["as_ordered"]);
    }
    expect(await setup.creditsOf(topUpId)).toBe(0);
    await process.topUps.checkDue();
    expect(await setup.creditsOf(topUpId)).toBe(1);
  });

  it.each([
    ["missing", undefined],
    ["empty", ""],
    ["short", "abc"],
    ["wrong", "0".repeat(128)],
    ["no text", 17],
  ])("whose signature is %s is refused, and nothing is kept", async (_how, signature) => {
    const { topUpId } = await paidOrder();
    const sent = JSON.parse(String(setup.fake.midtransNotification(topUpId).body)) as Record<string, unknown>;
    const body = Buffer.from(JSON.stringify({ ...sent, signature_key: signature }));
    const { status, answer } = await post("midtrans", { headers: { "content-type": "application/json" }, body });
    expect({ status, code: answer["error"] }).toEqual({ status: 403, code: "permission_denied" });
    expect(await setup.findingsOf(topUpId)).toEqual([]);
    expect(await setup.isDue(topUpId)).toBe(false);
  });

  it.each([
    ["of a provider without a secret", "xendit"],
    ["of a provider that is not configured", "sandbox"],
    ["of a provider there is none of", "paypal"],
    ["of a provider by a name of every object", "constructor"],
  ])("%s has no path", async (_whose, provider) => {
    const { topUpId } = await paidOrder();
    expect((await post(provider, setup.fake.xenditNotification(topUpId))).status).toBe(404);
    expect(await setup.findingsOf(topUpId)).toEqual([]);
  });

  it("with a character that no table can hold is refused, and nothing is kept", async () => {
    const { topUpId } = await paidOrder();
    const sent = setup.fake.midtransNotification(topUpId);
    for (const nul of ["\\u0000", "\0"]) {
      const body = Buffer.from(sent.body.toString().replace(topUpId, `${topUpId}${nul}`));
      const { status, answer } = await post("midtrans", { ...sent, body });
      expect([status, answer["error"]]).toEqual([400, "validation_error"]);
    }
    expect(await setup.findingsOf(topUpId)).toEqual([]);
  });

  it("of more than 64 KiB is refused, also when its length is not sent", async () => {
    const { topUpId } = await paidOrder();
    const sent = setup.fake.midtransNotification(topUpId);
    const padding = Buffer.alloc(TOO_LARGE - sent.body.length, " ");
    const body = Buffer.concat([sent.body, padding]);
    const { status, answer } = await post("midtrans", { ...sent, body });
    expect({ status, code: answer["error"] }).toEqual({ status: 413, code: "payload_too_large" });
    expect(String(answer["message"])).toContain("65536");
    expect(await sendInPieces(`${running.http}/webhooks/payments/midtrans`, body)).toBe(413);
    expect(await setup.findingsOf(topUpId)).toEqual([]);
    // One byte less is read, and goes to the provider's adapter.
    const exact = Buffer.concat([sent.body, padding.subarray(1)]);
    expect((await post("midtrans", { ...sent, body: exact })).status).toBe(200);
  });

  it("of another amount or an unknown order is kept and credits no account", async () => {
    const { accountId, topUpId } = await paidOrder();
    setup.fake.set(topUpId, { gross: 1 });
    expect((await post("midtrans", setup.fake.midtransNotification(topUpId))).status).toBe(200);
    setup.fake.set(topUpId, { toldOrderId: "not-ours" });
    expect((await post("midtrans", setup.fake.midtransNotification(topUpId))).status).toBe(200);
    expect(await setup.findingsOf(topUpId)).toEqual(["other_amount"]);
    setup.fake.set(topUpId, { toldOrderId: topUpId });
    await process.topUps.checkDue();
    expect(await setup.standing(accountId)).toEqual({ available: 0, owed: 0 });
    expect((await process.topUps.get({ accountId, topUpId })).state).toBe("review");
  });

  it("is answered 503 while the database is away, and 200 when it is back", async () => {
    const { topUpId } = await paidOrder();
    const sent = setup.fake.midtransNotification(topUpId);
    proxy.cutAll({ refuse: true });
    const { status, answer } = await post("midtrans", sent);
    expect({ status, code: answer["error"] }).toEqual({ status: 503, code: "upstream_busy" });
    proxy.isAway = false;
    await expect.poll(async () => (await post("midtrans", sent)).status, { timeout: 10_000 }).toBe(200);
    expect(await setup.findingsOf(topUpId)).toEqual(["as_ordered"]);
  });

  it("is taken with any content type and with any other verb refused", async () => {
    const { topUpId } = await paidOrder();
    const { body } = setup.fake.midtransNotification(topUpId);
    expect((await post("midtrans", { headers: { "content-type": "text/plain" }, body })).status).toBe(200);
    const got = await fetch(`${running.http}/webhooks/payments/midtrans`);
    expect({ status: got.status, allow: got.headers.get("allow") }).toEqual({ status: 405, allow: "POST" });
  });

  it("copied with edited words without end is kept as few events", async () => {
    const { topUpId } = await paidOrder();
    for (let copy = 0; copy < 20; copy += 1) {
      const edited = { transaction_status: `edited-${copy}`, fraud_status: `${copy}`, transaction_id: `${copy}` };
      expect((await post("midtrans", setup.fake.midtransNotification(topUpId, edited))).status).toBe(200);
    }
    expect(await setup.findingsOf(topUpId)).toEqual(["as_ordered"]);
    await process.topUps.checkDue();
    expect(await setup.creditsOf(topUpId)).toBe(1);
  });

  it("leaves the books in order, whatever came before", async () => {
    expect(await setup.money.audit()).toEqual(SOUND);
  });
});

/** Posts a body in pieces, without its length. Returns the status. */
function sendInPieces(url: string, body: Buffer): Promise<number> {
  return new Promise((resolve, reject) => {
    const sending = request(url, { method: "POST", headers: { "content-type": "application/json" } }, (response) => {
      response.resume();
      resolve(response.statusCode ?? 0);
    });
    // The server may close the connection without reading the whole body.
    sending.on("error", (error: NodeJS.ErrnoException) => (error.code === "EPIPE" ? undefined : reject(error)));
    for (let at = 0; at < body.length; at += 8_192) sending.write(body.subarray(at, at + 8_192));
    sending.end();
  });
}
