// What becomes of money that the provider gives back: taken from what the account has, owed where it has no more, and collected
// first from what it buys next.

import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { SOUND } from "../money/world.ts";
import { AMOUNT, MICRO, RUPIAH, type TopUpProcess, TopUpWorld } from "./world.ts";

let world: TopUpWorld;
let one: TopUpProcess;
let other: TopUpProcess;
beforeAll(async () => {
  world = await TopUpWorld.create();
  one = await world.process("midtrans");
  other = await world.process("midtrans");
});
afterEach(async () => {
  world.fake.misbehave(null);
  expect(await world.money.audit()).toEqual(SOUND);
});
afterAll(() => world.close());

const stateOf = async (accountId: string, topUpId: string): Promise<string> =>
  (await one.topUps.get({ accountId, topUpId })).state;

describe("money that is given back", () => {
  it("and that the account has used is owed, and collected first from what it buys next", async () => {
    const accountId = await world.money.account(0n);
    const { topUpId } = await world.paid(one, accountId);
    await world.spend(accountId, 20_000n * MICRO);
    await world.happens(one, topUpId, { status: "charged_back" });
    expect(await world.standing(accountId)).toEqual({ available: 0, owed: 20_000 });
    expect(await one.topUps.get({ accountId, topUpId })).toMatchObject({
      state: "charged_back",
      owed: 20_000n * MICRO,
    });
    await world.paid(one, accountId, 15_000n * MICRO);
    expect(await world.standing(accountId)).toEqual({ available: 0, owed: 5_000 });
    await world.paid(one, accountId, 15_000n * MICRO);
    expect(await world.standing(accountId)).toEqual({ available: 10_000, owed: 0 });
    expect((await one.topUps.get({ accountId, topUpId })).owed).toBe(0n);
  });

  it("leaves alone what is held for requests that run", async () => {
    const accountId = await world.money.account(0n);
    const { topUpId } = await world.paid(one, accountId);
    const release = await world.hold(accountId, 15_000n * MICRO);
    await world.happens(one, topUpId, { status: "refunded", refunded: RUPIAH });
    expect(await world.standing(accountId)).toEqual({ available: 0, owed: 15_000 });
    await release();
    expect(await world.standing(accountId)).toEqual({ available: 15_000, owed: 15_000 });
  });

  it("before anybody told us that it was paid is credited and taken back in one step", async () => {
    const accountId = await world.money.account(0n);
    const { topUpId } = await world.open(one, accountId);
    await world.happens(one, topUpId, { status: "partially_refunded", refunded: 5_000 });
    expect(await stateOf(accountId, topUpId)).toBe("partially_refunded");
    expect(await world.standing(accountId)).toEqual({ available: 20_000, owed: 0 });
    expect(await world.creditsOf(topUpId)).toBe(1);
  });

  it("together with the payer's fee takes back no more than was credited", async () => {
    const accountId = await world.money.account(1_000n * MICRO);
    const { topUpId } = await world.open(one, accountId);
    await world.happens(one, topUpId, { status: "paid", gross: RUPIAH + 4_500 });
    await world.happens(one, topUpId, { status: "partially_refunded", refunded: RUPIAH + 4_000 });
    expect(await world.standing(accountId)).toEqual({ available: 1_000, owed: 0 });
  });

  it("by nobody knows how much is told to the operator and takes nothing", async () => {
    const accountId = await world.money.account(0n);
    const { topUpId } = await world.paid(one, accountId);
    await world.happens(one, topUpId, { status: "partially_refunded", refunded: 0 });
    expect(await one.topUps.get({ accountId, topUpId })).toMatchObject({
      state: "partially_refunded",
      givenBack: 0n,
      problem: expect.stringContaining("not how much") as string,
    });
    expect(await world.standing(accountId)).toEqual({ available: RUPIAH, owed: 0 });
  });

  it("told by twenty at once on two processes is taken once", async () => {
    const accountId = await world.money.account(0n);
    const { topUpId } = await world.paid(one, accountId);
    await world.spend(accountId, 20_000n * MICRO);
    world.fake.set(topUpId, { status: "refunded", refunded: RUPIAH });
    const row = await world.money.lockRow("account", accountId);
    const asking = Array.from({ length: 20 }, (_, at) => (at % 2 === 0 ? one : other).topUps.verifyNow(topUpId));
    await row.queued(10);
    await row.release();
    await Promise.all(asking);
    expect(await world.standing(accountId)).toEqual({ available: 0, owed: 20_000 });
  });

  it("is taken from what there is, by the difference to what was taken before", async () => {
    const accountId = await world.money.account(0n);
    const { topUpId } = await world.paid(one, accountId);
    await world.happens(one, topUpId, { status: "partially_refunded", refunded: 5_000 });
    expect(await world.standing(accountId)).toEqual({ available: 20_000, owed: 0 });
    await world.happens(one, topUpId, { status: "partially_refunded", refunded: 12_000 });
    await world.notify(other, topUpId);
    await one.topUps.verifyNow(topUpId);
    expect(await world.standing(accountId)).toEqual({ available: 13_000, owed: 0 });
    await world.happens(one, topUpId, { status: "refunded", refunded: RUPIAH });
    expect(await world.standing(accountId)).toEqual({ available: 0, owed: 0 });
    expect(await one.topUps.get({ accountId, topUpId })).toMatchObject({
      state: "refunded",
      givenBack: AMOUNT,
      owed: 0n,
    });
  });
});
