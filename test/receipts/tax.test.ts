// The tax on top-ups: the provider is asked for it, the account is not credited with it, and it goes back with the payment.

import fc from "fast-check";
import { beforeAll, describe, expect, it } from "vitest";
import { ValidationError } from "../../src/kernel/errors.ts";
import { systemAccounts } from "../../src/ledger/system-accounts.ts";
import { readTrialBalance } from "../../src/ledger/trial-balance.ts";
import { one, other, setup, stateOf, useTwoProcesses } from "../top-ups/two-processes.ts";
import { MICRO } from "../top-ups/top-up-setup.ts";
import { issue, postedBetween, receiptsOf, setTax } from "./receipt-setup.ts";

const { providerClearing, taxPayable } = systemAccounts;
const NET = 100_000n * MICRO;
const TAX = 11_000n * MICRO;

useTwoProcesses();
beforeAll(() => setTax({ rate: 1_100, isIncluded: false }));

const taxed = (topUpId: string) => postedBetween(topUpId, providerClearing, taxPayable);
const untaxed = (topUpId: string) => postedBetween(topUpId, taxPayable, providerClearing);

/** Changes rows that are never changed, past their triggers. */
const rewrite = (table: "posting" | "receipt", sql: string): Promise<unknown> =>
  setup.money.asOwner(`ALTER TABLE ${table} DISABLE TRIGGER append_only; ${sql};
    ALTER TABLE ${table} ENABLE ALWAYS TRIGGER append_only`);

