// The money at a provider in our books equals its statement: without its fees, and with payments above their orders.

import { describe, expect, it } from "vitest";
import { ValidationError } from "../../src/kernel/errors.ts";
import { parseFeeRule } from "../../src/kernel/provider-fee-rule.ts";
import { readTrialBalance } from "../../src/ledger/trial-balance.ts";
import { postProviderFee } from "../../src/operator/commands/top-ups.ts";
import { one, useTwoProcesses, setup } from "./two-processes.ts";
import { MICRO, RUPIAH, type TopUpProcess } from "./top-up-setup.ts";

useTwoProcesses();

/** The sum of one of our accounts for one top-up, in rupiah; above zero: income. */
async function movedOf(topUpId: string): Promise<Record<string, number>> {
  const { rows } = await setup.money.pool.query<{ reason: string; amount: string }>(
    "SELECT reason, sum(amount) AS amount FROM posting WHERE group_id = $1 GROUP BY reason",
    [topUpId],
  );
  return Object.fromEntries(rows.map(({ reason, amount }) => [reason, Number(amount) / Number(MICRO)]));
}

/** The money at the provider of one top-up in our books, in rupiah. */
async function clearingOf(topUpId: string): Promise<number> {
  const { rows } = await setup.money.pool.query<{ left: string }>(
    `SELECT sum(CASE WHEN debit::text LIKE '%000003' THEN amount ELSE -amount END) AS left FROM posting
     WHERE group_id = $1 AND '00000000-0000-7000-8000-000000000003' IN (debit, credit)`,
    [topUpId],
  );
  return Number(rows[0]?.left ?? 0) / Number(MICRO);
}

async function opened(process: TopUpProcess): Promise<{ accountId: string; topUpId: string }> {
  const accountId = await setup.money.account(0n);
  const { topUpId } = await setup.open(process, accountId);
  return { accountId, topUpId };
}

describe("what a provider keeps of a payment", () => {
  it("is posted once, from what Xendit receives of an invoice, and costs the customer nothing", async () => {
    const process = await setup.process("xendit");
    const { accountId, topUpId } = await opened(process);
    setup.fake.set(topUpId, { status: "paid", kept: 4_500 });
    await process.topUps.verifyNow(topUpId);
    setup.fake.set(topUpId, { status: "captured" });
    await process.topUps.verifyNow(topUpId);
    expect(await movedOf(topUpId)).toEqual({ top_up: RUPIAH, provider_fee: 4_500 });
    expect(await clearingOf(topUpId)).toBe(RUPIAH - 4_500);
    expect(await setup.standing(accountId)).toEqual({ available: RUPIAH, owed: 0 });
  });

  it("is posted also where it is known later than the payment", async () => {
    const process = await setup.process("xendit");
    const { topUpId } = await opened(process);
    setup.fake.set(topUpId, { status: "paid" });
    await process.topUps.verifyNow(topUpId);
    expect(await movedOf(topUpId)).toEqual({ top_up: RUPIAH });
    setup.fake.set(topUpId, { status: "captured", kept: 4_500 });
    await process.topUps.verifyNow(topUpId);
    expect(await movedOf(topUpId)).toEqual({ top_up: RUPIAH, provider_fee: 4_500 });
  });

  it("is what the operator has set, where the provider reports nothing", async () => {
    const process = await setup.process("midtrans", { fee: parseFeeRule("0.7%+1000") ?? null });
    const { topUpId } = await opened(process);
    setup.fake.set(topUpId, { status: "pending" });
    await process.topUps.verifyNow(topUpId);
    expect(await movedOf(topUpId)).toEqual({});
    setup.fake.set(topUpId, { status: "paid" });
    await process.topUps.verifyNow(topUpId);
    expect(await movedOf(topUpId)).toEqual({ top_up: RUPIAH, provider_fee: 1_175 });
  });

  it("is posted by hand once for each reference, and then not by an answer", async () => {
    const by = { database: one.database, operator: "test" };
    const accountId = await setup.money.account(0n);
    const { topUpId } = await setup.paid(one, accountId);
    expect(await movedOf(topUpId)).toEqual({ top_up: RUPIAH });
    const order = { topUpId, amount: 4_000n * MICRO, reference: `statement-${topUpId}` };
    const posted = await Promise.all([1, 2, 3].map(() => postProviderFee(by, order)));
    expect(posted.filter(({ isNew }) => isNew)).toHaveLength(1);
    await expect(postProviderFee(by, { ...order, amount: 1n })).rejects.toThrow(ValidationError);
    await expect(postProviderFee(by, { ...order, amount: 0n, reference: "none" })).rejects.toThrow(ValidationError);
    const unpaid = await opened(one);
    await expect(postProviderFee(by, { ...order, ...unpaid, reference: "unpaid" })).rejects.toThrow(ValidationError);
    const charging = await setup.process("midtrans", { fee: parseFeeRule("4000") ?? null });
    await charging.topUps.verifyNow(topUpId);
    expect(await movedOf(topUpId)).toEqual({ top_up: RUPIAH, provider_fee: 4_000 });
  });
});

describe("what is paid above an order", () => {
  it("is posted beside the credit, and goes back with the whole payment", async () => {
    const { accountId, topUpId } = await opened(one);
    await setup.happens(one, topUpId, { status: "paid", gross: RUPIAH + 4_500 });
    expect(await movedOf(topUpId)).toEqual({ top_up: RUPIAH, overpayment: 4_500 });
    expect(await clearingOf(topUpId)).toBe(RUPIAH + 4_500);
    expect(await setup.standing(accountId)).toEqual({ available: RUPIAH, owed: 0 });
    await setup.happens(one, topUpId, { status: "refunded", refunded: RUPIAH + 4_500 });
    expect(await clearingOf(topUpId)).toBe(0);
    expect(await setup.standing(accountId)).toEqual({ available: 0, owed: 0 });
  });
});

describe("the books", () => {
  it("balance with both, under names of their own", async () => {
    const { rows, isBalanced } = await readTrialBalance(setup.money.pool);
    expect(isBalanced).toBe(true);
    expect(rows.map(({ accountClass }) => accountClass)).toEqual(
      expect.arrayContaining(["provider_fees", "overpayments", "provider_clearing"]),
    );
  });

  it("do not hold the fee of a payment that never was", async () => {
    const { topUpId } = await opened(one);
    await setup.money.asOwner(`INSERT INTO posting (account_id, id, group_id, asset, debit, credit, amount, reason)
      VALUES ((SELECT account_id FROM top_up WHERE id = '${topUpId}'), '${topUpId}', '${topUpId}', 'IDR/6', '00000000-0000-7000-8000-00000000000c', '00000000-0000-7000-8000-000000000003', 1, 'provider_fee')`);
    const { violations } = await setup.money.audit();
    expect(violations).toMatchObject([
      { check: "what a payment provider keeps is of a paid top-up", subject: topUpId },
    ]);
    await setup.money
      .asOwner(`ALTER TABLE posting DISABLE TRIGGER append_only; DELETE FROM posting WHERE id = '${topUpId}';
      ALTER TABLE posting ENABLE ALWAYS TRIGGER append_only`);
  });
});
