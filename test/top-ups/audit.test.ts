// The audit of top-ups finds violations that are made on purpose, also in an incremental run.

import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { uuidv7 } from "../../src/kernel/ids.ts";
import { creditAccount } from "../../src/ledger/credits.ts";
import { systemAccounts } from "../../src/ledger/system-accounts.ts";
import { withTransaction } from "../../src/database/transactions.ts";
import { SOUND } from "../money/money-setup.ts";
import { AMOUNT, MICRO, type TopUpProcess, TopUpSetup } from "./top-up-setup.ts";

const CREDITED = "a paid top-up is credited once, with its own amount, and no other is";
const FROM_PROVIDER = "what comes from a payment provider is a paid top-up's own amount";
const GIVEN_BACK = "what was given back of a top-up was taken from its account or is owed";
const OWED = "what an account owes is what was booked and not collected";
const DEBT = "an account's debt is the sum of its receivables";
const RECEIVABLES = "the account of receivables is the sum of what is owed";

let setup: TopUpSetup;
let process: TopUpProcess;
beforeAll(async () => {
  setup = await TopUpSetup.create();
  process = await setup.process("midtrans");
});
afterAll(() => setup.close());

/** The failed checks of either kind of audit. */
async function found(): Promise<string[]> {
  const [incremental, full] = [await setup.money.audit({ kind: "incremental" }), await setup.money.audit()];
  const checks = (report: typeof full) => [...new Set(report.violations.map(({ check }) => check))].toSorted();
  expect(checks(incremental)).toEqual(checks(full));
  return checks(full);
}

const run = (text: string, ...values: unknown[]) => setup.money.pool.query(text, values);

/** Damages the books, returns the audit's findings, and repairs the books. */
async function wrong(damage: string, mend: string, ...values: unknown[]): Promise<string[]> {
  await run(damage, ...values);
  const checks = await found();
  await run(mend, ...values);
  expect(await found()).toEqual([]);
  return checks;
}

/** An account that owes 5.000 of a payment that was given back. */
async function debtor(): Promise<{ accountId: string; topUpId: string }> {
  const accountId = await setup.money.account(0n);
  const { topUpId } = await setup.paid(process, accountId);
  await setup.spend(accountId, 5_000n * MICRO);
  await setup.happens(process, topUpId, { status: "refunded", refunded: 25_000 });
  return { accountId, topUpId };
}

