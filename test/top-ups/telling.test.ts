// Notifications that an answer would not contain, that cannot be kept, or that are one too many.

import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { findTopUps } from "../../src/billing/top-ups/find-top-ups.ts";
import { troubleOf } from "../../src/billing/top-ups/disputes.ts";
import { SOUND } from "../money/world.ts";
import { MICRO, RUPIAH, type TopUpProcess, TopUpWorld } from "./world.ts";

let world: TopUpWorld;
beforeAll(async () => {
  world = await TopUpWorld.create();
});
afterAll(async () => {
  expect(await world.money.audit()).toEqual(SOUND);
  await world.close();
});

describe("a dispute at Xendit", () => {
  let process: TopUpProcess;
  beforeAll(async () => {
    process = await world.process("xendit");
  });
  const tell = (topUpId: string, status: Parameters<typeof world.fake.xenditDisputeNotification>[1]) =>
    process.topUps.takeNotification("xendit", world.fake.xenditDisputeNotification(topUpId, status));

  it("is shown to the operator until it is won or all was given back, and takes nothing by itself", async () => {
    const accountId = await world.money.account(0n);
    const { topUpId } = await world.paid(process, accountId);
    const problem = async () => troubleOf(await process.topUps.get({ accountId, topUpId }));
    await tell(topUpId, "ACTION_REQUIRED");
    await process.topUps.checkDue();
    expect(await problem()).toMatch(/disputes.*asks for an answer/);
    await tell(topUpId, "WON");
    expect(await problem()).toBeNull();
    await tell(topUpId, "LOST");
    world.fake.set(topUpId, { status: "partially_refunded", refunded: 5_000 });
    await process.topUps.verifyNow(topUpId);
    expect(await problem()).toMatch(/disputes.*taken it back/);
    expect(await world.standing(accountId)).toEqual({ available: 20_000, owed: 0 });
    world.fake.set(topUpId, { status: "refunded", refunded: RUPIAH });
    await process.topUps.verifyNow(topUpId);
    expect(await problem()).toBeNull();
    expect(await world.standing(accountId)).toEqual({ available: 0, owed: 0 });
    // What was reported until then is settled, whatever becomes of another one.
    await tell(topUpId, "UNDER_REVIEW");
    expect(await problem()).toBeNull();
    const tellOther = (status: Parameters<typeof tell>[1]) => {
      const other = world.fake.xenditDisputeNotification(topUpId, status);
      const body = Buffer.from(String(other.body).replace("mi-dspt-", "mi-dspt-2-"));
      return process.topUps.takeNotification("xendit", { ...other, body });
    };
    await tellOther("ACTION_REQUIRED");
    expect(await problem()).toMatch(/disputes.*asks for an answer/);
    await tellOther("WON");
    expect(await problem()).toBeNull();
    // The bank may take it back beside that.
    await tellOther("LOST");
    await process.topUps.verifyNow(topUpId);
    expect(await problem()).toMatch(/disputes.*taken it back/);
  });

  it("is over once it has ended, whatever of its beginning is reported later", async () => {
    const accountId = await world.money.account(0n);
    const { topUpId } = await world.paid(process, accountId);
    const dispute = async () => (await process.topUps.get({ accountId, topUpId })).dispute;
    await tell(topUpId, "WON");
    await tell(topUpId, "UNDER_REVIEW");
    expect(await dispute()).toBeNull();
    await tell(topUpId, "LOST");
    await tell(topUpId, "ACTION_REQUIRED");
    expect(await dispute()).toBe("lost");
    // Another dispute of the same payment is another.
    const { headers, body } = world.fake.xenditDisputeNotification(topUpId, "UNDER_REVIEW");
    const other = Buffer.from(String(body).replace("mi-dspt-", "mi-dspt-2-"));
    await process.topUps.takeNotification("xendit", { headers, body: other });
    expect(await dispute()).toBe("open");
  });

  it("stays seen beside what else is wrong, in whichever order they come", async () => {
    const accountId = await world.money.account(0n);
    const { topUpId } = await world.paid(process, accountId);
    const trouble = async () => troubleOf(await process.topUps.get({ accountId, topUpId }));
    await tell(topUpId, "ACTION_REQUIRED");
    world.fake.set(topUpId, { status: "expired" });
    await process.topUps.verifyNow(topUpId);
    expect(await trouble()).toMatch(/reports expired for a payment.*disputes.*asks for an answer/);
    await tell(topUpId, "LOST");
    expect(await trouble()).toMatch(/reports expired for a payment.*disputes.*taken it back/);
    world.fake.set(topUpId, { status: "paid" });
    await process.topUps.verifyNow(topUpId);
    expect(await trouble()).toMatch(/disputes.*taken it back/);
    const needsAttention = { accountId, provider: null, state: null, needsAttention: true };
    const found = await findTopUps(world.money.pool, { filter: needsAttention, beforeId: null, limit: 10 });
    expect(found).toMatchObject([{ topUpId, dispute: "lost" }]);
  });

  it("of an order we do not know is kept as such", async () => {
    const { topUpId } = await world.open(process, await world.money.account(0n));
    const { headers, body } = world.fake.xenditDisputeNotification(topUpId, "LOST");
    const told = Buffer.from(String(body).replaceAll(topUpId, "another-shop-78"));
    await process.topUps.takeNotification("xendit", { headers, body: told });
    expect(await world.findingsOf("another-shop-78")).toEqual(["unknown_order"]);
  });

  it("does not hide the refunds behind the first page of them", async () => {
    const accountId = await world.money.account(0n);
    const { topUpId } = await world.paid(process, accountId);
    world.fake.set(topUpId, { status: "partially_refunded", refunded: 15_000, refunds: 250 });
    expect((await process.topUps.verifyNow(topUpId)).givenBack).toBe(15_000n * MICRO);
  });
});

describe("a notification of Midtrans", () => {
  let process: TopUpProcess;
  beforeAll(async () => {
    process = await world.process("midtrans");
  });

  it("that holds U+0000 is refused as such, though it is theirs", async () => {
    const { topUpId } = await world.open(process, await world.money.account(0n));
    world.fake.set(topUpId, { status: "paid", toldOrderId: `${topUpId}\0` });
    await expect(world.notify(process, topUpId)).rejects.toMatchObject({ code: "validation_error" });
    world.fake.set(topUpId, { toldOrderId: topUpId });
    await expect(world.notify(process, topUpId, { transaction_id: "t\0" })).rejects.toMatchObject({
      code: "validation_error",
    });
    expect(await world.findingsOf(topUpId)).toEqual([]);
  });

  it("above the most that are kept of an order still has the provider asked", async () => {
    const { topUpId } = await world.open(process, await world.money.account(0n));
    await world.money.pool.query(
      `INSERT INTO payment_event (id, provider, event_key, order_id, top_up_id, status, amount, finding)
       SELECT gen_random_uuid(), 'midtrans', $1 || n, $1, $1::uuid, 'pending', '1', 'other_amount' FROM generate_series(1, 200) n`,
      [topUpId],
    );
    world.fake.set(topUpId, { status: "paid" });
    expect(await world.isDue(topUpId)).toBe(false);
    await world.notify(process, topUpId);
    expect(await world.isDue(topUpId)).toBe(true);
    expect(await world.findingsOf(topUpId)).toHaveLength(200);
    await process.topUps.checkDue();
    expect(await world.creditsOf(topUpId)).toBe(1);
  });
});
