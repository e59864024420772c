// Notifications with facts that no answer contains, that cannot be stored, or that are one too many.

import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { findTopUps } from "../../src/billing/top-ups/find-top-ups.ts";
import { troubleOf } from "../../src/billing/top-ups/disputes.ts";
import { SOUND } from "../money/money-setup.ts";
import { MICRO, RUPIAH, type TopUpProcess, TopUpSetup } from "./top-up-setup.ts";

let setup: TopUpSetup;
beforeAll(async () => {
  setup = await TopUpSetup.create();
});
afterAll(async () => {
  expect(await setup.money.audit()).toEqual(SOUND);
  await setup.close();
});

describe("a dispute at Xendit", () => {
  let process: TopUpProcess;
  beforeAll(async () => {
    process = await setup.process("xendit");
  });
  const notify = (topUpId: string, status: Parameters<typeof setup.fake.xenditDisputeNotification>[1]) =>
    process.topUps.takeNotification("xendit", setup.fake.xenditDisputeNotification(topUpId, status));

  it("is shown to the operator until it is won or all was given back, and takes nothing by itself", async () => {
    const accountId = await setup.money.account(0n);
    const { topUpId } = await setup.paid(process, accountId);
    const problem = async () => troubleOf(await process.topUps.get({ accountId, topUpId }));
    await notify(topUpId, "ACTION_REQUIRED");
    await process.topUps.checkDue();
    expect(await problem()).toMatch(/disputes.*asks for an answer/);
    await notify(topUpId, "WON");
    expect(await problem()).toBeNull();
    await notify(topUpId, "LOST");
    setup.fake.set(topUpId, { status: "partially_refunded", refunded: 5_000 });
    await process.topUps.verifyNow(topUpId);
    expect(await problem()).toMatch(/disputes.*taken it back/);
    expect(await setup.standing(accountId)).toEqual({ available: 20_000, owed: 0 });
    setup.fake.set(topUpId, { status: "refunded", refunded: RUPIAH });
    await process.topUps.verifyNow(topUpId);
    expect(await problem()).toBeNull();
    expect(await setup.standing(accountId)).toEqual({ available: 0, owed: 0 });
    // The earlier reports are settled, whatever happens to another one.
    await notify(topUpId, "UNDER_REVIEW");
    expect(await problem()).toBeNull();
    const notifyOther = (status: Parameters<typeof notify>[1]) => {
      const other = setup.fake.xenditDisputeNotification(topUpId, status);
      const body = Buffer.from(String(other.body).replace("mi-dspt-", "mi-dspt-2-"));
      return process.topUps.takeNotification("xendit", { ...other, body });
    };
    await notifyOther("ACTION_REQUIRED");
    expect(await problem()).toMatch(/disputes.*asks for an answer/);
    await notifyOther("WON");
    expect(await problem()).toBeNull();
    // The bank may take it back in addition.
    await notifyOther("LOST");
    await process.topUps.verifyNow(topUpId);
    expect(await problem()).toMatch(/disputes.*taken it back/);
  });

  it("is over once it has ended, whatever of its beginning is reported later", async () => {
    const accountId = await setup.money.account(0n);
    const { topUpId } = await setup.paid(process, accountId);
    const dispute = async () => (await process.topUps.get({ accountId, topUpId })).dispute;
    await notify(topUpId, "WON");
    await notify(topUpId, "UNDER_REVIEW");
    expect(await dispute()).toBeNull();
    await notify(topUpId, "LOST");
    await notify(topUpId, "ACTION_REQUIRED");
    expect(await dispute()).toBe("lost");
    // Another dispute of the same payment is separate.
    const { headers, body } = setup.fake.xenditDisputeNotification(topUpId, "UNDER_REVIEW");
    const other = Buffer.from(String(body).replace("mi-dspt-", "mi-dspt-2-"));
    await process.topUps.takeNotification("xendit", { headers, body: other });
    expect(await dispute()).toBe("open");
  });

  it("stays seen beside what else is wrong, in whichever order they come", async () => {
    const accountId = await setup.money.account(0n);
    const { topUpId } = await setup.paid(process, accountId);
    const trouble = async () => troubleOf(await process.topUps.get({ accountId, topUpId }));
    await notify(topUpId, "ACTION_REQUIRED");
    setup.fake.set(topUpId, { status: "expired" });
    await process.topUps.verifyNow(topUpId);
    expect(await trouble()).toMatch(/reports expired for a payment.*disputes.*asks for an answer/);
    await notify(topUpId, "LOST");
    expect(await trouble()).toMatch(/reports expired for a payment.*disputes.*taken it back/);
    setup.fake.set(topUpId, { status: "paid" });
    await process.topUps.verifyNow(topUpId);
    expect(await trouble()).toMatch(/disputes.*taken it back/);
    const needsAttention = { accountId, provider: null, state: null, needsAttention: true };
    const found = await findTopUps(setup.money.pool, { filter: needsAttention, beforeId: null, limit: 10 });
    expect(found).toMatchObject([{ topUpId, dispute: "lost" }]);
  });

  it("of an order we do not know is kept as such", async () => {
    const { topUpId } = await setup.open(process, await setup.money.account(0n));
    const { headers, body } = setup.fake.xenditDisputeNotification(topUpId, "LOST");
    const sent = Buffer.from(String(body).replaceAll(topUpId, "another-shop-78"));
    await process.topUps.takeNotification("xendit", { headers, body: sent });
    expect(await setup.findingsOf("another-shop-78")).toEqual(["unknown_order"]);
  });

  it("does not hide the refunds behind the first page of them", async () => {
    const accountId = await setup.money.account(0n);
    const { topUpId } = await setup.paid(process, accountId);
    setup.fake.set(topUpId, { status: "partially_refunded", refunded: 15_000, refunds: 250 });
    expect((await process.topUps.verifyNow(topUpId)).givenBack).toBe(15_000n * MICRO);
  });
});

describe("a notification of Midtrans", () => {
  let process: TopUpProcess;
  beforeAll(async () => {
    process = await setup.process("midtrans");
  });

  it("that holds U+0000 is refused as such, though it is theirs", async () => {
    const { topUpId } = await setup.open(process, await setup.money.account(0n));
    setup.fake.set(topUpId, { status: "paid", toldOrderId: `${topUpId}\0` });
    await expect(setup.notify(process, topUpId)).rejects.toMatchObject({ code: "validation_error" });
    setup.fake.set(topUpId, { toldOrderId: topUpId });
    await expect(setup.notify(process, topUpId, { transaction_id: "t\0" })).rejects.toMatchObject({
      code: "validation_error",
    });
    expect(await setup.findingsOf(topUpId)).toEqual([]);
  });

  it("above the most that are kept of an order still has the provider asked", async () => {
    const { topUpId } = await setup.open(process, await setup.money.account(0n));
    await setup.money.pool.query(
      `INSERT INTO payment_event (id, provider, event_key, order_id, top_up_id, status, amount, finding)
       SELECT gen_random_uuid(), 'midtrans', $1 || n, $1, $1::uuid, 'pending', '1', 'other_amount' FROM generate_series(1, 200) n`,
      [topUpId],
    );
    setup.fake.set(topUpId, { status: "paid" });
    expect(await setup.isDue(topUpId)).toBe(false);
    await setup.notify(process, topUpId);
    expect(await setup.isDue(topUpId)).toBe(true);
    expect(await setup.findingsOf(topUpId)).toHaveLength(200);
    await process.topUps.checkDue();
    expect(await setup.creditsOf(topUpId)).toBe(1);
  });
});
