// Saving the method that paid: the credit does not wait for it, and it is tried again until it is saved, once.

import { afterAll, afterEach, beforeAll, expect, it } from "vitest";
import { readMethod } from "../../src/billing/auto-top-ups/saved-method.ts";
import { paymentOfOrder } from "../../src/billing/payments/sandbox/store.ts";
import { SOUND } from "../money/money-setup.ts";
import { onServer } from "../setup/test-servers.ts";
import type { TopUpProcess } from "../top-ups/top-up-setup.ts";
import { AutoTopUpSetup, RUPIAH } from "./auto-top-up-setup.ts";

let setup: AutoTopUpSetup;
let one: TopUpProcess;
const owner = (text: string): Promise<unknown> => onServer(setup.topUps.money.opened.url, text);
const refuse = () => owner("ALTER TABLE payment_method ADD CONSTRAINT nothing_is_saved CHECK (false) NOT VALID");
const mend = () => owner("ALTER TABLE payment_method DROP CONSTRAINT IF EXISTS nothing_is_saved");
beforeAll(async () => {
  setup = await AutoTopUpSetup.create();
  one = await setup.process();
});
afterEach(() => mend());
afterAll(() => setup.close());

let keys = 0;
/** An order of Rp 10.000 that saves its card, paid at the sandbox. Without an account it is of a new one. */
async function paidOrder(of?: string): Promise<{ accountId: string; topUpId: string }> {
  const accountId = of ?? (await setup.topUps.money.account(0n));
  keys += 1;
  const order = { accountId, amount: 10_000n * RUPIAH, idempotencyKey: `saves-${keys}`, savesMethod: true };
  const { topUpId } = await one.topUps.create(order);
  const payment = await paymentOfOrder(one.database.pool, topUpId);
  await one.desk.act(payment?.token ?? "", "pay_silently");
  return { accountId, topUpId };
}
const methodOf = (accountId: string) => readMethod(one.database.pool, accountId);

it("credits a payment whose method cannot be saved", async () => {
  const { accountId, topUpId } = await paidOrder();
  await refuse();
  expect(await one.topUps.verifyNow(topUpId)).toMatchObject({ state: "paid" });
  expect((await setup.topUps.standing(accountId)).available).toBe(10_000);
  expect(await setup.topUps.creditsOf(topUpId)).toBe(1);
  expect(await methodOf(accountId)).toBeNull();
  expect(one.failures.at(-1)).toMatchObject({ topUpId });
});

it("saves the method by itself once that works, and asks again soon until then", async () => {
  const { accountId, topUpId } = await paidOrder();
  await refuse();
  await setup.topUps.makeDue(topUpId);
  await one.topUps.checkDue({ provider: "sandbox" });
  expect(await methodOf(accountId)).toBeNull();
  const soon = "SELECT next_check_at < clock_timestamp() + interval '1 minute' AS soon FROM top_up WHERE id = $1";
  expect((await one.database.pool.query(soon, [topUpId])).rows).toEqual([{ soon: true }]);
  await mend();
  await setup.topUps.makeDue(topUpId);
  await one.topUps.checkDue({ provider: "sandbox" });
  expect(await methodOf(accountId)).toMatchObject({ label: "Sandbox •••• 4242" });
  expect(await setup.topUps.creditsOf(topUpId)).toBe(1);
});

it("saves a method once, however often two processes ask about its order", async () => {
  const other = await setup.process();
  const { accountId, topUpId } = await paidOrder();
  await Promise.all([one, other, one, other].map((process) => process.topUps.verifyNow(topUpId)));
  const first = await methodOf(accountId);
  await one.topUps.verifyNow(topUpId);
  expect((await methodOf(accountId))?.methodId).toBe(first?.methodId);
  const text = "SELECT count(*)::int AS saved FROM payment_method WHERE account_id = $1";
  expect((await one.database.pool.query(text, [accountId])).rows).toEqual([{ saved: 1 }]);
});

it("saves no method of a payment that was given back meanwhile", async () => {
  const { accountId, topUpId } = await paidOrder();
  await refuse();
  await one.topUps.verifyNow(topUpId);
  await one.desk.chargeBack(topUpId);
  await mend();
  for (let time = 0; time < 2; time += 1) await one.topUps.verifyNow(topUpId);
  expect(await methodOf(accountId)).toBeNull();
});

it("keeps the method of a newer order when the one of an older order comes late", async () => {
  const { accountId, topUpId: older } = await paidOrder();
  await refuse();
  await one.topUps.verifyNow(older);
  await mend();
  const { topUpId: newer } = await paidOrder(accountId);
  await one.topUps.verifyNow(newer);
  const saved = await methodOf(accountId);
  expect(saved).toMatchObject({ label: "Sandbox •••• 4242" });
  for (let time = 0; time < 2; time += 1) await one.topUps.verifyNow(older);
  expect(await methodOf(accountId)).toEqual(saved);
  expect((await setup.topUps.standing(accountId)).available).toBe(20_000);
});

it("replaces the method of an older order that came late by the one of a newer order", async () => {
  const { accountId, topUpId: older } = await paidOrder();
  const { topUpId: newer } = await paidOrder(accountId);
  await one.topUps.verifyNow(older);
  const late = await methodOf(accountId);
  await one.topUps.verifyNow(newer);
  expect((await methodOf(accountId))?.methodId).not.toBe(late?.methodId);
  await one.topUps.verifyNow(older);
  expect(await methodOf(accountId)).toMatchObject({ provider: "sandbox" });
});

it("leaves the books in order", async () => {
  expect(await setup.topUps.money.audit()).toEqual(SOUND);
});
