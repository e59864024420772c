// Commands about top-ups leave their line before any money moves.

import { afterAll, beforeAll, expect, it } from "vitest";
import { returnSandboxPayment, verifyTopUp } from "../../src/operator/commands/top-ups.ts";
import { type TopUpProcess, TopUpSetup } from "../top-ups/top-up-setup.ts";

let setup: TopUpSetup;
let process: TopUpProcess;
beforeAll(async () => {
  setup = await TopUpSetup.create();
  process = await setup.process("sandbox");
});
afterAll(() => setup.close());

async function linesOf(topUpId: string): Promise<string[]> {
  const text = "SELECT action FROM operator_action WHERE subject = $1 ORDER BY id";
  return (await setup.money.pool.query<{ action: string }>(text, [topUpId])).rows.map(({ action }) => action);
}

/** What the account reads of it. */
async function activityOf(topUpId: string): Promise<string[]> {
  const text = "SELECT action FROM account_activity WHERE subject = $1 AND actor = 'operator' ORDER BY id";
  return (await setup.money.pool.query<{ action: string }>(text, [topUpId])).rows.map(({ action }) => action);
}

const chargeBack = (topUpId: string) => ({ topUpId, how: "charge-back", amount: null }) as const;

it("the line of a command is there when the provider is asked, and stays when it does not answer", async () => {
  const by = { database: setup.money.opened.database, operator: "op@saldo.example" };
  const { topUpId } = await setup.open(process, await setup.money.account(0n));
  const seen: string[][] = [];
  const verifyNow = async (id: string): Promise<never> => {
    seen.push(await linesOf(id));
    throw new Error("the provider is away");
  };
  await expect(verifyTopUp(by, verifyNow, { topUpId, reason: null })).rejects.toThrow("away");
  const desk = {
    ...process.desk,
    refund: async (id: string) => void seen.push(await linesOf(id)),
  };
  const parts = { topUps: process.topUps, desk };
  await returnSandboxPayment(by, parts, { topUpId, how: "refund", amount: null });
  expect(seen).toEqual([["top-up verify"], ["top-up verify", "top-up refund"]]);
  await returnSandboxPayment(by, { ...parts, desk: { ...desk, chargeBack: async () => {} } }, chargeBack(topUpId));
  expect(await activityOf(topUpId)).toEqual(["top_up.checked", "top_up.refunded", "top_up.charged_back"]);
});

it("a command that names a top-up in capitals is about the same payment", async () => {
  const by = { database: setup.money.opened.database, operator: "op@saldo.example" };
  const accountId = await setup.money.account(0n);
  const { topUpId, paymentUrl } = await setup.open(process, accountId);
  const command = { topUpId: topUpId.toUpperCase(), reason: null };
  const { topUps, desk } = process;
  await desk.act(paymentUrl?.split("/").at(-1) ?? "", "pay_silently");
  // Also by itself: the operator may have the id from another source.
  expect(await topUps.verifyNow(command.topUpId)).toMatchObject({ topUpId, state: "paid" });
  const verified = await verifyTopUp(by, (id) => topUps.verifyNow(id), command);
  expect(verified).toMatchObject({ topUpId, state: "paid" });
  const returned = await returnSandboxPayment(by, { topUps, desk }, { ...command, how: "refund", amount: null });
  expect(returned).toMatchObject({ topUpId, state: "refunded" });
  expect(await linesOf(topUpId)).toEqual(["top-up verify", "top-up refund"]);
});
