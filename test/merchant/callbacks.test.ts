import { createHmac } from "node:crypto";
import { describe, expect, test } from "vitest";
import {
  getCallbackSettings,
  listDeliveries,
  resendCallback,
  updateCallbackSettings,
} from "../../src/merchant/callbacks/callback-settings.ts";
import { NotFound, ValidationError } from "../../src/kernel/errors.ts";
import { uuidv7 } from "../../src/kernel/ids.ts";
import { readEvents } from "../../src/merchant/transfers/transfer-store.ts";
import { CallbackSetup } from "./callback-setup.ts";
import { merchantWith, newMerchant } from "./merchant-accounts.ts";

const setup = CallbackSetup.forFile();
const settingsOf = (change: { merchantId: string; url: string; token?: string; renewSecret?: boolean }) =>
  updateCallbackSettings(
    { database: setup.database, allowLoopback: false },
    { token: "", renewSecret: false, ...change },
  );

describe("every status of a transfer", () => {
  test("is sent once, in order, signed, with the transfer as it was then", async () => {
    const receiver = await setup.receiver();
    const deliverer = setup.deliverer();
    const merchant = await setup.merchant(receiver.url);
    const transferId = await setup.transfer(merchant);
    await setup.move(transferId, "SUBMITTED");
    await setup.move(transferId, "CONFIRMED");
    for (let round = 0; round < 4; round += 1) await setup.deliver(deliverer);

    expect(receiver.received.map(({ body }) => JSON.parse(body) as unknown)).toEqual([
      { data: { id: transferId, status: "PENDING", events: 1 } },
      { data: { id: transferId, status: "SUBMITTED", events: 2 } },
      { data: { id: transferId, status: "CONFIRMED", events: 3 } },
    ]);
    const events = await readEvents(setup.database.pool, transferId);
    expect(receiver.received.map(({ headers }) => headers["x-saldo-event-id"])).toEqual(
      events.map(({ eventId }) => eventId),
    );
    for (const { headers, body } of receiver.received) {
      expect(headers).toMatchObject({ "x-callback-token": merchant.token, "content-type": "application/json" });
      const [, time = "", signature] = /^t=(\d+),v1=([0-9a-f]{64})$/.exec(String(headers["x-saldo-signature"])) ?? [];
      expect(signature).toBe(createHmac("sha256", merchant.secret).update(`${time}.${body}`).digest("hex"));
      expect(Math.abs(Date.now() / 1_000 - Number(time))).toBeLessThan(60);
    }
    const deliveries = await setup.deliveries(merchant.merchantId);
    expect(deliveries.map(({ state, about, attempts }) => [state, about, attempts.length])).toEqual([
      ["delivered", "PENDING", 1],
      ["delivered", "SUBMITTED", 1],
      ["delivered", "CONFIRMED", 1],
    ]);
    expect(deliveries[0]?.attempts[0]).toMatchObject({ url: receiver.url, httpStatus: 200, problem: null });
  });

  test("is not sent to a merchant without callbacks, nor after callbacks are turned off", async () => {
    const silent = await merchantWith(setup.database, { TRX: "100" });
    await setup.transfer(silent);
    expect(await setup.deliveries(silent.merchantId)).toEqual([]);

    const receiver = await setup.receiver();
    const merchant = await setup.merchant(receiver.url);
    await setup.transfer(merchant);
    await settingsOf({ merchantId: merchant.merchantId, url: "" });
    await setup.transfer(merchant);
    await setup.deliver(setup.deliverer());
    expect(receiver.received).toEqual([]);
    expect(await setup.deliveries(merchant.merchantId)).toMatchObject([
      { state: "failed", note: "Callbacks were turned off.", attempts: [] },
    ]);
  });
});

