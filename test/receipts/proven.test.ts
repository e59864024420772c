// What customers can prove of a taxed payment: the amount that their account was credited, and what was given back of that. The tax is money
// of the books, and no line of an account.

import { expect, it } from "vitest";
import { sealDays } from "../../src/billing/proof/seal.ts";
import { proofKey } from "../../src/billing/proof/signing.ts";
import { exportStatement } from "../../src/billing/proof/statement.ts";
import { verifyStatement } from "../../src/billing/proof/verify.ts";
import { DAY_MS } from "../../src/kernel/clock.ts";
import { readBalance } from "../../src/ledger/accounts.ts";
import { systemAccounts } from "../../src/ledger/system-accounts.ts";
import { MICRO } from "../top-ups/top-up-setup.ts";
import { one, other, setup, useTwoProcesses } from "../top-ups/two-processes.ts";
import { issue, postedBetween, setTax } from "./receipt-setup.ts";

const { providerClearing, taxPayable } = systemAccounts;
const KEY = proofKey("a secret of a test that signs the roots of its books");

useTwoProcesses();

it("a statement of an account with a taxed payment and its refund is verified to the balance, and has no line of the tax", async () => {
  await setTax({ rate: 1_100, isIncluded: false });
  const accountId = await setup.money.account(0n);
  const { topUpId } = await setup.paid(one, accountId, 100_000n * MICRO);
  await setup.spend(accountId, 30_000n * MICRO);
  await setup.happens(other, topUpId, { status: "partially_refunded", refunded: 22_200 });
  await issue(one);
  expect(await postedBetween(topUpId, providerClearing, taxPayable)).toBe(11_000n * MICRO);
  expect(await postedBetween(topUpId, taxPayable, providerClearing)).toBe(2_200n * MICRO);
  const { pool } = one.database;
  await sealDays(pool, { keys: [KEY], share: 1, nowMs: Date.now() + 2 * DAY_MS });
  const lines = await Array.fromAsync(exportStatement(pool, { accountId }));
  const verified = await verifyStatement(lines, { key: KEY.publicKey });
  // The credit, the request and the refund.
  expect(verified).toMatchObject({ ok: true, problems: [], lines: 3, balance: 50_000n * MICRO });
  expect((await readBalance(pool, accountId)).posted).toBe(verified.balance);
  expect(lines.filter((line) => line.includes(taxPayable))).toEqual([]);
});
