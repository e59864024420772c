// The order in which a transfer's statuses are sent, and when that ends.

import { describe, expect, test } from "vitest";
import { sayOk } from "./callback-receiver.ts";
import { CallbackSetup } from "./callback-setup.ts";

const setup = CallbackSetup.forFile();
const DAY = "interval '1 day'";

describe("the order of a transfer's statuses", () => {
  test("is kept while the receiver is away", async () => {
    const receiver = await setup.receiver();
    const deliverer = setup.deliverer();
    const merchant = await setup.merchant(receiver.url);
    const transferId = await setup.transfer(merchant);
    receiver.behave = (response) => void response.writeHead(503).end();
    await setup.deliver(deliverer);
    await setup.move(transferId, "SUBMITTED");
    await setup.move(transferId, "CONFIRMED");
    await setup.deliverAgain(deliverer, merchant.merchantId, 6);
    expect(new Set(receiver.statuses())).toEqual(new Set(["PENDING"]));
    receiver.behave = sayOk;
    receiver.received.length = 0;
    await setup.makeDue(merchant.merchantId);
    for (let round = 0; round < 3; round += 1) await setup.deliver(deliverer);
    expect(receiver.statuses()).toEqual(["PENDING", "SUBMITTED", "CONFIRMED"]);
  });

  test("is not held up by a refused status, which is not sent after a later one", async () => {
    const receiver = await setup.receiver();
    const deliverer = setup.deliverer();
    const merchant = await setup.merchant(receiver.url);
    const transferId = await setup.transfer(merchant);
    receiver.behave = (response, received) =>
      received.body.includes("PENDING") ? void response.writeHead(400).end() : sayOk(response, received);
    await setup.move(transferId, "SUBMITTED");
    await setup.deliverAgain(deliverer, merchant.merchantId, 4);
    expect(receiver.statuses()).toEqual(Array(4).fill("PENDING"));
    await setup.deliverAgain(deliverer, merchant.merchantId, 1);
    // The fifth answer lets later ones pass, and makes the later one due.
    await setup.deliver(deliverer);
    expect(receiver.statuses().slice(4)).toEqual(["PENDING", "SUBMITTED"]);
    receiver.behave = sayOk;
    await setup.deliverAgain(deliverer, merchant.merchantId, 2);
    expect(receiver.statuses()).toHaveLength(6);
    expect(await setup.deliveries(merchant.merchantId)).toMatchObject([
      { state: "failed", note: "A later status was delivered." },
      { state: "delivered" },
    ]);
  });

  test("ends after three days of attempts", async () => {
    const receiver = await setup.receiver();
    const deliverer = setup.deliverer();
    const merchant = await setup.merchant(receiver.url);
    const transferId = await setup.transfer(merchant);
    await setup.move(transferId, "SUBMITTED");
    receiver.behave = (response) => void response.writeHead(502).end();
    await setup.database.pool.query(
      `UPDATE callback_delivery SET give_up_at = clock_timestamp() + interval '1 second'
       WHERE transfer_id = $1 AND event_at = (SELECT min(event_at) FROM callback_delivery WHERE transfer_id = $1)`,
      [transferId],
    );
    await setup.deliver(deliverer);
    expect(await setup.deliveries(merchant.merchantId)).toMatchObject([
      { state: "failed", note: "Given up after 3 days.", nextAttemptAt: null },
      { state: "pending", attempts: [] },
    ]);
    receiver.behave = sayOk;
    await setup.deliver(deliverer);
    expect(receiver.statuses()).toEqual(["PENDING", "SUBMITTED"]);
  });
});

describe("a merchant whose receiver never accepts a callback", () => {
  test("is not called any more after seven days, until it sets its address again", async () => {
    const receiver = await setup.receiver();
    const deliverer = setup.deliverer();
    const merchant = await setup.merchant(receiver.url);
    receiver.behave = (response) => void response.writeHead(500).end();
    await setup.transfer(merchant);
    await setup.deliver(deliverer);
    const failingSince = async (days: number) =>
      setup.database.pool.query(
        `UPDATE callback_settings SET failing_since = clock_timestamp() - $2 * ${DAY} WHERE merchant_id = $1`,
        [merchant.merchantId, days],
      );
    await failingSince(6.9);
    await setup.deliverAgain(deliverer, merchant.merchantId, 1);
    expect(setup.stopped).not.toContain(merchant.merchantId);
    await failingSince(7.1);
    await setup.deliverAgain(deliverer, merchant.merchantId, 1);
    expect(setup.stopped, "its callback is of this hour").not.toContain(merchant.merchantId);
    await setup.database.pool.query(
      `UPDATE callback_delivery SET event_at = event_at - 1.1 * ${DAY} WHERE merchant_id = $1`,
      [merchant.merchantId],
    );
    await setup.deliverAgain(deliverer, merchant.merchantId, 1);
    expect(setup.stopped).toContain(merchant.merchantId);
    await setup.transfer(merchant);
    const note = "Nothing was delivered for 7 days, so callbacks were stopped.";
    expect(await setup.deliveries(merchant.merchantId)).toMatchObject([{ state: "failed", note }]);

    receiver.behave = sayOk;
    await setup.setUrl(merchant.merchantId, receiver.url);
    await setup.transfer(merchant);
    await setup.deliver(deliverer);
    expect((await setup.deliveries(merchant.merchantId)).map(({ state }) => state)).toEqual(["failed", "delivered"]);
  });

  test("has its days counted again after one success", async () => {
    const receiver = await setup.receiver();
    const deliverer = setup.deliverer();
    const merchant = await setup.merchant(receiver.url);
    await setup.transfer(merchant);
    await setup.database.pool.query(
      `UPDATE callback_settings SET failing_since = clock_timestamp() - 8 * ${DAY} WHERE merchant_id = $1`,
      [merchant.merchantId],
    );
    await setup.deliver(deliverer);
    receiver.behave = (response) => void response.writeHead(500).end();
    await setup.transfer(merchant);
    await setup.deliver(deliverer);
    expect(setup.stopped).not.toContain(merchant.merchantId);
    expect((await setup.deliveries(merchant.merchantId)).map(({ state }) => state)).toEqual(["delivered", "pending"]);
  });
});