describe("the tax on a top-up", () => {
  it("is paid on top of it, posted as payable, and not on the balance", async () => {
    const accountId = await setup.money.account(0n);
    const { topUpId, amount, tax } = await setup.open(one, accountId, NET);
    expect([amount, tax]).toEqual([NET, TAX]);
    expect(setup.fake.payment(topUpId)?.amount).toBe(111_000);
    setup.fake.set(topUpId, { status: "paid" });
    await Promise.all([one, other, one].map(({ topUps }) => topUps.verifyNow(topUpId)));
    expect(await setup.standing(accountId)).toEqual({ available: 100_000, owed: 0 });
    expect([await taxed(topUpId), await untaxed(topUpId)]).toEqual([TAX, 0n]);
    const { rows, sums } = await readTrialBalance(one.database.pool);
    expect(rows.find(({ accountClass }) => accountClass === "tax_payable")?.credits).toBeGreaterThanOrEqual(TAX);
    expect(sums.map(({ balance }) => balance)).toEqual(sums.map(() => 0n));
  });

  it("is in the amount where prices include it, and the account is credited with the rest", async () => {
    await setTax({ rate: 1_100, isIncluded: true });
    const accountId = await setup.money.account(0n);
    const { topUpId, amount, tax } = await setup.paid(one, accountId, 50_000n * MICRO);
    expect([amount, tax]).toEqual([45_045n * MICRO, 4_955n * MICRO]);
    expect(setup.fake.payment(topUpId)?.amount).toBe(50_000);
    expect(await setup.standing(accountId)).toEqual({ available: 45_045, owed: 0 });
    // The least amount is the one that is credited.
    await expect(setup.open(one, accountId, 11_099n * MICRO)).rejects.toThrow(ValidationError);
    expect((await setup.open(one, accountId, 11_100n * MICRO)).amount).toBe(10_000n * MICRO);
    await setTax({ rate: 1_100, isIncluded: false });
  });

  it("has to be paid, too: a payment of the amount alone is not credited", async () => {
    const accountId = await setup.money.account(0n);
    const { topUpId } = await setup.open(one, accountId, NET);
    setup.fake.set(topUpId, { status: "paid", gross: 100_000 });
    await one.topUps.verifyNow(topUpId);
    expect(await stateOf(accountId, topUpId)).toBe("review");
    expect(await setup.standing(accountId)).toEqual({ available: 0, owed: 0 });
    expect(await taxed(topUpId)).toBe(0n);
  });

  it("is posted once, with one receipt, however often the provider notifies", async () => {
    const accountId = await setup.money.account(0n);
    const { topUpId } = await setup.open(one, accountId, NET);
    setup.fake.set(topUpId, { status: "paid" });
    for (const process of [one, other, one]) {
      await Promise.all([setup.notify(process, topUpId), setup.notify(other, topUpId)]);
      await Promise.all([one.topUps.verifyNow(topUpId), other.topUps.verifyNow(topUpId)]);
      await Promise.all([issue(one), issue(other)]);
    }
    expect(await taxed(topUpId)).toBe(TAX);
    expect(await setup.creditsOf(topUpId)).toBe(1);
    expect(await receiptsOf(topUpId)).toMatchObject([{ kind: "receipt", net: NET, tax: TAX }]);
  });

  it("of an order stays what it was when it was ordered", async () => {
    const accountId = await setup.money.account(0n);
    const { topUpId } = await setup.open(one, accountId, NET);
    await setTax({ rate: 0, isIncluded: false });
    setup.fake.set(topUpId, { status: "paid" });
    await other.topUps.verifyNow(topUpId);
    expect(await taxed(topUpId)).toBe(TAX);
    const untouched = await setup.paid(one, accountId, NET);
    expect(untouched.tax).toBe(0n);
    expect(await taxed(untouched.topUpId)).toBe(0n);
    await setTax({ rate: 1_100, isIncluded: false });
  });

  it("goes back with the payment, in parts and then whole, each with a credit note", async () => {
    const accountId = await setup.money.account(0n);
    const { topUpId } = await setup.paid(one, accountId, NET);
    await issue(one);
    await setup.happens(one, topUpId, { status: "partially_refunded", refunded: 55_500 });
    expect(await setup.standing(accountId)).toEqual({ available: 50_000, owed: 0 });
    expect(await untaxed(topUpId)).toBe(5_500n * MICRO);
    await issue(other);
    await setup.happens(other, topUpId, { status: "refunded", refunded: 111_000 });
    expect(await setup.standing(accountId)).toEqual({ available: 0, owed: 0 });
    expect(await untaxed(topUpId)).toBe(TAX);
    await Promise.all([issue(one), issue(other)]);
    expect(await receiptsOf(topUpId)).toMatchObject([
      { kind: "receipt", series: "KW", net: NET, tax: TAX },
      { kind: "credit_note", series: "NK", net: 50_000n * MICRO, tax: 5_500n * MICRO },
      { kind: "credit_note", series: "NK", net: 50_000n * MICRO, tax: 5_500n * MICRO },
    ]);
  });

  it("goes back in whole rupiah, whatever parts are refunded, and the credit notes come to the receipt", async () => {
    const refunded = fc.tuple(
      fc.integer({ min: 10_000, max: 2_000_000 }),
      fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { minLength: 1, maxLength: 4 }),
    );
    await fc.assert(
      fc.asyncProperty(refunded, async ([rupiah, shares]) => {
        const accountId = await setup.money.account(0n);
        const { topUpId, amount, tax } = await setup.paid(one, accountId, BigInt(rupiah) * MICRO);
        await issue(one);
        const whole = Number((amount + tax) / MICRO);
        let last: bigint[] = [];
        const sums = [...new Set(shares.map((share) => 1 + Math.floor(share * (whole - 1))))].toSorted((a, b) => a - b);
        for (const sum of [...sums.filter((each) => each < whole), whole]) {
          const status = sum === whole ? "refunded" : "partially_refunded";
          await setup.happens(one, topUpId, { status, refunded: sum });
          await issue(other);
          const [, ...notes] = await receiptsOf(topUpId);
          const sumOf = (part: "net" | "tax") => notes.reduce((before, note) => before + note[part], 0n);
          expect(notes.every(({ net, tax: noted }) => net % MICRO === 0n && noted % MICRO === 0n)).toBe(true);
          expect(sumOf("net") + sumOf("tax")).toBe(BigInt(sum) * MICRO);
          expect(await untaxed(topUpId)).toBe(sumOf("tax"));
          last = [sumOf("net"), sumOf("tax")];
        }
        expect(last).toEqual([amount, tax]);
      }),
      { numRuns: 12 },
    );
    expect((await setup.money.audit()).violations).toEqual([]);
  });

  it("is whole on the next credit note where a former version gave parts of a rupiah back, and the audit takes both", async () => {
    const accountId = await setup.money.account(0n);
    const { topUpId } = await setup.paid(one, accountId, NET);
    await issue(one);
    await setup.happens(one, topUpId, { status: "partially_refunded", refunded: 10_812 });
    // As the former rule divided it: 1 071.459459 of 10 812.
    const more = 459_459n;
    await rewrite(
      "posting",
      `UPDATE posting SET amount = amount + CASE debit WHEN '${accountId}' THEN -${more} ELSE ${more} END
       WHERE group_id = '${topUpId}' AND debit IN ('${accountId}', '${taxPayable}')`,
    );
    await setup.money.asOwner(`UPDATE account SET posted = posted + ${more} WHERE id = '${accountId}';
      UPDATE top_up SET given_back = given_back - ${more}, tax_given_back = tax_given_back + ${more} WHERE id = '${topUpId}'`);
    await issue(one);
    expect((await setup.money.audit()).violations).toEqual([]);
    await setup.happens(other, topUpId, { status: "partially_refunded", refunded: 10_813 });
    await issue(one);
    expect(await untaxed(topUpId)).toBe(1_072n * MICRO);
    await setup.happens(other, topUpId, { status: "refunded", refunded: 111_000 });
    await issue(one);
    const [, ...notes] = await receiptsOf(topUpId);
    expect(notes.reduce((sum, { tax }) => sum + tax, 0n)).toBe(TAX);
    expect((await setup.money.audit()).violations).toEqual([]);
  });

  it("is found by the audit where a credit note has another tax than went back", async () => {
    const accountId = await setup.money.account(0n);
    const { topUpId } = await setup.paid(one, accountId, NET);
    await issue(one);
    await setup.happens(one, topUpId, { status: "refunded", refunded: 111_000 });
    await issue(one);
    const shift = (rupiah: number) =>
      rewrite(
        "receipt",
        `UPDATE receipt SET tax = tax - ${rupiah * 1_000_000}, net = net + ${rupiah * 1_000_000}
         WHERE top_up_id = '${topUpId}' AND kind = 'credit_note'`,
      );
    await shift(1);
    expect((await setup.money.audit()).violations).toMatchObject([
      { check: "the credit notes of a top-up have the tax that went back", subject: topUpId },
    ]);
    await shift(-1);
    expect((await setup.money.audit()).violations).toEqual([]);
  });

  it("goes back by a chargeback whose amount the account has used", async () => {
    const accountId = await setup.money.account(0n);
    const { topUpId } = await setup.paid(one, accountId, NET);
    await setup.spend(accountId, 60_000n * MICRO);
    await setup.happens(one, topUpId, { status: "charged_back" });
    expect(await setup.standing(accountId)).toEqual({ available: 0, owed: 60_000 });
    expect(await untaxed(topUpId)).toBe(TAX);
    await issue(one);
    expect(await receiptsOf(topUpId)).toMatchObject([
      { kind: "receipt", net: NET, tax: TAX },
      { kind: "credit_note", net: NET, tax: TAX },
    ]);
  });

  it("needs a seller with an NPWP", async () => {
    const withoutNumber = { name: "Warung", address: "", npwp: "" };
    await expect(setTax({ rate: 1_100, isIncluded: false }, withoutNumber)).rejects.toThrow(/NPWP|npwp/);
    await expect(setTax({ rate: 2_501, isIncluded: false })).rejects.toThrow(ValidationError);
  });

  it("is impossible by a constraint, which the audit misses, and so are rows that it would have refused", async () => {
    const accountId = await setup.money.account(0n);
    const { topUpId } = await setup.paid(one, accountId, NET);
    const definition = (await setup.money.asOwner(
      "SELECT pg_get_constraintdef(oid) AS text FROM pg_constraint WHERE conname = 'top_up_tax'",
    )) as readonly { readonly text: string }[];
    const names = async () => (await setup.money.audit()).violations.map(({ check }) => check);
    const wrong = `UPDATE top_up SET tax_given_back = tax + 1 WHERE id = '${topUpId}'`;
    await expect(setup.money.asOwner(wrong)).rejects.toThrow("top_up_tax");
    expect(await names()).toEqual([]);
    await setup.money.asOwner("ALTER TABLE top_up DROP CONSTRAINT top_up_tax");
    expect(await names()).toContain("the database refuses what must never be of a tax");
    await setup.money.asOwner(wrong);
    expect(await names()).toContain("the tax of a top-up is possible, and no more of it goes back");
    await setup.money.asOwner(`UPDATE top_up SET tax_given_back = NULL WHERE id = '${topUpId}'`);
    await setup.money.asOwner(`ALTER TABLE top_up ADD CONSTRAINT top_up_tax ${definition[0]?.text ?? ""}`);
  });

  it("has a least order, which the terms name and below which no order is taken", async () => {
    await setTax({ rate: 1_100, isIncluded: true });
    const accountId = await setup.money.account(0n);
    await expect(setup.open(one, accountId, 11_099n * MICRO)).rejects.toThrow("at least 11100");
    expect((await setup.open(one, accountId, 11_100n * MICRO)).topUpId).toBeDefined();
    await setTax({ rate: 1_100, isIncluded: false });
  });

  it("is missed by the audit where a version before the tax gave the payment back", async () => {
    const accountId = await setup.money.account(0n);
    const { topUpId } = await setup.paid(one, accountId, NET);
    const names = async () => (await setup.money.audit()).violations.map(({ check }) => check);
    const check = "what was given back of a taxed top-up has its part of the tax";
    expect(await names()).not.toContain(check);
    const row = `WHERE id = '${topUpId}'`;
    await setup.money.asOwner(`UPDATE top_up SET state = 'refunded', given_back = amount ${row}`);
    expect(await names()).toContain(check);
    await setup.money.asOwner(`UPDATE top_up SET state = 'paid', given_back = 0 ${row}`);
    expect(await names()).not.toContain(check);
  });
});
