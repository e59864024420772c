// Automatic top-ups as operators look at them, and turn them off.

import { afterAll, beforeAll, expect, it } from "vitest";
import { chargeAutoTopUp } from "../../src/billing/auto-top-ups/charge-auto-top-ups.ts";
import { readAutoTopUp, setAutoTopUp } from "../../src/billing/auto-top-ups/settings.ts";
import { uuidv7 } from "../../src/kernel/ids.ts";
import { turnOffAutoTopUp } from "../../src/operator/commands/auto-top-ups.ts";
import { runSaldo, saldoJson } from "../setup/saldo-command.ts";
import type { TopUpProcess } from "../top-ups/top-up-setup.ts";
import { AutoTopUpSetup, EACH } from "./auto-top-up-setup.ts";

const REASON = "the bank asked for it";

let setup: AutoTopUpSetup;
let one: TopUpProcess;
let settings: Record<string, string>;
beforeAll(async () => {
  setup = await AutoTopUpSetup.create();
  one = await setup.process();
  settings = { DATABASE_URL: setup.topUps.money.opened.url };
});
afterAll(() => setup.close());

const command = (name: string, accountId: string, ...more: string[]): string[] => [
  "auto-top-up",
  name,
  "--account",
  accountId,
  ...more,
];
const off = (accountId: string) => saldoJson(command("off", accountId, "--reason", REASON), settings);

async function linesOf(table: "operator_action" | "account_activity", accountId: string): Promise<unknown[]> {
  const which = table === "operator_action" ? "subject" : "account_id";
  const text = `SELECT * FROM ${table} WHERE ${which} = $1 AND action LIKE 'auto%' ORDER BY id`;
  return (await one.database.pool.query(text, [accountId])).rows;
}

/** Leaves an order open: its provider has taken it, and has not finished it. */
const leaveOpen = (accountId: string): Promise<void> =>
  chargeAutoTopUp(
    setup.work(one, async () => ({ outcome: "taken", reference: null })),
    accountId,
  );

it("shows an account without any as off", async () => {
  const accountId = await setup.topUps.money.account(0n);
  expect(await saldoJson(command("show", accountId), settings)).toEqual({
    accountId,
    isOn: false,
    pausedAt: null,
    thresholdIdr: null,
    amountIdr: null,
    monthlyCapIdr: null,
    chargedThisMonthIdr: "0",
    leftThisMonthIdr: null,
    method: null,
    provider: null,
    methodSavedAt: null,
    openOrder: null,
  });
  expect((await runSaldo(command("show", uuidv7()), settings)).code).toBe(1);
  expect((await runSaldo(["auto-top-up", "show"], settings)).code).toBe(2);
});

it("shows the settings, what the month came to and what is left of its cap, and the open order", async () => {
  const accountId = await setup.account(one, { cap: 120_000n });
  await setup.round(one, accountId);
  expect(await saldoJson(command("show", accountId), settings)).toMatchObject({
    isOn: true,
    thresholdIdr: "1000000",
    amountIdr: "50000",
    monthlyCapIdr: "120000",
    chargedThisMonthIdr: `${EACH}`,
    leftThisMonthIdr: "70000",
    provider: "sandbox",
    openOrder: null,
  });
  await leaveOpen(accountId);
  const shown = await saldoJson(command("show", accountId), settings);
  expect(shown).toMatchObject({ chargedThisMonthIdr: "100000", leftThisMonthIdr: "20000" });
  const [order] = await setup.orders(one, accountId);
  expect(shown["openOrder"]).toEqual({
    topUpId: order?.topUpId,
    provider: "sandbox",
    state: order?.state,
    paidIdr: `${EACH}`,
    createdAt: order?.createdAt.toISOString(),
    calledAt: expect.any(String) as string,
  });
  const { code, stdout } = await runSaldo(command("show", accountId), settings);
  expect(code).toBe(0);
  expect(stdout).toMatch(/^is on: yes$/m);
  expect(stdout).toMatch(/^left this month: Rp 20,000\.00$/m);
  expect(stdout).toMatch(new RegExp(`^open order, top up id: ${order?.topUpId}$`, "m"));
  expect(stdout).not.toMatch(/[{}[\]]/);
});

it("an account that is turned off is charged no more, and its members read it without the reason", async () => {
  const accountId = await setup.account(one);
  const untouched = await setup.account(one);
  expect(await off(accountId)).toMatchObject({ wasOn: true, isOn: false, amountIdr: "50000" });
  await setup.round(one, accountId);
  await setup.round(one, untouched);
  expect(await setup.orders(one, accountId)).toEqual([]);
  expect(await setup.orders(one, untouched)).toHaveLength(1);
  const facts = { amount: "50000", monthlyCap: "200000" };
  expect(await linesOf("operator_action", accountId)).toEqual([
    expect.objectContaining({ action: "auto-top-up off", reason: REASON, facts }),
  ]);
  const lines = await linesOf("account_activity", accountId);
  expect(lines).toEqual([
    expect.objectContaining({ action: "auto_top_up.turned_off", actor: "operator", person_id: null }),
  ]);
  expect(JSON.stringify(lines)).not.toContain(REASON);
});

it("turning off what is off changes nothing and leaves no line, and needs a reason", async () => {
  const accountId = await setup.account(one);
  const at = () => one.database.pool.query("SELECT * FROM auto_top_up WHERE account_id = $1", [accountId]);
  const by = { database: one.database, operator: "op@saldo.example" };
  await expect(turnOffAutoTopUp(by, { accountId, reason: " " })).rejects.toMatchObject({ code: "validation_error" });
  expect((await readAutoTopUp(one.database, accountId)).settings?.isOn).toBe(true);
  expect((await runSaldo(command("off", accountId), settings)).code).toBe(2);
  await Promise.all([off(accountId), off(accountId), off(accountId)]);
  const { rows: before } = await at();
  expect(await off(accountId)).toMatchObject({ wasOn: false, isOn: false });
  expect((await at()).rows).toEqual(before);
  expect(await linesOf("operator_action", accountId)).toHaveLength(1);
  expect(await linesOf("account_activity", accountId)).toHaveLength(1);
  const none = await setup.topUps.money.account(0n);
  expect(await off(none)).toMatchObject({ wasOn: false, thresholdIdr: null });
  expect(await linesOf("operator_action", none)).toEqual([]);
});

it("a charge that is made goes on, and its order is shown until the provider has ended it", async () => {
  const accountId = await setup.account(one);
  await leaveOpen(accountId);
  expect(await off(accountId)).toMatchObject({ wasOn: true, openOrder: { paidIdr: `${EACH}` } });
  // A member turns it on again: the order that is open is still the only one.
  const written = { isOn: true, threshold: "1000000", amount: "50000", monthlyCap: "200000" };
  await setAutoTopUp(one.database, accountId, written);
  await leaveOpen(accountId);
  expect(await setup.orders(one, accountId)).toHaveLength(1);
});
