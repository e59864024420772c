// What becomes of automatic orders: an older one that its provider looks at again, one that was never made, and a provider that hangs.

import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import {
  chargeAutoTopUp,
  chargeAutoTopUps,
  MOST_REFUSALS,
} from "../../src/billing/auto-top-ups/charge-auto-top-ups.ts";
import { readAutoTopUp, setAutoTopUp } from "../../src/billing/auto-top-ups/settings.ts";
import { autoTopUpTicks } from "../../src/billing/jobs/auto-top-ups.ts";
import { type MethodCharge, PaymentProviderError } from "../../src/billing/payments/payment-provider.ts";
import { SOUND } from "../money/money-setup.ts";
import type { TopUpProcess } from "../top-ups/top-up-setup.ts";
import { AutoTopUpSetup, EACH, RUPIAH } from "./auto-top-up-setup.ts";

let setup: AutoTopUpSetup;
let one: TopUpProcess;
let midtrans: TopUpProcess;
beforeAll(async () => {
  setup = await AutoTopUpSetup.create();
  [one, midtrans] = [await setup.process(), await setup.topUps.process("midtrans")];
});
afterEach(() => setup.topUps.fake.charges("captured"));
afterAll(() => setup.close());

const away = (): Promise<never> => Promise.reject(new PaymentProviderError("away", "no answer"));
const run = (text: string, values: readonly unknown[]) => one.database.pool.query(text, [...values]);
const available = async (accountId: string): Promise<number> => (await setup.topUps.standing(accountId)).available;

let keys = 0;
/** An account with a card of Midtrans that a payment of Rp 10.000 has saved. */
async function midtransAccount(): Promise<string> {
  const accountId = await setup.topUps.money.account(0n);
  keys += 1;
  const order = { accountId, amount: 10_000n * RUPIAH, idempotencyKey: `midtrans-${keys}`, savesMethod: true };
  const { topUpId } = await midtrans.topUps.create(order);
  setup.topUps.fake.set(topUpId, { status: "captured" });
  await midtrans.topUps.verifyNow(topUpId);
  const settings = { isOn: true, threshold: "1000000", amount: `${EACH}`, monthlyCap: "500000" };
  await setAutoTopUp(midtrans.database, accountId, settings);
  return accountId;
}

/** An order that ended unknown, whose charge reaches Midtrans only now, and a newer one that is open. */
async function olderBesideNewer(): Promise<{ accountId: string; older: string; newer: string }> {
  const accountId = await midtransAccount();
  const called: MethodCharge[] = [];
  const lost = (charge: MethodCharge): Promise<never> => {
    called.push(charge);
    return away();
  };
  await chargeAutoTopUp(setup.work(midtrans, lost), accountId);
  await setup.age(midtrans, accountId, "18 minutes");
  await setup.ask(midtrans, accountId);
  await setup.age(midtrans, accountId, "61 minutes");
  await chargeAutoTopUp(setup.work(midtrans, lost), accountId);
  const [newer, older] = await setup.orders(midtrans, accountId);
  expect([older?.state, newer?.state]).toEqual(["expired", "created"]);
  setup.topUps.fake.charges("challenged");
  for (const charge of called) await midtrans.providers.of("midtrans")?.charge?.(charge);
  return { accountId, older: older?.topUpId ?? "", newer: newer?.topUpId ?? "" };
}

describe("an order that its provider looks at again beside a newer one", () => {
  it("is in review with it, and each payment is credited once", async () => {
    const { accountId, older, newer } = await olderBesideNewer();
    expect(await midtrans.topUps.verifyNow(older)).toMatchObject({ state: "review" });
    expect(await midtrans.topUps.verifyNow(newer)).toMatchObject({ state: "review" });
    // Both count in the cap, and no third is made.
    expect((await readAutoTopUp(one.database, accountId)).charged).toBe(2n * EACH * RUPIAH);
    await chargeAutoTopUp(setup.work(midtrans), accountId);
    expect(await setup.orders(midtrans, accountId)).toHaveLength(2);
    for (const each of [older, newer, older]) {
      setup.topUps.fake.set(each, { status: "captured" });
      expect(await midtrans.topUps.verifyNow(each)).toMatchObject({ state: "paid" });
    }
    expect(await available(accountId)).toBe(110_000);
    expect([await setup.topUps.creditsOf(older), await setup.topUps.creditsOf(newer)]).toEqual([1, 1]);
  });

  it("is shown to an operator where too little was paid for it", async () => {
    const { accountId, older } = await olderBesideNewer();
    setup.topUps.fake.set(older, { status: "captured", gross: 40_000 });
    expect(await midtrans.topUps.verifyNow(older)).toMatchObject({
      state: "review",
      problem: expect.stringContaining("ordered"),
    });
    expect(await available(accountId)).toBe(10_000);
  });
});

