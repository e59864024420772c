// Callbacks of the service as it runs, to a receiver that checks them as the guide to transfers describes.

import { spawn, type ChildProcess } from "node:child_process";
import { readFileSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { once } from "node:events";
import { createClient } from "@connectrpc/connect";
import { createConnectTransport } from "@connectrpc/connect-node";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { AttemptProblem, DeliveryEnd } from "#gen/saldo/callbacks/v1/delivery_pb.ts";
import { CallbackState } from "#gen/saldo/merchant/v1/callback_pb.ts";
import { CallbackService } from "#gen/saldo/merchant/v1/callback_service_pb.ts";
import { issueServiceToken } from "../../src/identity/service-tokens.ts";
import { sendCallback } from "../../src/callbacks/send-callback.ts";
import { creditMerchant } from "../../src/merchant/merchants/merchants.ts";
import { CallbackReceiver, eventIdOf } from "../merchant/callback-receiver.ts";
import { newMerchant } from "../merchant/merchant-accounts.ts";
import { freePorts } from "../setup/free-ports.ts";
import { until } from "../setup/own-server.ts";
import { saldoJson } from "../setup/saldo-command.ts";
import { SaldoHere } from "../setup/saldo-here.ts";
import { SaldoProcess } from "../setup/saldo-process.ts";
import { createTestDatabase, type TestDatabase } from "../setup/test-database.ts";

describe("a served transfer", () => {
  let opened: TestDatabase;
  let receiver: CallbackReceiver;
  let settings: Record<string, string>;
  beforeAll(async () => {
    [opened, receiver] = await Promise.all([createTestDatabase(), CallbackReceiver.listen()]);
    settings = { DATABASE_URL: opened.url, SALDO_CALLBACKS_TO_LOOPBACK: "1", SALDO_SECRETS_KEY: "k".repeat(32) };
  });
  afterAll(async () => {
    await receiver.close();
    await opened.drop();
  });

  test("is sent as REST shows it, and again under the same id when its process died before it recorded that", async () => {
    const { database } = opened;
    const { merchantId, apiKey, secretKey } = await newMerchant(database);
    await creditMerchant(database, { merchantId, currencyCode: "TRX", amountText: "100" });
    const words = ["merchant", "callback", "--merchant", merchantId, "--url", receiver.url];
    const made = await saldoJson(words, settings);
    expect(Object.keys(made)).toEqual(["url", "token", "secret"]);

    const dying = await SaldoProcess.start({ ...settings, SALDO_FAILPOINT: "after-callback-sent" });
    const ordered = await fetch(`${dying.httpUrl}/sandbox/v1/merchant-transfers`, {
      method: "POST",
      headers: {
        authorization: `Basic ${Buffer.from(`${apiKey}:${secretKey}`).toString("base64")}`,
        "content-type": "application/json",
      },
      body: '{"externalId":"a-1","currencyCode":"TRX","amount":10,"address":"TJRabPrwbZy45sbavfcjinPJC18kjpRTv8"}',
    });
    const answer = await ordered.text();
    expect([ordered.status, answer]).toEqual([200, expect.stringContaining('"totalAmount":26.7')]);
    await dying.untilEnd();
    const sent = receiver.received[0]?.body ?? "";
    expect(withoutUpdate(sent)).toBe(withoutUpdate(answer));
    expect(receiver.received[0]?.headers["x-callback-token"]).toBe(made["token"]);

    // As when the minute has passed for which the dead process had it.
    await database.pool.query(`UPDATE callback_delivery SET next_attempt_at = clock_timestamp() WHERE is_leased`);
    const next = await SaldoHere.start(settings);
    const again = () => receiver.received.slice(1).find((each) => eventIdOf(each) === eventIdOf(receiver.received[0]));
    await expect.poll(again, { timeout: 60_000 }).toMatchObject({ body: sent });

    const { rows } = await database.pool.query<{ accountId: string }>(
      `SELECT account_id AS "accountId" FROM merchant WHERE id = $1`,
      [merchantId],
    );
    const accountId = rows[0]?.accountId ?? "";
    const { secret } = await issueServiceToken(database.pool, {
      accountId,
      name: "test",
      scopes: ["read", "merchants"],
    });
    const client = createClient(CallbackService, createConnectTransport({ baseUrl: next.httpUrl, httpVersion: "1.1" }));
    const headers = { authorization: `Bearer ${secret}` };
    const isTold = async (): Promise<unknown> =>
      (await client.listCallbackDeliveries({ merchantId }, { headers })).deliveries.at(-1);
    await expect.poll(isTold, { timeout: 60_000 }).toMatchObject({
      status: "PENDING",
      url: receiver.url,
      state: CallbackState.DELIVERED,
      attempts: [{ httpStatus: 200, problem: "" }],
    });
    const shown = await client.getCallbackSettings({ merchantId }, { headers });
    expect(shown.settings).toMatchObject({ url: receiver.url, secretLastFour: made["secret"]?.slice(-4) });

    // A later event that is accepted drops the earlier ones that wait, also one that is sent again: the transfer ends first.
    const states = async () =>
      (await client.listCallbackDeliveries({ merchantId }, { headers })).deliveries.map(({ status, state }) => [
        status,
        state,
      ]);
    await expect
      .poll(states, { timeout: 60_000 })
      .toEqual(["CONFIRMED", "SUBMITTED", "PENDING"].map((status) => [status, CallbackState.DELIVERED]));
    const many = receiver.received.length;
    const deliveryId = String(eventIdOf(receiver.received[0]));
    expect((await client.resendCallback({ merchantId, deliveryId }, { headers })).delivery).toMatchObject({
      state: CallbackState.PENDING,
    });
    await expect.poll(() => receiver.received.slice(many).map(eventIdOf), { timeout: 60_000 }).toContain(deliveryId);
    // A refused attempt and a delivery that was given up have their reasons as values.
    receiver.behave = (response) => void response.writeHead(503).end("busy");
    await client.resendCallback({ merchantId, deliveryId }, { headers });
    const resent = async () =>
      (await client.listCallbackDeliveries({ merchantId }, { headers })).deliveries.find(({ id }) => id === deliveryId);
    const reason = { httpStatus: 503, problemCode: AttemptProblem.NOT_ACCEPTED, problemDetail: '"busy"' };
    await expect.poll(async () => (await resent())?.attempts.at(-1), { timeout: 60_000 }).toMatchObject(reason);
    expect(await resent()).toMatchObject({ state: CallbackState.PENDING, end: DeliveryEnd.UNSPECIFIED });
    const off = await client.updateCallbackSettings({ merchantId, url: "", renewSecret: true }, { headers });
    expect([off.settings?.url, off.token, off.secret]).toEqual(["", "", expect.stringMatching(/^cs_/)]);
    expect(await resent()).toMatchObject({ state: CallbackState.FAILED, end: DeliveryEnd.TURNED_OFF });
    await expect(client.updateCallbackSettings({ merchantId, url: "https://10.0.0.1" }, { headers })).rejects.toThrow(
      /public internet/,
    );

    await next.stop();
    const log = JSON.stringify([...next.log, ...dying.log]);
    for (const each of [made["token"], made["secret"], off.secret]) expect(log).not.toContain(each);
  });
});

describe("the receiver of the guide to transfers", () => {
  let folder: string;
  let child: ChildProcess;
  let url: URL;
  const secret = "cs_of-the-test";
  beforeAll(async () => {
    const readme = readFileSync(new URL("../../.github/TRANSFERS.md", import.meta.url), "utf8");
    const snippet = [...readme.matchAll(/```ts\n(.*?)```/gs)].map(([, code = ""]) => code);
    const receiver = snippet.find((code) => code.includes("x-saldo-signature")) ?? "";
    folder = await mkdtemp(join(tmpdir(), "saldo-receiver-"));
    await writeFile(join(folder, "try.mts"), receiver);
    const [port = 0] = await freePorts(1);
    url = new URL(`http://127.0.0.1:${port}/`);
    child = spawn(process.execPath, [join(folder, "try.mts")], {
      env: { PATH: process.env["PATH"], PORT: String(port), CALLBACK_SECRET: secret },
      stdio: "ignore",
    });
    await until(() => isListening(port));
  });
  afterAll(async () => {
    child.kill();
    if (child.exitCode === null && child.signalCode === null) await once(child, "exit");
    await rm(folder, { recursive: true });
  });

  const call = async (with_: { secret?: string; nowMs?: number } = {}) => {
    const body = '{"data":{"status":"PENDING"},"meta":{"message":"OK","statusCode":200}}';
    const callback = {
      url,
      eventId: "e",
      token: "t",
      secret,
      body,
      nowMs: Date.now(),
      allowLoopback: true,
      takesAnySuccess: false,
    };
    return sendCallback({ ...callback, ...with_ }, {});
  };

  test("takes what we sign", async () => {
    expect(await call()).toEqual({ httpStatus: 200, problem: null, isAway: false });
  });

  test("refuses what another signs, and what was signed long ago", async () => {
    expect(await call({ secret: "cs_of-another" })).toMatchObject({ httpStatus: 401 });
    expect(await call({ nowMs: Date.now() - 600_000 })).toMatchObject({ httpStatus: 401 });
  });
});

/** The event of an order is written a moment after the order. */
function withoutUpdate(body: string): string {
  return body.replace(/"updatedAt":"[^"]+"/, "");
}

function isListening(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1");
    socket.once("connect", () => resolve((socket.destroy(), true)));
    socket.once("error", () => resolve(false));
  });
}
