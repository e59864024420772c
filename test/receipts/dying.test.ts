// Processes that die with a number taken, or right after its receipt, leave no gap and no double.

import { expect, it } from "vitest";
import { one, setup, useTwoProcesses } from "../top-ups/two-processes.ts";
import { SaldoProcess } from "../setup/saldo-process.ts";
import { SaldoHere } from "../setup/saldo-here.ts";
import { countWithoutGaps, receiptsOf, setTax } from "./receipt-setup.ts";

const ISSUED_WITHIN_MS = 60_000;

useTwoProcesses();

it("two processes that die while they write receipts are followed by one that writes each missing one once", async () => {
  const settings = { DATABASE_URL: setup.money.opened.url };
  const start = (place: string) => SaldoProcess.start({ ...settings, SALDO_FAILPOINT: place });
  const dying = await Promise.all([start("before-receipt-commit:3"), start("after-receipt-commit:2")]);
  await setTax({ rate: 0, isIncluded: false });
  // Only when both serve is there anything to write: a process that dies earlier has not started.
  const accountId = await setup.money.account(0n);
  const topUps: string[] = [];
  for (let each = 0; each < 8; each += 1) topUps.push((await setup.paid(one, accountId)).topUpId);
  await Promise.all(dying.map((process) => process.untilEnd()));
  await Promise.all(dying.map((process) => process.stop()));
  expect(await countWithoutGaps()).toBeLessThan(topUps.length);
  const living = await SaldoHere.start(settings);
  await expect.poll(countWithoutGaps, { timeout: ISSUED_WITHIN_MS }).toBe(topUps.length);
  await living.stop();
  for (const topUpId of topUps) expect(await receiptsOf(topUpId)).toHaveLength(1);
}, 120_000);