describe("the audit finds", () => {
  it("nothing in books that are in order", async () => {
    await debtor();
    expect(await found()).toEqual([]);
  });

  it("a top-up that is marked paid and was never credited", async () => {
    const { topUpId } = await setup.open(process, await setup.money.account(0n));
    const checks = await wrong(
      "UPDATE top_up SET state = 'paid', paid_at = now() WHERE id = $1",
      "UPDATE top_up SET state = 'pending', paid_at = NULL WHERE id = $1",
      topUpId,
    );
    expect(checks).toEqual([CREDITED]);
  });

  it("a top-up that was credited and is not marked so, or has another amount or account", async () => {
    const accountId = await setup.money.account(0n);
    const other = await setup.money.account(0n);
    const { topUpId } = await setup.paid(process, accountId);
    const paidAt = "state = 'paid', paid_at = now()";
    const unpaid = await wrong(
      "UPDATE top_up SET state = 'pending', paid_at = NULL WHERE id = $1",
      `UPDATE top_up SET ${paidAt} WHERE id = $1`,
      topUpId,
    );
    expect(unpaid).toEqual([CREDITED, FROM_PROVIDER].toSorted());
    const less = await wrong(
      "UPDATE top_up SET amount = amount - 1 WHERE id = $1",
      "UPDATE top_up SET amount = amount + 1 WHERE id = $1",
      topUpId,
    );
    expect(less).toEqual([CREDITED, FROM_PROVIDER].toSorted());
    await run("UPDATE top_up SET account_id = $2 WHERE id = $1", topUpId, other);
    expect(await found()).toEqual([CREDITED, FROM_PROVIDER].toSorted());
    await run("UPDATE top_up SET account_id = $2 WHERE id = $1", topUpId, accountId);
    expect(await setup.money.audit()).toEqual(SOUND);
  });

  it("what was given back and not taken", async () => {
    const { topUpId } = await setup.paid(process, await setup.money.account(0n));
    const checks = await wrong(
      "UPDATE top_up SET given_back = 1 WHERE id = $1",
      "UPDATE top_up SET given_back = 0 WHERE id = $1",
      topUpId,
    );
    expect(checks).toEqual([GIVEN_BACK]);
  });

  it("a debt that is forgiven, or larger than what was booked", async () => {
    const { topUpId } = await debtor();
    const forgiven = await wrong(
      "UPDATE receivable SET collected = amount WHERE top_up_id = $1",
      "UPDATE receivable SET collected = 0 WHERE top_up_id = $1",
      topUpId,
    );
    expect(forgiven).toEqual([RECEIVABLES, OWED, DEBT].toSorted());
    const larger = await wrong(
      "UPDATE receivable SET amount = amount + 1 WHERE top_up_id = $1",
      "UPDATE receivable SET amount = amount - 1 WHERE top_up_id = $1",
      topUpId,
    );
    expect(larger).toEqual([RECEIVABLES, OWED, DEBT, GIVEN_BACK].toSorted());
  });

  it("an account whose debt is not what its receivables come to", async () => {
    const { accountId } = await debtor();
    const ignored = await wrong(
      "UPDATE account SET owed = 0 WHERE id = $1",
      "UPDATE account SET owed = 5000000000 WHERE id = $1",
      accountId,
    );
    expect(ignored).toEqual([DEBT]);
    const invented = await wrong(
      "UPDATE account SET owed = 1 WHERE id = $1",
      "UPDATE account SET owed = 0 WHERE id = $1",
      await setup.money.account(0n),
    );
    expect(invented).toEqual([DEBT]);
  });

  it("an event table whose rows can be changed or doubled", async () => {
    const damage = async (text: string, mend: string): Promise<string[]> => {
      await setup.money.asOwner(text);
      const checks = await found();
      await setup.money.asOwner(mend);
      return checks;
    };
    expect(
      await damage(
        "ALTER TABLE payment_event DISABLE TRIGGER append_only",
        "ALTER TABLE payment_event ENABLE ALWAYS TRIGGER append_only",
      ),
    ).toEqual(["no payment event can be changed"]);
    expect(
      await damage(
        "ALTER TABLE payment_event DROP CONSTRAINT payment_event_once",
        "ALTER TABLE payment_event ADD CONSTRAINT payment_event_once UNIQUE (provider, event_key)",
      ),
    ).toEqual(["the database refuses what must never be of a top-up"]);
    await expect(run("UPDATE payment_event SET status = 'paid'")).rejects.toThrow(/permission denied/);
    await expect(setup.money.asOwner("UPDATE payment_event SET status = 'paid'")).rejects.toThrow(/append-only/);
    expect(await found()).toEqual([]);
  });

  // The last one: a posting cannot be corrected.
  it("a second credit for one payment, and money of a provider without an order", async () => {
    const accountId = await setup.money.account(0n);
    const { topUpId } = await setup.paid(process, accountId);
    const credit = (groupId: string, reference: string) =>
      withTransaction(setup.money.opened.database, (client) =>
        creditAccount(client, {
          accountId,
          amount: AMOUNT,
          from: systemAccounts.providerClearing,
          reason: "top_up",
          reference,
          groupId,
        }),
      );
    await credit(uuidv7(), "top-up:nobody's");
    expect(await found()).toEqual([FROM_PROVIDER]);
    await credit(topUpId, `top-up:${topUpId}:again`);
    expect(await found()).toEqual([CREDITED, FROM_PROVIDER].toSorted());
  });
});
