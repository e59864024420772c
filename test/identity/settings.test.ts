import { afterAll, beforeAll, expect, test } from "vitest";
import { withTransaction } from "../../src/database/transactions.ts";
import { createCustomer } from "../../src/identity/customers.ts";
import { readSettings, updateSettings } from "../../src/identity/settings.ts";
import { ValidationError } from "../../src/kernel/errors.ts";
import { openAccount } from "../../src/ledger/accounts.ts";
import { createTestDatabase, type TestDatabase } from "../setup/test-database.ts";

let opened: TestDatabase;
beforeAll(async () => {
  opened = await createTestDatabase();
});
afterAll(() => opened.drop());

async function newAccount(email: string): Promise<string> {
  return withTransaction(opened.database, async (client) => {
    return (await createCustomer(client, { email, openAccount })).accountId;
  });
}

test("an account's settings change one by one, and no other account's", async () => {
  const { pool } = opened.database;
  const [own, other] = [await newAccount("own@settings.example"), await newAccount("other@settings.example")];
  const initial = { language: "id", timeZone: "Asia/Jakarta" };
  expect(await readSettings(pool, own)).toEqual(initial);
  expect(await updateSettings(pool, own, { language: "en" })).toEqual({ ...initial, language: "en" });
  expect(await updateSettings(pool, own, { timeZone: "Europe/Berlin" })).toEqual({
    language: "en",
    timeZone: "Europe/Berlin",
  });
  expect(await updateSettings(pool, own, {})).toEqual({ language: "en", timeZone: "Europe/Berlin" });
  for (const timeZone of ["+07:00", "Asia/Nowhere", "'; --"]) {
    await expect(updateSettings(pool, own, { timeZone })).rejects.toThrow(ValidationError);
  }
  expect(await readSettings(pool, own)).toEqual({ language: "en", timeZone: "Europe/Berlin" });
  expect(await readSettings(pool, other)).toEqual(initial);
});
