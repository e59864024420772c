// Saved cards of Midtrans over its wire: saved by a payment on its page, charged by one call, and asked about.

import { afterAll, afterEach, beforeAll, expect, it } from "vitest";
import { chargeAutoTopUp } from "../../src/billing/auto-top-ups/charge-auto-top-ups.ts";
import { readMethod } from "../../src/billing/auto-top-ups/saved-method.ts";
import { setAutoTopUp } from "../../src/billing/auto-top-ups/settings.ts";
import type { TopUp } from "../../src/billing/top-ups/top-up.ts";
import type { Misbehaviour } from "../top-ups/fake-provider.ts";
import type { TopUpProcess } from "../top-ups/top-up-setup.ts";
import { AutoTopUpSetup, EACH, RUPIAH } from "./auto-top-up-setup.ts";

let setup: AutoTopUpSetup;
let one: TopUpProcess;
beforeAll(async () => {
  setup = await AutoTopUpSetup.create();
  one = await setup.topUps.process("midtrans");
});
afterEach(() => {
  setup.topUps.fake.misbehave(null);
  setup.topUps.fake.charges("captured");
});
afterAll(() => setup.close());

let keys = 0;
/** An account with a card that a payment of Rp 10.000 has saved. */
async function account(): Promise<string> {
  const accountId = await setup.topUps.money.account(0n);
  keys += 1;
  const order = { accountId, amount: 10_000n * RUPIAH, idempotencyKey: `card ${keys}`, savesMethod: true };
  const { topUpId } = await one.topUps.create(order);
  setup.topUps.fake.set(topUpId, { status: "captured" });
  await one.topUps.verifyNow(topUpId);
  const settings = { isOn: true, threshold: "1000000", amount: `${EACH}`, monthlyCap: "200000" };
  await setAutoTopUp(one.database, accountId, settings);
  return accountId;
}
const charge = (accountId: string): Promise<void> => chargeAutoTopUp(setup.work(one), accountId);
const orders = (accountId: string): Promise<TopUp[]> => setup.orders(one, accountId);
const calls = (): number => setup.topUps.fake.asked.filter((each) => each === "POST /core/v2/charge").length;

it("saves the card of a paid order under its last digits, and charges it once", async () => {
  const accountId = await account();
  expect(await readMethod(one.database.pool, accountId)).toMatchObject({ provider: "midtrans", label: "•••• 1114" });
  const before = calls();
  await charge(accountId);
  await setup.ask(one, accountId);
  expect(await orders(accountId)).toMatchObject([{ state: "paid", amount: EACH * RUPIAH, provider: "midtrans" }]);
  expect(calls() - before).toBe(1);
});

it("credits a charge by Midtrans' notifications once, however often they come", async () => {
  const accountId = await account();
  await charge(accountId);
  const [order] = await orders(accountId);
  const topUpId = order?.topUpId ?? "";
  for (let copy = 0; copy < 3; copy += 1) await setup.topUps.notify(one, topUpId);
  await one.topUps.checkDue();
  expect(await setup.topUps.creditsOf(topUpId)).toBe(1);
});

it.each(["failed", "expired"] as const)("ends an order whose charge is %s, and credits nothing", async (status) => {
  const accountId = await account();
  setup.topUps.fake.charges(status);
  await charge(accountId);
  await setup.ask(one, accountId);
  expect(await orders(accountId)).toMatchObject([{ state: status }]);
  expect((await setup.topUps.standing(accountId)).available).toBe(10_000);
});

it("waits while Midtrans checks a charge for fraud, and charges no other meanwhile", async () => {
  const accountId = await account();
  setup.topUps.fake.charges("challenged");
  await charge(accountId);
  await setup.ask(one, accountId);
  await charge(accountId);
  expect(await orders(accountId)).toMatchObject([{ state: "review" }]);
});

it("ends an order at once where Midtrans does not know the token", async () => {
  const accountId = await account();
  const [card] = await one.topUps.list({ accountId, pageSize: 1, pageToken: "" }).then(({ items }) => items);
  setup.topUps.fake.set(card?.topUpId ?? "", { savedToken: null });
  await charge(accountId);
  expect(await orders(accountId)).toMatchObject([{ state: "failed" }]);
});

it.each<Misbehaviour>(["slow", "reset", "garbage", 500, 503, 429])(
  "asks what became of a charge that is answered by %s, and does not call again",
  async (how) => {
    const accountId = await account();
    const before = calls();
    setup.topUps.fake.misbehave(how, "/core/v2/charge");
    await charge(accountId);
    setup.topUps.fake.misbehave(null);
    for (let round = 0; round < 3; round += 1) {
      await setup.ask(one, accountId);
      await charge(accountId);
    }
    expect(calls() - before).toBe(1);
    expect(await orders(accountId)).toMatchObject([{ state: "created" }]);
  },
);