describe("an order that was never made", () => {
  it("is no refusal of the card: it ends at once, and the next one is charged", async () => {
    const accountId = await setup.account(one);
    await run("UPDATE auto_top_up SET resumed_at = resumed_at - interval '1 day' WHERE account_id = $1", [accountId]);
    for (let order = 1; order <= MOST_REFUSALS + 1; order += 1) {
      await chargeAutoTopUp({ ...setup.work(one), callWithinMs: 0 }, accountId);
      expect((await setup.orders(one, accountId)).map(({ state }) => state)).toEqual(Array(order).fill("canceled"));
      await setup.age(one, accountId, "61 seconds");
    }
    await setup.round(one, accountId);
    expect((await setup.orders(one, accountId))[0]).toMatchObject({ state: "paid" });
    expect(await setup.notices(one, accountId)).toEqual(["succeeded"]);
  });

  it("at a provider that cannot be reached is no refusal, and one mail a day", async () => {
    const accountId = await setup.account(one);
    await run("UPDATE auto_top_up SET resumed_at = resumed_at - interval '1 day' WHERE account_id = $1", [accountId]);
    for (let order = 1; order <= MOST_REFUSALS + 1; order += 1) {
      await chargeAutoTopUp(setup.work(one, away), accountId);
      await setup.age(one, accountId, "18 minutes");
      await setup.ask(one, accountId);
      // It is tried again after an hour.
      await chargeAutoTopUp(setup.work(one, away), accountId);
      expect((await setup.orders(one, accountId)).map(({ state }) => state)).toEqual(Array(order).fill("expired"));
      await setup.age(one, accountId, "61 minutes");
    }
    expect((await readAutoTopUp(one.database, accountId)).pausedAt).toBeNull();
    expect((await setup.notices(one, accountId)).length).toBeLessThanOrEqual(2);
    await setup.round(one, accountId);
    expect((await setup.orders(one, accountId))[0]).toMatchObject({ state: "paid" });
  });

  it("is not even written down where the method cannot be read", async () => {
    const accountId = await setup.account(one);
    await run(`UPDATE payment_method SET token = 'sealed:1:00000000:${"A".repeat(60)}' WHERE account_id = $1`, [
      accountId,
    ]);
    await expect(chargeAutoTopUp(setup.work(one), accountId)).rejects.toThrow();
    await setup.tick(one);
    expect(await setup.orders(one, accountId)).toEqual([]);
    const waits = "SELECT not_before > clock_timestamp() AS waits FROM auto_top_up WHERE account_id = $1";
    expect((await run(waits, [accountId])).rows).toEqual([{ waits: true }]);
    // Another card is charged at once.
    await setup.saveCard(one, accountId);
    await setup.tick(one);
    await setup.ask(one, accountId);
    expect(await setup.orders(one, accountId)).toMatchObject([{ state: "paid" }]);
  });
});

describe("a charge that gets no answer", () => {
  it("delays no other account of its provider, and ends with its answer", async () => {
    const [slow, quick] = [await setup.account(one), await setup.account(one)].toSorted();
    if (slow === undefined || quick === undefined) throw new Error("two accounts were made");
    const { promise: answer, resolve } = Promise.withResolvers<void>();
    const charged: string[] = [];
    const work = setup.work(one, async (charge: MethodCharge) => {
      if (charge.accountId === slow) await answer;
      charged.push(charge.accountId);
      return (await one.providers.of("sandbox")?.charge?.(charge)) ?? { outcome: "refused", reference: null };
    });
    const round = chargeAutoTopUps(work, "sandbox");
    await expect.poll(() => charged, { timeout: 10_000 }).toContain(quick);
    expect(charged).not.toContain(slow);
    resolve();
    await round;
    expect(charged).toContain(slow);
  });

  it("delays no account of another provider, however many there are", async () => {
    const hanging = await Promise.all(Array.from({ length: 12 }, () => setup.account(one)));
    await run("UPDATE payment_method SET provider = 'midtrans' WHERE account_id = ANY ($1)", [hanging]);
    const quick = await setup.account(one);
    const { promise: answer, resolve } = Promise.withResolvers<void>();
    let calls = 0;
    const work = setup.work(one, async (charge: MethodCharge) => {
      if (!hanging.includes(charge.accountId)) return { outcome: "refused", reference: null };
      calls += 1;
      await answer;
      throw new PaymentProviderError("away", "no answer");
    });
    const ticks = autoTopUpTicks(work).map((tick) => ({ ...tick, done: tick.run(new AbortController().signal) }));
    await ticks.find(({ name }) => name.endsWith(": sandbox"))?.done;
    expect(await setup.orders(one, quick)).toMatchObject([{ state: "failed" }]);
    await expect.poll(() => calls, { timeout: 10_000 }).toBeGreaterThan(1);
    resolve();
    await Promise.all(ticks.map(({ done }) => done));
    expect(calls).toBe(hanging.length);
  });
});

it("leaves the books in order", async () => {
  expect(await setup.topUps.money.audit()).toEqual(SOUND);
});
