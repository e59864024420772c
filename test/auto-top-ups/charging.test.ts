// Automatic top-ups: one open order, one charge of it whatever becomes of the call, and a cap that counts from the start.

import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { chargeAutoTopUp, MOST_REFUSALS } from "../../src/billing/auto-top-ups/charge-auto-top-ups.ts";
import { readMethod } from "../../src/billing/auto-top-ups/saved-method.ts";
import { readAutoTopUp, removeMethod, setAutoTopUp } from "../../src/billing/auto-top-ups/settings.ts";
import { insertTopUp } from "../../src/billing/top-ups/store.ts";
import { type MethodCharge, PaymentProviderError } from "../../src/billing/payments/payment-provider.ts";
import { uuidv7 } from "../../src/kernel/ids.ts";
import { SOUND } from "../money/money-setup.ts";
import type { TopUpProcess } from "../top-ups/top-up-setup.ts";
import { AutoTopUpSetup, EACH, RUPIAH } from "./auto-top-up-setup.ts";

let setup: AutoTopUpSetup;
let one: TopUpProcess;
let other: TopUpProcess;
beforeAll(async () => {
  setup = await AutoTopUpSetup.create();
  [one, other] = [await setup.process(), await setup.process()];
});
afterAll(() => setup.close());

/** The sandbox's own charge. */
const charging = (charge: MethodCharge) => {
  const provider = one.providers.of("sandbox");
  if (provider?.charge == null) throw new Error("the sandbox charges cards");
  return provider.charge(charge);
};
const posted = async (accountId: string): Promise<number> => (await setup.topUps.standing(accountId)).available;

describe("a balance below the threshold", () => {
  it("is topped up by a charge that is verified, and credited once", async () => {
    const accountId = await setup.account(one);
    await setup.round(one, accountId);
    await setup.ask(other, accountId);
    const [order, ...more] = await setup.orders(one, accountId);
    expect(more).toEqual([]);
    expect(order).toMatchObject({ state: "paid", amount: EACH * RUPIAH, provider: "sandbox" });
    expect(await posted(accountId)).toBe(60_000);
    expect(await setup.topUps.creditsOf(order?.topUpId ?? "")).toBe(1);
    await setup.tick(one);
    expect((await setup.notices(one, accountId))[0]).toBe("succeeded");
  });

  it("has one open order, though a hundred look at it at once on two processes", async () => {
    const accountId = await setup.account(one);
    let calls = 0;
    // The provider does not answer, so the order stays open.
    const silent = (): Promise<never> => {
      calls += 1;
      return Promise.reject(new PaymentProviderError("away", "no answer"));
    };
    await Promise.all(
      Array.from({ length: 100 }, (_, at) =>
        chargeAutoTopUp(setup.work(at % 2 === 0 ? one : other, silent), accountId),
      ),
    );
    expect(await setup.orders(one, accountId)).toHaveLength(1);
    expect(calls).toBe(1);
  });

  it("has one open order also where the database alone refuses a second", async () => {
    const accountId = await setup.account(one);
    await chargeAutoTopUp(
      setup.work(one, () => Promise.reject(new PaymentProviderError("away", "no answer"))),
      accountId,
    );
    const [first] = await setup.orders(one, accountId);
    const second = {
      topUpId: uuidv7(),
      accountId,
      amount: EACH * RUPIAH,
      provider: "sandbox",
      methodId: first?.methodId ?? null,
      idempotencyKey: "a second",
      expiresAt: new Date(),
      nextCheckAt: new Date(),
    };
    await expect(insertTopUp(one.database.pool, second)).rejects.toThrow("top_up_one_automatic");
  });

  it("is left alone while it is off, without a method, or on a frozen account", async () => {
    const off = await setup.account(one);
    await setAutoTopUp(one.database, off, { isOn: false, threshold: "1000000", amount: "50000", monthlyCap: "200000" });
    const bare = await setup.account(one);
    await removeMethod(one.database, bare);
    const frozen = await setup.account(one);
    await one.database.pool.query("UPDATE account SET frozen_at = clock_timestamp() WHERE id = $1", [frozen]);
    const rich = await setup.account(one);
    await setAutoTopUp(one.database, rich, { isOn: true, threshold: "10000", amount: "50000", monthlyCap: "200000" });
    await setup.tick(one);
    for (const accountId of [off, bare, frozen, rich]) {
      await setup.round(one, accountId);
      expect(await setup.orders(one, accountId)).toEqual([]);
    }
  });

  it("counts the tax, as every top-up does", async () => {
    const accountId = await setup.account(one, { cap: 110_000n });
    const tax = JSON.stringify({ rate: 1100, isIncluded: false });
    const text = "INSERT INTO operator_setting (name, version, value) VALUES ('top_up_tax', $1, $2)";
    await one.database.pool.query(text, [1, tax]);
    try {
      await setup.round(one, accountId);
      // Two of Rp 55.500 are above the cap, two of Rp 50.000 are not.
      await setup.round(one, accountId);
      const orders = await setup.orders(one, accountId);
      expect(orders).toMatchObject([{ amount: 50_000n * RUPIAH, tax: 5_500n * RUPIAH, taxRate: 1100, state: "paid" }]);
      expect((await readAutoTopUp(one.database, accountId)).charged).toBe(55_500n * RUPIAH);
    } finally {
      await one.database.pool.query(text, [2, JSON.stringify({ rate: 0, isIncluded: false })]);
    }
  });
});

