// A payment is credited once, with the order's own amount, for all reports, however many and in any order.

import { describe, expect, it } from "vitest";
import { countUnknownPayments } from "../../src/billing/top-ups/find-top-ups.ts";
import { saldoJson } from "../setup/saldo-command.ts";
import { one, other, stateOf, useTwoProcesses, setup } from "./two-processes.ts";
import { RUPIAH } from "./top-up-setup.ts";

useTwoProcesses();

describe("a payment", () => {
  it("is credited when the provider confirms it, and the notification by itself credits nothing", async () => {
    const accountId = await setup.money.account(0n);
    const { topUpId, state, paymentUrl } = await setup.open(one, accountId);
    expect(state).toBe("pending");
    expect(paymentUrl).toMatch(/^http/);
    setup.fake.set(topUpId, { status: "paid" });
    await setup.notify(one, topUpId);
    expect(await setup.standing(accountId)).toEqual({ available: 0, owed: 0 });
    expect(await one.topUps.checkDue()).toBeGreaterThan(0);
    expect(await setup.standing(accountId)).toEqual({ available: RUPIAH, owed: 0 });
    const paid = await one.topUps.get({ accountId, topUpId });
    expect(paid).toMatchObject({ state: "paid", givenBack: 0n, problem: null });
    expect(paid.paidAt).toBeInstanceOf(Date);
  });

  it("reported in 50 copies at once to two processes is one event, one credit", async () => {
    const accountId = await setup.money.account(0n);
    const { topUpId } = await setup.open(one, accountId);
    setup.fake.set(topUpId, { status: "paid" });
    const copies = Array.from({ length: 50 }, (_, copy) => setup.notify(copy % 2 === 0 ? one : other, topUpId));
    await Promise.all([...copies, one.topUps.checkDue(), other.topUps.checkDue()]);
    await Promise.all([one, other].flatMap(({ topUps }) => [topUps.checkDue(), topUps.verifyNow(topUpId)]));
    expect(await setup.findingsOf(topUpId)).toEqual(["as_ordered"]);
    expect(await setup.creditsOf(topUpId)).toBe(1);
    expect(await setup.standing(accountId)).toEqual({ available: RUPIAH, owed: 0 });
  });

  it("asked about by twenty at once, on two processes, is credited once", async () => {
    const accountId = await setup.money.account(0n);
    const { topUpId } = await setup.open(one, accountId);
    setup.fake.set(topUpId, { status: "paid" });
    const row = await setup.money.lockRow("account", accountId);
    const asking = Array.from({ length: 20 }, (_, at) => (at % 2 === 0 ? one : other).topUps.verifyNow(topUpId));
    // After one lock, so that all of them have read the top-up before any of them is credited.
    await row.queued(10);
    await row.release();
    expect((await Promise.all(asking)).map(({ state }) => state)).toEqual(asking.map(() => "paid"));
    expect(await setup.creditsOf(topUpId)).toBe(1);
    expect(await setup.standing(accountId)).toEqual({ available: RUPIAH, owed: 0 });
  });

  it.each([
    ["settlement before pending", ["paid", "pending"], "paid"],
    ["an expiry after the settlement", ["pending", "paid", "expired"], "paid"],
    ["a denial after the settlement", ["paid", "failed"], "paid"],
    ["a cancellation after the settlement", ["paid", "canceled"], "refunded"],
    ["a payment after the expiry", ["pending", "expired", "paid"], "paid"],
    ["a payment after a denial", ["failed", "paid"], "paid"],
    ["a payment after the order was canceled", ["canceled", "paid"], "paid"],
    ["a payment that is looked at first", ["pending", "challenged", "captured"], "paid"],
    ["an expiry and nothing else", ["pending", "expired", "pending"], "expired"],
    ["a card that was refused when it was looked at", ["challenged", "failed"], "failed"],
  ] as const)("reported as %s ends as it should", async (_name, statuses, state) => {
    const accountId = await setup.money.account(0n);
    const { topUpId } = await setup.open(one, accountId);
    for (const status of statuses) await setup.happens(one, topUpId, { status });
    expect(await stateOf(accountId, topUpId)).toBe(state);
    expect(await setup.creditsOf(topUpId)).toBe(state === "paid" || state === "refunded" ? 1 : 0);
  });

  it("whose settlement was reported before it was pending, by copies that come in any order, is credited once", async () => {
    const accountId = await setup.money.account(0n);
    const { topUpId } = await setup.open(one, accountId);
    setup.fake.set(topUpId, { status: "pending" });
    const pending = setup.fake.midtransNotification(topUpId);
    setup.fake.set(topUpId, { status: "paid" });
    const settlement = setup.fake.midtransNotification(topUpId);
    for (const notification of [settlement, pending, settlement, pending]) {
      await one.topUps.takeNotification("midtrans", notification);
      await one.topUps.checkDue();
    }
    expect(await stateOf(accountId, topUpId)).toBe("paid");
    expect(await setup.creditsOf(topUpId)).toBe(1);
  });

  it("replayed days later changes nothing", async () => {
    const accountId = await setup.money.account(0n);
    const { topUpId } = await setup.paid(one, accountId);
    await setup.happens(one, topUpId, { status: "paid" });
    const before = await one.topUps.get({ accountId, topUpId });
    const days = await setup.process("midtrans", { aheadMs: 5 * 24 * 3_600_000 });
    await setup.notify(days, topUpId);
    await setup.makeDue(topUpId);
    await days.topUps.checkDue();
    expect(await days.topUps.get({ accountId, topUpId })).toEqual(before);
    expect(await setup.creditsOf(topUpId)).toBe(1);
  });

  it("without a notification is found by asking", async () => {
    const accountId = await setup.money.account(0n);
    const { topUpId } = await setup.open(one, accountId);
    setup.fake.set(topUpId, { status: "paid" });
    expect(await setup.isDue(topUpId)).toBe(false);
    await setup.makeDue(topUpId);
    await one.topUps.checkDue();
    expect(await stateOf(accountId, topUpId)).toBe("paid");
  });

  it("with a fee for the payer on top is credited as ordered", async () => {
    const accountId = await setup.money.account(0n);
    const { topUpId } = await setup.open(one, accountId);
    await setup.happens(one, topUpId, { status: "paid", gross: RUPIAH + 4_500 });
    expect(await setup.findingsOf(topUpId)).toEqual(["other_amount"]);
    expect(await setup.standing(accountId)).toEqual({ available: RUPIAH, owed: 0 });
  });

  it.each([RUPIAH - 1, 1, 0])("of Rp %d for an order of more is not credited, but looked at", async (gross) => {
    const accountId = await setup.money.account(0n);
    const { topUpId } = await setup.open(one, accountId);
    await setup.happens(one, topUpId, { status: "paid", gross });
    const held = await one.topUps.get({ accountId, topUpId });
    expect(held).toMatchObject({ state: "review", problem: expect.stringContaining("were ordered") as string });
    expect(await setup.findingsOf(topUpId)).toEqual(["other_amount"]);
    expect(await setup.standing(accountId)).toEqual({ available: 0, owed: 0 });
    // A second verification changes nothing; once the rest is there, it is credited.
    expect((await one.topUps.verifyNow(topUpId)).revision).toBe(held.revision);
    setup.fake.set(topUpId, { gross: RUPIAH });
    expect(await one.topUps.verifyNow(topUpId)).toMatchObject({ state: "paid", problem: null });
  });

  it("in another currency is not credited", async () => {
    const accountId = await setup.money.account(0n);
    const { topUpId } = await setup.open(one, accountId);
    await setup.happens(one, topUpId, { status: "paid", currency: "USD" });
    expect(await stateOf(accountId, topUpId)).toBe("review");
    expect(await setup.creditsOf(topUpId)).toBe(0);
  });

  it("that an edited notification calls settled is not: the provider is asked", async () => {
    const accountId = await setup.money.account(0n);
    const { topUpId } = await setup.open(one, accountId);
    setup.fake.set(topUpId, { status: "pending" });
    await setup.notify(one, topUpId, { transaction_status: "settlement", fraud_status: "accept" });
    await one.topUps.checkDue();
    expect(await stateOf(accountId, topUpId)).toBe("pending");
    expect(await setup.standing(accountId)).toEqual({ available: 0, owed: 0 });
  });

  it("settled by Xendit behind having been paid is credited once, and also by its invoice alone", async () => {
    const xendit = await setup.process("xendit");
    const accountId = await setup.money.account(0n);
    const { topUpId, provider } = await setup.open(xendit, accountId);
    expect(provider).toBe("xendit");
    for (const status of ["pending", "paid", "captured", "captured"] as const) {
      setup.fake.set(topUpId, { status });
      await xendit.topUps.takeNotification("xendit", setup.fake.xenditNotification(topUpId));
      await xendit.topUps.checkDue();
    }
    expect(await setup.creditsOf(topUpId)).toBe(1);
    setup.fake.set(topUpId, { status: "refunded", refunded: 10_000 });
    await xendit.topUps.takeNotification("xendit", setup.fake.xenditRefundNotification(topUpId));
    await xendit.topUps.checkDue();
    expect(await stateOf(accountId, topUpId)).toBe("partially_refunded");
    expect(await setup.standing(accountId)).toEqual({ available: RUPIAH - 10_000, owed: 0 });
  });

  it("that is never made expires: by the provider's answer, and by our clock where it knows no payment", async () => {
    const accountId = await setup.money.account(0n);
    const { topUpId } = await setup.open(one, accountId);
    expect((await one.topUps.verifyNow(topUpId)).state).toBe("pending");
    const late = await setup.process("midtrans", { aheadMs: 63 * 60_000 });
    expect((await late.topUps.verifyNow(topUpId)).state).toBe("expired");
    await setup.happens(one, topUpId, { status: "paid" });
    expect(await stateOf(accountId, topUpId)).toBe("paid");
  });

  it("is asked about later and later, and in the end no more", async () => {
    const accountId = await setup.money.account(0n);
    const { topUpId } = await setup.open(one, accountId);
    setup.fake.set(topUpId, { status: "expired" });
    const pauses: number[] = [];
    const text = "SELECT next_check_at FROM top_up WHERE id = $1";
    let at: Date | null = new Date();
    for (let look = 0; at !== null && look < 20; look += 1) {
      const then = await setup.process("midtrans", { aheadMs: at.getTime() - Date.now() });
      await setup.makeDue(topUpId);
      await then.topUps.checkDue();
      await then.close();
      const next = (await setup.money.pool.query<{ next_check_at: Date | null }>(text, [topUpId])).rows[0]
        ?.next_check_at;
      if (next instanceof Date) pauses.push(next.getTime() - at.getTime());
      at = next ?? null;
    }
    expect(at).toBeNull();
    expect(pauses).toEqual(pauses.toSorted((a, b) => a - b));
    expect(pauses.length).toBeGreaterThan(2);
  });

  it("whose provider is away is asked about again, later each time, and credited when it is back", async () => {
    const accountId = await setup.money.account(0n);
    const { topUpId } = await setup.open(one, accountId);
    setup.fake.set(topUpId, { status: "paid" });
    setup.fake.misbehave(503);
    const pauses: number[] = [];
    for (let look = 0; look < 3; look += 1) {
      await setup.makeDue(topUpId);
      await one.topUps.checkDue();
      const text =
        "SELECT extract(epoch FROM next_check_at - clock_timestamp())::float8 AS pause FROM top_up WHERE id = $1";
      pauses.push((await setup.money.pool.query<{ pause: number }>(text, [topUpId])).rows[0]?.pause ?? 0);
    }
    expect(pauses).toEqual(pauses.toSorted((a, b) => a - b));
    expect(pauses[2]).toBeGreaterThan(2 * (pauses[0] ?? 0));
    expect(one.failures.filter((each) => each.topUpId === topUpId).map(({ error }) => error)).toMatchObject([
      { kind: "away" },
      { kind: "away" },
      { kind: "away" },
    ]);
    await expect(one.topUps.verifyNow(topUpId)).rejects.toMatchObject({ code: "upstream_busy" });
    expect(await stateOf(accountId, topUpId)).toBe("pending");
    setup.fake.misbehave(null);
    await setup.makeDue(topUpId);
    await one.topUps.checkDue();
    expect(await stateOf(accountId, topUpId)).toBe("paid");
  });

  it("belongs to the provider it was opened at, whichever is chosen for new ones", async () => {
    const accountId = await setup.money.account(0n);
    const { topUpId } = await setup.open(one, accountId);
    const xendit = await setup.process("xendit");
    setup.fake.set(topUpId, { status: "paid" });
    await xendit.topUps.takeNotification("xendit", setup.fake.xenditNotification(topUpId));
    expect(await setup.findingsOf(topUpId)).toEqual(["other_provider"]);
    expect(await setup.isDue(topUpId)).toBe(false);
    expect(await stateOf(accountId, topUpId)).toBe("pending");
    expect((await xendit.topUps.verifyNow(topUpId)).state).toBe("paid");
  });

  it("of an order we never made is kept and credits no account", async () => {
    const accountId = await setup.money.account(0n);
    const { topUpId } = await setup.open(one, accountId);
    setup.fake.set(topUpId, { status: "paid", toldOrderId: "another-shop-77" });
    await one.topUps.takeNotification("midtrans", setup.fake.midtransNotification(topUpId));
    expect(await setup.findingsOf("another-shop-77")).toEqual(["unknown_order"]);
    expect(await setup.isDue(topUpId)).toBe(false);
    expect(await setup.creditsOf(topUpId)).toBe(0);
  });

  it("of an order that the books do not have is listed for operators, and counted", async () => {
    const accountId = await setup.money.account(0n);
    const { topUpId } = await setup.open(one, accountId);
    const { pool, opened } = setup.money;
    const before = await countUnknownPayments(pool);
    setup.fake.set(topUpId, { status: "paid", toldOrderId: "lost-order-1" });
    await one.topUps.takeNotification("midtrans", setup.fake.midtransNotification(topUpId));
    const found = expect.objectContaining({ provider: "midtrans", orderId: "lost-order-1" });
    expect(await countUnknownPayments(pool)).toBe(before + 1);
    const here = { DATABASE_URL: opened.url };
    expect(await saldoJson(["top-up", "unknown"], here)).toMatchObject({ payments: expect.arrayContaining([found]) });
    expect((await saldoJson(["recover", "report"], here))["unknownPayments"]).toContainEqual(found);
  });
});
