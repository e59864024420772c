// Money that the provider gives back: taken from the account's money, owed where that is not enough, and collected first from the
// next top-up.

import { describe, expect, it } from "vitest";
import { applyPayment } from "../../src/billing/top-ups/apply-payment.ts";
import { findTopUps } from "../../src/billing/top-ups/find-top-ups.ts";
import { one, other, stateOf, useTwoProcesses, setup } from "./two-processes.ts";
import { AMOUNT, MICRO, RUPIAH } from "./top-up-setup.ts";

useTwoProcesses();

const needingAttention = (accountId: string) =>
  findTopUps(one.database.pool, {
    filter: { accountId, provider: null, state: null, needsAttention: true },
    beforeId: null,
    limit: 10,
  });

describe("money that is given back", () => {
  it("by a chargeback that is won is shown to the operator, and credited only by the operator", async () => {
    const accountId = await setup.money.account(0n);
    const { topUpId } = await setup.paid(one, accountId);
    await setup.happens(one, topUpId, { status: "charged_back" });
    expect(await needingAttention(accountId)).toEqual([]);
    await setup.happens(one, topUpId, { status: "paid" });
    expect(await needingAttention(accountId)).toMatchObject([
      { topUpId, state: "charged_back", problem: expect.stringContaining("the dispute may be won") as string },
    ]);
    expect(await setup.standing(accountId)).toEqual({ available: 0, owed: 0 });
    setup.fake.set(topUpId, { status: "charged_back" });
    await one.topUps.verifyNow(topUpId);
    expect(await needingAttention(accountId)).toEqual([]);
  });

  it("and that the account has used is owed, and collected first from what it buys next", async () => {
    const accountId = await setup.money.account(0n);
    const { topUpId } = await setup.paid(one, accountId);
    await setup.spend(accountId, 20_000n * MICRO);
    await setup.happens(one, topUpId, { status: "charged_back" });
    expect(await setup.standing(accountId)).toEqual({ available: 0, owed: 20_000 });
    expect(await one.topUps.get({ accountId, topUpId })).toMatchObject({
      state: "charged_back",
      owed: 20_000n * MICRO,
    });
    await setup.paid(one, accountId, 15_000n * MICRO);
    expect(await setup.standing(accountId)).toEqual({ available: 0, owed: 5_000 });
    await setup.paid(one, accountId, 15_000n * MICRO);
    expect(await setup.standing(accountId)).toEqual({ available: 10_000, owed: 0 });
    expect((await one.topUps.get({ accountId, topUpId })).owed).toBe(0n);
  });

  it("leaves alone what is held for requests that run, and is collected when they end", async () => {
    const accountId = await setup.money.account(0n);
    const { topUpId } = await setup.paid(one, accountId);
    const release = await setup.hold(accountId, 15_000n * MICRO);
    await setup.happens(one, topUpId, { status: "refunded", refunded: RUPIAH });
    expect(await setup.standing(accountId)).toEqual({ available: 0, owed: 15_000 });
    await release();
    expect(await setup.standing(accountId)).toEqual({ available: 0, owed: 0 });
  });

  it("before it was reported as paid is credited and taken back in one step", async () => {
    const accountId = await setup.money.account(0n);
    const { topUpId } = await setup.open(one, accountId);
    await setup.happens(one, topUpId, { status: "partially_refunded", refunded: 5_000 });
    expect(await stateOf(accountId, topUpId)).toBe("partially_refunded");
    expect(await setup.standing(accountId)).toEqual({ available: 20_000, owed: 0 });
    expect(await setup.creditsOf(topUpId)).toBe(1);
  });

  it("together with the payer's fee takes back no more than was credited", async () => {
    const accountId = await setup.money.account(1_000n * MICRO);
    const { topUpId } = await setup.open(one, accountId);
    await setup.happens(one, topUpId, { status: "paid", gross: RUPIAH + 4_500 });
    await setup.happens(one, topUpId, { status: "partially_refunded", refunded: RUPIAH + 4_000 });
    expect(await setup.standing(accountId)).toEqual({ available: 1_000, owed: 0 });
  });

  it("by an unknown amount is shown to the operator and takes nothing", async () => {
    const accountId = await setup.money.account(0n);
    const { topUpId } = await setup.paid(one, accountId);
    await setup.happens(one, topUpId, { status: "partially_refunded", refunded: 0 });
    expect(await one.topUps.get({ accountId, topUpId })).toMatchObject({
      state: "partially_refunded",
      givenBack: 0n,
      problem: expect.stringContaining("without an amount") as string,
    });
    expect(await setup.standing(accountId)).toEqual({ available: RUPIAH, owed: 0 });
  });

  it("in part by the provider and then by the payer's bank is taken both times", async () => {
    const accountId = await setup.money.account(0n);
    const { topUpId } = await setup.paid(one, accountId);
    await setup.happens(one, topUpId, { status: "partially_refunded", refunded: 5_000 });
    await setup.happens(one, topUpId, { status: "partially_charged_back", chargedBack: 10_000 });
    expect(await one.topUps.get({ accountId, topUpId })).toMatchObject({
      state: "charged_back",
      givenBack: 15_000n * MICRO,
    });
    expect(await setup.standing(accountId)).toEqual({ available: 10_000, owed: 0 });
  });

  it.each([
    ["whole", { status: "refunded", refunded: RUPIAH }, "refunded", 0],
    ["in part", { status: "partially_refunded", refunded: 7_000 }, "partially_refunded", 13_000],
  ] as const)(
    "in part by the payer's bank and then %s by the provider is taken both times",
    async (_how, then, state, left) => {
      const accountId = await setup.money.account(0n);
      const { topUpId } = await setup.paid(one, accountId);
      await setup.happens(one, topUpId, { status: "partially_charged_back", chargedBack: 5_000 });
      expect(await setup.standing(accountId)).toEqual({ available: 20_000, owed: 0 });
      await setup.happens(one, topUpId, then);
      expect(await stateOf(accountId, topUpId)).toBe(state);
      expect(await setup.standing(accountId)).toEqual({ available: left, owed: 0 });
    },
  );

  it("in larger parts by the payer's bank is noticed each time, and asked for without a notification", async () => {
    const accountId = await setup.money.account(0n);
    const { topUpId } = await setup.paid(one, accountId);
    await setup.happens(one, topUpId, { status: "partially_charged_back", chargedBack: 5_000 });
    await setup.happens(one, topUpId, { status: "partially_charged_back", chargedBack: 8_000 });
    expect(await setup.standing(accountId)).toEqual({ available: 17_000, owed: 0 });
    setup.fake.set(topUpId, { chargedBack: 9_000 });
    await setup.makeDue(topUpId);
    await one.topUps.checkDue();
    expect(await setup.standing(accountId)).toEqual({ available: 16_000, owed: 0 });
  });

  it("is no less and no other for an older report that comes late", async () => {
    const accountId = await setup.money.account(0n);
    const { topUpId } = await setup.paid(one, accountId);
    await setup.happens(one, topUpId, { status: "partially_charged_back", chargedBack: 15_000 });
    await setup.happens(one, topUpId, { status: "partially_refunded", refunded: 5_000, chargedBack: 0 });
    expect(await stateOf(accountId, topUpId)).toBe("charged_back");
    expect(await setup.standing(accountId)).toEqual({ available: 10_000, owed: 0 });
  });

  it("by canceling a payment that was credited is taken whole, and what is used is owed", async () => {
    const accountId = await setup.money.account(0n);
    const { topUpId } = await setup.open(one, accountId);
    await setup.happens(one, topUpId, { status: "captured" });
    await setup.spend(accountId, 20_000n * MICRO);
    await setup.happens(one, topUpId, { status: "canceled" });
    expect(await one.topUps.get({ accountId, topUpId })).toMatchObject({ state: "refunded", givenBack: AMOUNT });
    expect(await setup.standing(accountId)).toEqual({ available: 0, owed: 20_000 });
    expect(await setup.isDue(topUpId)).toBe(false);
  });

  it("is not believed of an answer that was on its way when the payment was confirmed, or that is not given twice", async () => {
    const accountId = await setup.money.account(0n);
    const { topUpId } = await setup.paid(one, accountId);
    const late = { state: "canceled", amount: AMOUNT, givenBack: 0n, reference: null } as const;
    await applyPayment(other.database, topUpId, late);
    setup.fake.answerOnce(topUpId, { status: "canceled" });
    await one.topUps.verifyNow(topUpId);
    expect(await stateOf(accountId, topUpId)).toBe("paid");
    expect(await setup.standing(accountId)).toEqual({ available: RUPIAH, owed: 0 });
  });

  it.each(["failed", "expired"] as const)(
    "though the provider only reports %s of what it had confirmed is shown to the operator and takes nothing",
    async (status) => {
      const accountId = await setup.money.account(0n);
      const { topUpId } = await setup.paid(one, accountId);
      await setup.happens(one, topUpId, { status });
      expect(await one.topUps.get({ accountId, topUpId })).toMatchObject({
        state: "paid",
        problem: expect.stringContaining(status) as string,
      });
      expect(await setup.standing(accountId)).toEqual({ available: RUPIAH, owed: 0 });
    },
  );

  it("reported by twenty at once on two processes is taken once", async () => {
    const accountId = await setup.money.account(0n);
    const { topUpId } = await setup.paid(one, accountId);
    await setup.spend(accountId, 20_000n * MICRO);
    setup.fake.set(topUpId, { status: "refunded", refunded: RUPIAH });
    const row = await setup.money.lockRow("account", accountId);
    const asking = Array.from({ length: 20 }, (_, at) => (at % 2 === 0 ? one : other).topUps.verifyNow(topUpId));
    await row.queued(10);
    await row.release();
    await Promise.all(asking);
    expect(await setup.standing(accountId)).toEqual({ available: 0, owed: 20_000 });
  });

  it("is taken from what there is, by the difference to what was taken before", async () => {
    const accountId = await setup.money.account(0n);
    const { topUpId } = await setup.paid(one, accountId);
    await setup.happens(one, topUpId, { status: "partially_refunded", refunded: 5_000 });
    expect(await setup.standing(accountId)).toEqual({ available: 20_000, owed: 0 });
    await setup.happens(one, topUpId, { status: "partially_refunded", refunded: 12_000 });
    await setup.notify(other, topUpId);
    await one.topUps.verifyNow(topUpId);
    expect(await setup.standing(accountId)).toEqual({ available: 13_000, owed: 0 });
    await setup.happens(one, topUpId, { status: "refunded", refunded: RUPIAH });
    expect(await setup.standing(accountId)).toEqual({ available: 0, owed: 0 });
    expect(await one.topUps.get({ accountId, topUpId })).toMatchObject({
      state: "refunded",
      givenBack: AMOUNT,
      owed: 0n,
    });
  });
});