describe("an unknown outcome is asked and never repeated", () => {
  const OUTCOMES = [
    ["the process dies between the commit and the call", false, "an unexpected end"],
    ["the process dies between the call and its answer", true, "an unexpected end"],
    ["the answer is lost, and the charge was made", true, "away"],
    ["there is no answer, and no charge was made", false, "away"],
  ] as const;
  it.each(OUTCOMES)("%s", async (_name, isMade, how) => {
    const accountId = await setup.account(one, { cap: 60_000n });
    const called: string[] = [];
    const lost = async (charge: MethodCharge): Promise<never> => {
      called.push(charge.orderId);
      if (isMade) await charging(charge);
      throw how === "away" ? new PaymentProviderError("away", "no answer") : new Error("an unexpected end");
    };
    await chargeAutoTopUp(setup.work(one, lost), accountId).catch(() => {});
    // While it is open it counts in the cap, and no process charges again.
    expect((await readAutoTopUp(one.database, accountId)).charged).toBe(EACH * RUPIAH);
    for (const process of [other, one]) await chargeAutoTopUp(setup.work(process, lost), accountId);
    await setup.ask(other, accountId);
    for (const process of [other, one]) await chargeAutoTopUp(setup.work(process, lost), accountId);
    expect(called).toHaveLength(1);
    const [order, ...more] = await setup.orders(one, accountId);
    expect(more).toEqual([]);
    expect(order?.state).toBe(isMade ? "paid" : "created");
    expect(await posted(accountId)).toBe(isMade ? 60_000 : 10_000);
  });

  it("an order that the provider does not know ends after its time, and its part of the cap is free again", async () => {
    const accountId = await setup.account(one, { cap: 60_000n });
    await chargeAutoTopUp(
      setup.work(one, () => Promise.reject(new PaymentProviderError("away", "no"))),
      accountId,
    );
    await setup.age(one, accountId, "16 minutes");
    await setup.ask(one, accountId);
    expect(await setup.orders(one, accountId)).toMatchObject([{ state: "created" }]);
    await setup.age(one, accountId, "2 minutes");
    await setup.ask(one, accountId);
    expect(await setup.orders(one, accountId)).toMatchObject([{ state: "expired" }]);
    expect((await readAutoTopUp(one.database, accountId)).charged).toBe(0n);
    await setup.age(one, accountId, "1 hour");
    await setup.round(one, accountId);
    expect((await setup.orders(one, accountId))[0]).toMatchObject({ state: "paid" });
  });

  it("a charge that comes to light after its order had ended is credited, and counts in the cap again", async () => {
    const accountId = await setup.account(one, { cap: 60_000n });
    let late: MethodCharge | undefined;
    const lost = (charge: MethodCharge): Promise<never> => {
      late = charge;
      return Promise.reject(new PaymentProviderError("away", "no"));
    };
    await chargeAutoTopUp(setup.work(one, lost), accountId);
    await setup.age(one, accountId, "18 minutes");
    await setup.ask(one, accountId);
    if (late !== undefined) await charging(late);
    await setup.ask(one, accountId);
    expect(await posted(accountId)).toBe(60_000);
    expect((await readAutoTopUp(one.database, accountId)).charged).toBe(EACH * RUPIAH);
  });

  it("an order is charged by one call, though two believe that it is theirs", async () => {
    const { claimCharge } = await import("../../src/billing/auto-top-ups/store.ts");
    const accountId = await setup.account(one);
    await chargeAutoTopUp(
      setup.work(one, () => Promise.reject(new PaymentProviderError("away", "no"))),
      accountId,
    );
    const [order] = await setup.orders(one, accountId);
    expect(await claimCharge(other.database.pool, order?.topUpId ?? "")).toBe(false);
  });
});

