// What stops automatic top-ups: its owner, an operator, a payment that was given back, and a process that slept.

import { afterAll, beforeAll, expect, it } from "vitest";
import { chargeAutoTopUp } from "../../src/billing/auto-top-ups/charge-auto-top-ups.ts";
import { readMethod } from "../../src/billing/auto-top-ups/saved-method.ts";
import { readAutoTopUp, removeMethod, setAutoTopUp } from "../../src/billing/auto-top-ups/settings.ts";
import { paymentOfOrder } from "../../src/billing/payments/sandbox/store.ts";
import { SOUND } from "../money/money-setup.ts";
import type { TopUpProcess } from "../top-ups/top-up-setup.ts";
import { AutoTopUpSetup, RUPIAH } from "./auto-top-up-setup.ts";

let setup: AutoTopUpSetup;
let one: TopUpProcess;
beforeAll(async () => {
  setup = await AutoTopUpSetup.create();
  one = await setup.process();
});
afterAll(() => setup.close());

const SETTINGS = { isOn: true, threshold: "1000000", amount: "50000", monthlyCap: "500000" };
const run = (text: string, values: readonly unknown[] = []) => one.database.pool.query(text, [...values]);
const stopAdmission = () =>
  run("UPDATE admission_switch SET stopped_at = clock_timestamp(), reason = 'restored from a backup'");
const startAdmission = () => run("UPDATE admission_switch SET stopped_at = NULL, reason = NULL");

/** The charges that were called for an order which was decided before `between` happened. */
async function calledBehind(accountId: string, between: () => Promise<unknown>): Promise<number> {
  let calls = 0;
  const work = setup.work(one, async () => {
    calls += 1;
    return { outcome: "taken", reference: null };
  });
  // The order is committed before its provider is looked up, and nothing is claimed yet.
  let isBetween = true;
  const waiting = {
    ...work,
    providers: {
      ...work.providers,
      of: (name: string) => {
        if (isBetween) stopped = between();
        isBetween = false;
        return work.providers.of(name);
      },
    },
  };
  let stopped: Promise<unknown> = Promise.resolve();
  const database = { ...work.database, pool: waitFor(() => stopped) };
  await chargeAutoTopUp({ ...waiting, database }, accountId);
  expect(await setup.orders(one, accountId)).toHaveLength(1);
  return calls;
}

/** The pool, whose next connection waits for what happens meanwhile. */
function waitFor(meanwhile: () => Promise<unknown>): typeof one.database.pool {
  return new Proxy(one.database.pool, {
    get(pool, name) {
      const member: unknown = Reflect.get(pool, name, pool);
      if (typeof member !== "function") return member;
      if (name !== "connect" && name !== "query") return member.bind(pool) as unknown;
      return async (...values: unknown[]) => {
        await meanwhile();
        return Reflect.apply(member, pool, values) as unknown;
      };
    },
  });
}

it.each([
  ["its method was removed", (accountId: string) => removeMethod(one.database, accountId), async () => {}],
  ["another method took its place", (accountId: string) => setup.saveCard(one, accountId), async () => {}],
  [
    "it was turned off",
    (accountId: string) => setAutoTopUp(one.database, accountId, { ...SETTINGS, isOn: false }),
    async () => {},
  ],
  [
    "the account was frozen",
    (accountId: string) => run("UPDATE account SET frozen_at = clock_timestamp() WHERE id = $1", [accountId]),
    async () => {},
  ],
  ["an operator stopped admission", stopAdmission, startAdmission],
] as const)("charges nothing where %s behind the order", async (_name, stop, start) => {
  const accountId = await setup.account(one);
  try {
    expect(await calledBehind(accountId, () => stop(accountId))).toBe(0);
  } finally {
    await start();
  }
});

it("charges an order that nothing has stopped", async () => {
  expect(await calledBehind(await setup.account(one), async () => {})).toBe(1);
});

it("orders nothing while admission is stopped, as behind a restore", async () => {
  const accountId = await setup.account(one);
  await stopAdmission();
  try {
    await setup.tick(one);
    await setup.round(one, accountId);
    expect(await setup.orders(one, accountId)).toEqual([]);
  } finally {
    await startAdmission();
  }
  await setup.round(one, accountId);
  expect(await setup.orders(one, accountId)).toHaveLength(1);
});

it("makes no call where the process slept behind its claim", async () => {
  const accountId = await setup.account(one);
  let calls = 0;
  const work = setup.work(one, async () => {
    calls += 1;
    return { outcome: "taken", reference: null };
  });
  await chargeAutoTopUp({ ...work, callWithinMs: 0 }, accountId);
  expect(calls).toBe(0);
  expect(await setup.orders(one, accountId)).toMatchObject([{ state: "canceled" }]);
});

it("is paused by an automatic payment that was given back, until the settings are saved again", async () => {
  const accountId = await setup.account(one);
  await setup.round(one, accountId);
  const [order] = await setup.orders(one, accountId);
  await one.desk.chargeBack(order?.topUpId ?? "");
  await setup.ask(one, accountId);
  await setup.round(one, accountId);
  expect(await setup.orders(one, accountId)).toMatchObject([{ state: "charged_back" }]);
  expect((await readAutoTopUp(one.database, accountId)).pausedAt).not.toBeNull();
  expect(await setup.notices(one, accountId)).toContain("paused");
  await setAutoTopUp(one.database, accountId, SETTINGS);
  await setup.round(one, accountId);
  expect(await setup.orders(one, accountId)).toHaveLength(2);
});

it("is paused where the payment that saved the method was charged back", async () => {
  const accountId = await setup.account(one);
  const { items } = await one.topUps.list({ accountId, pageSize: 10, pageToken: "" });
  const saving = items[0]?.topUpId ?? "";
  await one.desk.chargeBack(saving);
  await one.topUps.verifyNow(saving);
  await setup.round(one, accountId);
  expect(await setup.orders(one, accountId)).toEqual([]);
  expect((await readAutoTopUp(one.database, accountId)).pausedAt).not.toBeNull();
});

it("saves no method by an order of before the last one was removed", async () => {
  const accountId = await setup.account(one);
  const order = { accountId, amount: 10_000n * RUPIAH, idempotencyKey: "before the removal", savesMethod: true };
  const { topUpId } = await one.topUps.create(order);
  await removeMethod(one.database, accountId);
  const payment = await paymentOfOrder(one.database.pool, topUpId);
  await one.desk.act(payment?.token ?? "", "pay");
  await one.topUps.verifyNow(topUpId);
  expect(await readMethod(one.database.pool, accountId)).toBeNull();
  expect((await one.topUps.list({ accountId, pageSize: 10, pageToken: "" })).items[0]).toMatchObject({ state: "paid" });
});

it("opens no page for an automatic order under its key", async () => {
  const accountId = await setup.account(one);
  await setup.round(one, accountId);
  const [order] = await setup.orders(one, accountId);
  const again = { accountId, amount: 50_000n * RUPIAH, idempotencyKey: `automatic:${order?.topUpId ?? ""}` };
  await expect(one.topUps.create(again)).rejects.toThrow("is that of an automatic top-up");
});

it("leaves the books in order", async () => {
  expect(await setup.topUps.money.audit()).toEqual(SOUND);
});
