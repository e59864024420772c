// Commands about top-ups leave their line before a provider is asked, and a refund leaves its lines with the refund itself.

import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { returnSandboxPayment, verifyTopUp } from "../../src/operator/commands/top-ups.ts";
import type { OperatorContext } from "../../src/operator/audit-log/operator-actions.ts";
import { MICRO, type TopUpProcess, TopUpSetup } from "../top-ups/top-up-setup.ts";

let setup: TopUpSetup;
let process: TopUpProcess;
let by: OperatorContext;
beforeAll(async () => {
  setup = await TopUpSetup.create();
  by = { database: setup.money.opened.database, operator: "op@saldo.example" };
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

/** A top-up that was paid, and credited where it is verified. */
async function paidTopUp(): Promise<string> {
  const { topUpId, paymentUrl } = await setup.open(process, await setup.money.account(0n));
  await process.desk.act(paymentUrl?.split("/").at(-1) ?? "", "pay_silently");
  await process.topUps.verifyNow(topUpId);
  return topUpId;
}

it("the line of a command is there when the provider is asked, and stays when it does not answer", async () => {
  const { topUpId } = await setup.open(process, await setup.money.account(0n));
  const seen: string[][] = [];
  const verifyNow = async (id: string): Promise<never> => {
    seen.push(await linesOf(id));
    throw new Error("the provider is away");
  };
  await expect(verifyTopUp(by, verifyNow, { topUpId, reason: null })).rejects.toThrow("away");
  expect(seen).toEqual([["top-up verify"]]);
  expect(await activityOf(topUpId)).toEqual(["top_up.checked"]);
});

describe("money of the sandbox that is given back", () => {
  it("has its lines, also where the books follow later", async () => {
    const topUpId = await paidTopUp();
    const topUps = { verifyNow: () => Promise.reject(new Error("the process ends here")) };
    const part = returnSandboxPayment(by, { ...process, topUps }, { topUpId, how: "refund", amount: 5_000n * MICRO });
    await expect(part).rejects.toThrow("ends here");
    expect(await activityOf(topUpId)).toEqual(["top_up.refunded"]);
    expect(await process.topUps.verifyNow(topUpId)).toMatchObject({ state: "partially_refunded" });
    await returnSandboxPayment(by, process, chargeBack(topUpId));
    expect(await activityOf(topUpId)).toEqual(["top_up.refunded", "top_up.charged_back"]);
    expect(await linesOf(topUpId)).toEqual(["top-up refund", "top-up charge-back"]);
  });

  it("has no line where nothing is given back", async () => {
    const { topUpId: unpaid } = await setup.open(process, await setup.money.account(0n));
    const refused = { code: "validation_error" };
    const refund = (topUpId: string, amount: bigint | null) =>
      returnSandboxPayment(by, process, { topUpId, how: "refund", amount });
    await expect(refund(unpaid, null)).rejects.toMatchObject(refused);
    await expect(returnSandboxPayment(by, process, chargeBack(unpaid))).rejects.toMatchObject(refused);
    const paid = await paidTopUp();
    await expect(refund(paid, 10n ** 15n)).rejects.toMatchObject(refused);
    for (const topUpId of [unpaid, paid]) {
      expect(await activityOf(topUpId)).toEqual([]);
      expect(await linesOf(topUpId)).toEqual([]);
    }
  });

  it("is not given back where its line cannot be written", async () => {
    const topUpId = await paidTopUp();
    // PostgreSQL takes no such text.
    const unwritten = { ...by, operator: "\0" };
    const refund = returnSandboxPayment(unwritten, process, { topUpId, how: "refund", amount: null });
    await expect(refund).rejects.toThrow("invalid byte sequence");
    expect(await process.topUps.verifyNow(topUpId)).toMatchObject({ state: "paid" });
    expect([await activityOf(topUpId), await linesOf(topUpId)]).toEqual([[], []]);
  });
});

it("a command that names a top-up in capitals is about the same payment", async () => {
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