describe("the monthly cap", () => {
  it("is exact: what would pass it by a rupiah is not charged, and a mail is owed once", async () => {
    const [below, exact] = [await setup.account(one, { cap: 149_999n }), await setup.account(one, { cap: 150_000n })];
    for (let round = 0; round < 5; round += 1) for (const each of [below, exact]) await setup.round(one, each);
    expect(await setup.orders(one, below)).toHaveLength(2);
    expect(await setup.orders(one, exact)).toHaveLength(3);
    expect((await setup.notices(one, below)).filter((kind) => kind === "capped")).toHaveLength(1);
  });

  it("begins again with the month of Asia/Jakarta", async () => {
    const accountId = await setup.account(one, { cap: 50_000n });
    await setup.round(one, accountId);
    const before = `UPDATE top_up SET created_at = date_trunc('month', clock_timestamp(), 'Asia/Jakarta') + $2::interval
      WHERE account_id = $1 AND method_id IS NOT NULL`;
    await one.database.pool.query(before, [accountId, "0 seconds"]);
    await setup.round(one, accountId);
    expect(await setup.orders(one, accountId)).toHaveLength(1);
    await one.database.pool.query(before, [accountId, "-1 microsecond"]);
    await setup.round(one, accountId);
    expect(await setup.orders(one, accountId)).toHaveLength(2);
  });
});

describe("a refusal", () => {
  it("waits an hour, and three in a row pause it until the settings are saved again", async () => {
    const accountId = await setup.account(one, { card: "pay_refused_card" });
    for (let refusal = 1; refusal <= MOST_REFUSALS; refusal += 1) {
      await setup.round(one, accountId);
      await setup.round(one, accountId);
      expect(await setup.orders(one, accountId)).toHaveLength(refusal);
      // The settings are older than the refusals.
      await setup.age(one, accountId, "61 minutes");
      const older = "UPDATE auto_top_up SET resumed_at = resumed_at - interval '1 day' WHERE account_id = $1";
      await one.database.pool.query(older, [accountId]);
    }
    await setup.round(one, accountId);
    expect(await setup.orders(one, accountId)).toHaveLength(MOST_REFUSALS);
    const shown = await readAutoTopUp(one.database, accountId);
    expect(shown.pausedAt).not.toBeNull();
    await setup.tick(one);
    const notices = await setup.notices(one, accountId);
    expect(notices.toSorted()).toEqual(["failed", "failed", "failed", "paused"]);

    await setup.saveCard(one, accountId);
    await setAutoTopUp(one.database, accountId, {
      isOn: true,
      threshold: "1000000",
      amount: "50000",
      monthlyCap: "200000",
    });
    await setup.round(one, accountId);
    expect((await setup.orders(one, accountId))[0]).toMatchObject({ state: "paid" });
  });

  it("of the call itself ends the order at once", async () => {
    const accountId = await setup.account(one);
    await chargeAutoTopUp(
      setup.work(one, () => Promise.resolve({ outcome: "refused", reference: null })),
      accountId,
    );
    expect(await setup.orders(one, accountId)).toMatchObject([{ state: "failed" }]);
    expect(await posted(accountId)).toBe(10_000);
  });
});

describe("a saved method", () => {
  it("is shown without its token, and erased when it is removed", async () => {
    const accountId = await setup.account(one);
    expect(await readMethod(one.database.pool, accountId)).toMatchObject({ label: "Sandbox •••• 4242" });
    await removeMethod(one.database, accountId);
    expect(await readMethod(one.database.pool, accountId)).toBeNull();
    const text = "SELECT token FROM payment_method WHERE account_id = $1";
    expect((await one.database.pool.query(text, [accountId])).rows).toEqual([{ token: null }]);
    expect((await readAutoTopUp(one.database, accountId)).settings?.isOn).toBe(false);
  });

  it("takes the place of the former one", async () => {
    const accountId = await setup.account(one, { card: "pay_refused_card" });
    await setup.saveCard(one, accountId);
    expect(await readMethod(one.database.pool, accountId)).toMatchObject({ label: "Sandbox •••• 4242" });
    await setup.round(one, accountId);
    expect(await setup.orders(one, accountId)).toMatchObject([{ state: "paid" }]);
  });

  it("that is removed while an order is open leaves that order to its end, and no other is made", async () => {
    const accountId = await setup.account(one);
    const lost = async (charge: MethodCharge): Promise<never> => {
      await charging(charge);
      throw new PaymentProviderError("away", "no answer");
    };
    await chargeAutoTopUp(setup.work(one, lost), accountId);
    await removeMethod(one.database, accountId);
    await setup.ask(one, accountId);
    await setup.round(one, accountId);
    expect(await setup.orders(one, accountId)).toMatchObject([{ state: "paid" }]);
    expect(await posted(accountId)).toBe(60_000);
  });

  it("is not saved by a payment whose payer has not agreed, nor by one that failed", async () => {
    const accountId = await setup.topUps.money.account(0n);
    const plain = await setup.topUps.open(one, accountId);
    await one.topUps.verifyNow(plain.topUpId);
    await setup.saveCard(one, accountId, "fail");
    expect(await readMethod(one.database.pool, accountId)).toBeNull();
  });
});

it("leaves the books in order", async () => {
  expect(await setup.topUps.money.audit()).toEqual(SOUND);
});
