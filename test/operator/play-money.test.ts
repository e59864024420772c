// A demo's data in a database that becomes production's: play money goes back, and payments of a real provider stay.

import { afterAll, beforeAll, expect, test } from "vitest";
import { createCustomer } from "../../src/identity/customers.ts";
import { owe } from "../../src/ledger/receivables.ts";
import type { Database } from "../../src/database/database.ts";
import { withTransaction } from "../../src/database/transactions.ts";
import { IDR, parseMoney } from "../../src/kernel/money.ts";
import { uuidv7 } from "../../src/kernel/ids.ts";
import { openAccount, readBalance } from "../../src/ledger/accounts.ts";
import { creditAccount } from "../../src/ledger/credits.ts";
import { audit } from "../../src/ledger/audit/audit.ts";
import { systemAccounts } from "../../src/ledger/system-accounts.ts";
import { takePlayMoneyBack } from "../../src/app/demo/play-money.ts";
import { createTestDatabase, type TestDatabase } from "../setup/test-database.ts";
import { openTopUp } from "./opened-top-up.ts";

let testDatabase: TestDatabase;
let database: Database;
beforeAll(async () => {
  testDatabase = await createTestDatabase();
  ({ database } = testDatabase);
});
afterAll(() => testDatabase.drop());

const rupiah = (text: string): bigint => parseMoney(text, IDR).units;
const newCustomer = async (): Promise<string> => {
  const create = { email: `${uuidv7()}@test.example`, openAccount };
  return (await withTransaction(database, (client) => createCustomer(client, create))).accountId;
};
/** Gives an account a debt, from a payment that the provider gave back. */
const charge = async (accountId: string, provider: string, amount: string): Promise<void> => {
  const topUpId = await openTopUp(database, { accountId, provider });
  const debt = { accountId, topUpId, amount: rupiah(amount), reason: "top_up_charge_back" };
  await withTransaction(database, async (client) => {
    await client.query(
      `UPDATE top_up SET state = 'charged_back', paid_at = clock_timestamp(), given_back = $2 WHERE id = $1::uuid`,
      [topUpId, debt.amount],
    );
    await owe(client, debt);
  });
};
const clear = () => withTransaction(database, takePlayMoneyBack);

test("a debt to a real provider stays, the one of play money beside it is forgiven, and the books agree", async () => {
  const accountId = await newCustomer();
  await charge(accountId, "sandbox", "300");
  await charge(accountId, "midtrans", "500");
  await charge(accountId, "sandbox", "20");
  await clear();
  expect(await readBalance(database.pool, accountId)).toMatchObject({ posted: 0n, owed: rupiah("500"), available: 0n });
  const open = await database.pool.query(
    `SELECT t.provider, (r.amount - r.collected)::text AS rest FROM receivable r JOIN top_up t ON t.id = r.top_up_id
     WHERE r.account_id = $1::uuid AND r.collected < r.amount`,
    [accountId],
  );
  expect(open.rows).toEqual([{ provider: "midtrans", rest: String(rupiah("500")) }]);
  // The next income pays it, and nothing else.
  const credit = {
    accountId,
    amount: rupiah("700"),
    from: systemAccounts.operatorAdjustments,
    reason: "operator_credit",
  };
  await withTransaction(database, (client) => creditAccount(client, credit));
  expect(await readBalance(database.pool, accountId)).toMatchObject({ owed: 0n, available: rupiah("200") });
  const { violations } = await audit(database.pool);
  // The payments themselves are made up here, and the audit reports that.
  expect(violations.filter(({ check }) => !check.includes("top-up"))).toEqual([]);
});

test("an account that owes nothing gives its play money back", async () => {
  const accountId = await newCustomer();
  const credit = { accountId, amount: rupiah("40"), from: systemAccounts.promotions, reason: "welcome_credit" };
  await withTransaction(database, (client) => creditAccount(client, credit));
  await clear();
  expect(await readBalance(database.pool, accountId)).toMatchObject({ posted: 0n, owed: 0n });
});
