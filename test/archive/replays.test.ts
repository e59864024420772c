// What comes again once its month is in the archive: notifications, chargebacks and orders are decided by rows that are never archived.

import { rm } from "node:fs/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { dropMonths } from "../../src/billing/archive/archive-months.ts";
import { SOUND } from "../money/money-setup.ts";
import { AMOUNT, type TopUpProcess, TopUpSetup } from "../top-ups/top-up-setup.ts";
import { ArchiveSetup, firstKept } from "./archive-setup.ts";

describe("behind an archive", () => {
  let topUps: TopUpSetup;
  let setup: ArchiveSetup;
  let process: TopUpProcess;
  beforeAll(async () => {
    topUps = await TopUpSetup.create();
    setup = await ArchiveSetup.on(topUps.money, { perMonth: 10, accounts: 1 });
    process = await topUps.process();
  });
  afterAll(async () => {
    await topUps.close();
    await rm(setup.folder, { recursive: true, force: true });
  });

  it("a notification, an order and a chargeback that come again have no second effect", async () => {
    const [accountId = ""] = setup.accounts;
    const order = { accountId, amount: AMOUNT, idempotencyKey: "an order" };
    const { topUpId } = await process.topUps.create(order);
    topUps.fake.set(topUpId, { status: "paid" });
    await process.topUps.verifyNow(topUpId);
    const paid = await setup.money.balance(accountId);
    await setup.archive();
    await setup.work((work) => dropMonths(work, { before: firstKept(), folder: setup.folder }));

    await topUps.happens(process, topUpId, { status: "paid" });
    expect((await process.topUps.create(order)).topUpId).toBe(topUpId);
    expect(await topUps.creditsOf(topUpId)).toBe(1);
    expect(await setup.money.balance(accountId)).toEqual(paid);

    await topUps.happens(process, topUpId, { status: "charged_back" });
    const after = await setup.money.balance(accountId);
    expect(after.posted).toBe(paid.posted - AMOUNT);
    await topUps.happens(process, topUpId, { status: "charged_back" });
    await topUps.notify(process, topUpId);
    await process.topUps.checkDue();
    expect(await setup.money.balance(accountId)).toEqual(after);
    expect(await setup.audit()).toEqual(SOUND);
  });
});