describe("settings", () => {
  test("show the token and the secret once, and only their ends afterwards", async () => {
    const { merchantId } = await newMerchant(setup.database);
    expect(await getCallbackSettings(setup.database, merchantId)).toMatchObject({ url: "", secretLastFour: "" });
    const first = await settingsOf({ merchantId, url: "https://shop.example.com/hooks" });
    expect(first.token).toMatch(/^ct_[0-9A-Za-z]{49}$/);
    expect(first.secret).toMatch(/^cs_[0-9A-Za-z]{49}$/);
    const shown = await getCallbackSettings(setup.database, merchantId);
    expect(shown).toEqual(first.settings);
    expect(shown).toMatchObject({
      url: "https://shop.example.com/hooks",
      tokenLastFour: first.token.slice(-4),
      secretLastFour: first.secret.slice(-4),
    });

    const moved = await settingsOf({ merchantId, url: "https://shop.example.com/other" });
    expect([moved.token, moved.secret, moved.settings.secretLastFour]).toEqual(["", "", first.secret.slice(-4)]);
    const renewed = await settingsOf({
      merchantId,
      url: "https://shop.example.com/",
      token: "my-own-token",
      renewSecret: true,
    });
    expect([renewed.token, renewed.settings.tokenLastFour]).toEqual(["", "oken"]);
    expect(renewed.secret).not.toBe(first.secret);
    expect(renewed.secret).toMatch(/^cs_/);
  });

  test("are refused for a forbidden address, a token that is no header value, and an unknown merchant", async () => {
    const { merchantId } = await newMerchant(setup.database, "production");
    for (const change of [
      { url: "http://shop.example.com" },
      { url: "https://127.0.0.1/" },
      { url: "https://shop.example.com", token: "short" },
      { url: "https://shop.example.com", token: "line\nbreak-in-it" },
      { url: "https://shop.example.com", token: "x".repeat(201) },
    ]) {
      await expect(settingsOf({ merchantId, ...change })).rejects.toThrow(ValidationError);
    }
    expect(await getCallbackSettings(setup.database, merchantId)).toMatchObject({ url: "", tokenLastFour: "" });
    await expect(settingsOf({ merchantId: uuidv7(), url: "" })).rejects.toThrow(NotFound);
    await expect(getCallbackSettings(setup.database, uuidv7())).rejects.toThrow(NotFound);
  });
});

describe("a merchant", () => {
  test("can have an event delivered again, under the same id", async () => {
    const receiver = await setup.receiver();
    const deliverer = setup.deliverer();
    const merchant = await setup.merchant(receiver.url);
    await setup.transfer(merchant);
    await setup.deliver(deliverer);
    const [delivery] = await setup.deliveries(merchant.merchantId);
    const asked = { merchantId: merchant.merchantId, eventId: delivery?.eventId ?? "" };
    expect(await resendCallback(setup.database, asked)).toMatchObject({ state: "pending" });
    await setup.deliver(deliverer);
    expect(receiver.received.map(({ headers }) => headers["x-saldo-event-id"])).toEqual([asked.eventId, asked.eventId]);
    expect((await setup.deliveries(merchant.merchantId))[0]).toMatchObject({ state: "delivered", attempts: [{}, {}] });

    const other = await setup.merchant(receiver.url);
    await expect(resendCallback(setup.database, { ...asked, merchantId: other.merchantId })).rejects.toThrow(NotFound);
    await settingsOf({ merchantId: merchant.merchantId, url: "" });
    await expect(resendCallback(setup.database, asked)).rejects.toMatchObject({ details: [{ field: "deliveryId" }] });
  });

  test("reads its deliveries page by page, newest first", async () => {
    const merchant = await setup.merchant((await setup.receiver()).url);
    const transfers = [await setup.transfer(merchant), await setup.transfer(merchant), await setup.transfer(merchant)];
    const page = { merchantId: merchant.merchantId, transferId: "", pageSize: 2, pageToken: "" };
    const first = await listDeliveries(setup.database, page);
    const second = await listDeliveries(setup.database, { ...page, pageToken: first.nextPageToken });
    expect([...first.items, ...second.items].map(({ subjectId }) => subjectId)).toEqual(transfers.toReversed());
    expect(second.nextPageToken).toBe("");
    const ofOne = await listDeliveries(setup.database, { ...page, transferId: transfers[1] ?? "" });
    expect(ofOne.items.map(({ subjectId }) => subjectId)).toEqual([transfers[1]]);
    await expect(listDeliveries(setup.database, { ...page, pageToken: "x" })).rejects.toThrow(ValidationError);
  });
});
