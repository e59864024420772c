// Receipts have numbers without gaps, and a top-up has one, whatever processes do at the same time and wherever one stops.

import { afterEach, describe, expect, it } from "vitest";
import { setBuyer } from "../../src/billing/receipts/receipts.ts";
import { type Failpoint, observeFailpoints } from "../../src/kernel/failpoint.ts";
import { one, other, setup, useTwoProcesses } from "../top-ups/two-processes.ts";
import { allReceipts, countWithoutGaps, issue, receiptsOf, SELLER, setTax } from "./receipt-setup.ts";

useTwoProcesses();
afterEach(() => observeFailpoints(undefined));

async function paidTopUps(count: number): Promise<string[]> {
  const accountId = await setup.money.account(0n);
  const paid: string[] = [];
  for (let each = 0; each < count; each += 1) paid.push((await setup.paid(one, accountId)).topUpId);
  return paid;
}

/** A process that stops at a place, every `nth` time it passes it. */
function stopAt(place: Failpoint, nth: number): void {
  let passed = 0;
  observeFailpoints((reached) => {
    if (reached !== place) return;
    passed += 1;
    if (passed % nth === 0) throw new Error("the process has stopped");
  });
}

describe("receipts", () => {
  it("are not written before a seller is set, and then for all that was paid before", async () => {
    const topUps = await paidTopUps(2);
    expect(await issue(one)).toBe(0);
    expect(await allReceipts()).toEqual([]);
    await setTax({ rate: 1_100, isIncluded: false });
    expect(await issue(one)).toBe(2);
    expect((await allReceipts()).map(({ topUpId }) => topUpId).toSorted()).toEqual(topUps.toSorted());
  });

  it("are one for each top-up, without gaps, where two processes write them eight times at once", async () => {
    const topUps = await paidTopUps(15);
    const before = await countWithoutGaps();
    const issued = await Promise.all([one, other, one, other, one, other, one, other].map(issue));
    expect(issued.reduce((sum, each) => sum + each, 0)).toBe(topUps.length);
    expect(await countWithoutGaps()).toBe(before + topUps.length);
    for (const topUpId of topUps) expect(await receiptsOf(topUpId)).toHaveLength(1);
    expect(await issue(other)).toBe(0);
  });

  it.each(["before-receipt-commit", "after-receipt-commit"] as const)(
    "have no gap and no double where a process stops at %s",
    async (place) => {
      const topUps = await paidTopUps(6);
      const before = await countWithoutGaps();
      stopAt(place, 2);
      for (let round = 0; round < 8; round += 1) {
        await Promise.allSettled([issue(one), issue(other)]);
        await countWithoutGaps();
      }
      observeFailpoints(undefined);
      await Promise.all([issue(one), issue(other)]);
      expect(await countWithoutGaps()).toBe(before + topUps.length);
      for (const topUpId of topUps) expect(await receiptsOf(topUpId)).toHaveLength(1);
    },
  );

  it("are written where a name was stored that cannot be printed, with marks and the address of the account", async () => {
    const accountId = await setup.money.account(0n);
    const text = `INSERT INTO receipt_buyer (account_id, name, address, npwp) VALUES ($1, $2, $3, $4)`;
    await setup.money.pool.query(text, [accountId, "株式会社サルド 🎉", "東京 1\nJakarta", "012345678901000"]);
    const { topUpId } = await setup.paid(one, accountId);
    expect(await issue(one)).toBe(1);
    const address = `${accountId}@saldo.example\n?? 1\nJakarta`;
    expect((await receiptsOf(topUpId)).map(({ buyer }) => buyer)).toEqual([
      { name: "??????? ?", address, npwp: "012345678901000" },
    ]);
  });

  it("keep the seller, the buyer and the rate that applied", async () => {
    const accountId = await setup.money.account(0n);
    const buyer = { name: "PT Pembeli", address: "Bandung", npwp: "012345678901000" };
    await setBuyer(one.database.pool, accountId, buyer);
    const { topUpId } = await setup.paid(one, accountId);
    await issue(one);
    await setBuyer(one.database.pool, accountId, { ...buyer, name: "PT Lain" });
    await setTax({ rate: 1_200, isIncluded: false }, { ...SELLER, name: "PT Penjual Lain" });
    await issue(other);
    const text = `SELECT seller, buyer, tax_rate FROM receipt WHERE top_up_id = $1`;
    const { rows } = await setup.money.pool.query(text, [topUpId]);
    expect(rows).toEqual([{ seller: SELLER, buyer, tax_rate: 1_100 }]);
    await setTax({ rate: 1_100, isIncluded: false });
  });

  it("cannot be changed or deleted by the role that serves", async () => {
    await issue(one);
    const [row] = await allReceipts();
    expect(row).toBeDefined();
    for (const change of ["UPDATE receipt SET net = net + 1", "DELETE FROM receipt", "TRUNCATE receipt CASCADE"])
      await expect(setup.money.pool.query(change)).rejects.toThrow(/append-only|permission denied/);
  });
});
