// Operators' commands on a real database: each with its line, once.

import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { listActions, type OperatorContext } from "../../src/operator/audit-log/operator-actions.ts";
import { withTransaction } from "../../src/database/transactions.ts";
import { InsufficientBalance, LimitExceeded, NotFound, ValidationError } from "../../src/kernel/errors.ts";
import { uuidv7 } from "../../src/kernel/ids.ts";
import { openAccount, readBalance } from "../../src/ledger/accounts.ts";
import { creditOnce } from "../../src/ledger/credits.ts";
import { audit } from "../../src/ledger/audit/audit.ts";
import { systemAccounts } from "../../src/ledger/system-accounts.ts";
import { MAX_AMOUNT, adjustAccount, creditAccount } from "../../src/operator/commands/accounts.ts";
import { issueKey, revokeKey } from "../../src/operator/commands/keys.ts";
import { setFee, createMerchant, creditMerchant } from "../../src/operator/commands/merchants.ts";
import { createTestDatabase, testBackends, type TestDatabase } from "../setup/test-database.ts";

const RUPIAH = 1_000_000n;

describe.each(testBackends())("an operator's commands on the %s server", (backend) => {
  let opened: TestDatabase;
  let by: OperatorContext;
  beforeAll(async () => {
    opened = await createTestDatabase({ backend });
    by = { database: opened.database, operator: "ani@example.com" };
  });
  afterAll(async () => {
    expect(await audit(opened.database.pool)).toMatchObject({ ok: true, violations: [] });
    await opened.drop();
  });

  async function newAccount(): Promise<string> {
    const accountId = uuidv7();
    await withTransaction(opened.database, (client) => openAccount(client, accountId));
    return accountId;
  }
  const linesOf = async (subject: string) =>
    (await listActions(opened.database.pool, { filter: { subject }, limit: 50 })).map(
      ({ action, operator, facts }) => ({
        action,
        operator,
        facts,
      }),
    );
  const available = async (accountId: string) => (await readBalance(opened.database.pool, accountId)).available;

  test("put money on an account once for each name, also when they come at the same time", async () => {
    const accountId = await newAccount();
    const command = { accountId, amount: 5n * RUPIAH, reason: "a bank transfer", reference: uuidv7() };
    const done = await Promise.all(Array.from({ length: 8 }, () => creditAccount(by, command)));
    expect(new Set(done.map(({ postingId }) => postingId)).size).toBe(1);
    expect(done.filter(({ isNew }) => isNew)).toHaveLength(1);
    expect(await available(accountId)).toBe(5n * RUPIAH);
    const facts = { postingId: done[0]?.postingId, amount: "5" };
    expect(await linesOf(accountId)).toEqual([{ action: "account credit", operator: "ani@example.com", facts }]);
    await expect(creditAccount(by, { ...command, amount: 6n * RUPIAH })).rejects.toThrow(ValidationError);
  });

  test("take off what is available and not a millionth more, once for each name", async () => {
    const accountId = await newAccount();
    await creditAccount(by, { accountId, amount: 5n * RUPIAH, reason: "start", reference: uuidv7() });
    const command = { accountId, reason: "a slip", reference: uuidv7() };
    const refused = adjustAccount(by, { ...command, amount: -5n * RUPIAH - 1n });
    await expect(refused).rejects.toThrow(InsufficientBalance);
    // The refusal has not used the name.
    const debits = await Promise.all(
      Array.from({ length: 5 }, () => adjustAccount(by, { ...command, amount: -3n * RUPIAH })),
    );
    expect(debits.filter(({ isNew }) => isNew)).toHaveLength(1);
    expect(await available(accountId)).toBe(2n * RUPIAH);
    await expect(adjustAccount(by, { ...command, amount: 3n * RUPIAH })).rejects.toThrow(ValidationError);
    await expect(adjustAccount(by, { ...command, amount: -1n })).rejects.toThrow(ValidationError);
    await adjustAccount(by, { ...command, amount: 1n, reference: uuidv7() });
    expect((await linesOf(accountId)).map(({ action, facts }) => [action, facts["amount"]])).toEqual([
      ["account adjust", "0.000001"],
      ["account adjust", "-3"],
      ["account credit", "5"],
    ]);
  });

  test("correct an account once for each name, also where the name was used before names of corrections were their own", async () => {
    const accountId = await newAccount();
    const name = uuidv7();
    await withTransaction(opened.database, (client) =>
      creditOnce(client, {
        accountId,
        amount: 5n * RUPIAH,
        from: systemAccounts.operatorAdjustments,
        reason: "operator_adjustment",
        reference: `operator:${name}`,
      }),
    );
    const command = { accountId, amount: 5n * RUPIAH, reason: "again, after an upgrade", reference: name };
    expect(await adjustAccount(by, command)).toMatchObject({ isNew: false });
    await expect(adjustAccount(by, { ...command, amount: -5n * RUPIAH })).rejects.toThrow(ValidationError);
    expect(await linesOf(accountId)).toEqual([]);
    // A credit of the same name is another command.
    const credited = { ...command, reference: uuidv7() };
    await creditAccount(by, credited);
    expect(await adjustAccount(by, credited)).toMatchObject({ isNew: true });
    expect(await available(accountId)).toBe(15n * RUPIAH);
  });

  test("take off no more than there is when different commands race", async () => {
    const accountId = await newAccount();
    await creditAccount(by, { accountId, amount: 10n * RUPIAH, reason: "start", reference: uuidv7() });
    const outcomes = await Promise.allSettled(
      Array.from({ length: 8 }, () =>
        adjustAccount(by, { accountId, amount: -3n * RUPIAH, reason: "a race", reference: uuidv7() }),
      ),
    );
    expect(outcomes.filter(({ status }) => status === "fulfilled")).toHaveLength(3);
    const refusals = outcomes.filter((outcome) => outcome.status === "rejected");
    expect(refusals.map(({ reason }) => (reason as Error).constructor)).toEqual(Array(5).fill(InsufficientBalance));
    expect(await available(accountId)).toBe(RUPIAH);
  });

  test("are refused whole: nothing, too much, of no account, and more than an account can hold", async () => {
    const accountId = await newAccount();
    for (const amount of [0n, MAX_AMOUNT + 1n, -MAX_AMOUNT - 1n]) {
      const command = { accountId, amount, reason: "x", reference: uuidv7() };
      await expect(adjustAccount(by, command)).rejects.toThrow(ValidationError);
    }
    for (const amount of [1n, -1n]) {
      const command = { accountId: uuidv7(), amount, reason: "x", reference: uuidv7() };
      await expect(adjustAccount(by, command)).rejects.toThrow(NotFound);
      expect(await linesOf(command.accountId)).toEqual([]);
    }
    for (let time = 1; time <= 9; time += 1)
      await creditAccount(by, { accountId, amount: MAX_AMOUNT, reason: "much", reference: uuidv7() });
    await expect(creditAccount(by, { accountId, amount: 1n, reason: "more", reference: uuidv7() })).rejects.toThrow(
      LimitExceeded,
    );
    expect(await available(accountId)).toBe(9n * MAX_AMOUNT);
  });

  test("issue and revoke keys, and a second revocation is none", async () => {
    const accountId = await newAccount();
    const { keyId, secret } = await issueKey(by, { accountId, name: "laptop", rateLimit: 7 });
    expect(await revokeKey(by, { keyId })).toMatchObject({ isNew: true, accountId });
    expect(await revokeKey(by, { keyId })).toMatchObject({ isNew: false });
    const lines = await linesOf(accountId);
    expect(lines).toEqual([
      { action: "key revoke", operator: "ani@example.com", facts: { keyId, name: "laptop" } },
      { action: "key create", operator: "ani@example.com", facts: { keyId, name: "laptop", rateLimit: 7 } },
    ]);
    expect(JSON.stringify(lines)).not.toContain(secret);
  });

  test("make a merchant, put coins on it once for each name, and set its fee", async () => {
    const accountId = await newAccount();
    const { merchantId, apiKey, secretKey } = await createMerchant(by, { accountId, environment: "sandbox" });
    expect(await linesOf(accountId)).toMatchObject([
      { action: "merchant create", facts: { merchantId, environment: "sandbox" } },
    ]);
    const command = { merchantId, currencyCode: "TRX", amountText: "12.5", reason: "deposit", reference: uuidv7() };
    const credits = await Promise.all(Array.from({ length: 5 }, () => creditMerchant(by, command)));
    expect(credits.filter(({ isNew }) => isNew)).toHaveLength(1);
    expect(new Set(credits.map((credit) => credit.postingId)).size).toBe(1);
    await expect(creditMerchant(by, { ...command, amountText: "1" })).rejects.toThrow(ValidationError);
    const fee = { merchantId, currencyCode: "TRX", flat: "1", rate: "0.01", reason: "agreed" };
    await setFee(by, { ...fee, max: "3" });
    const lines = await linesOf(merchantId);
    expect(lines).toMatchObject([
      { action: "fee set", facts: { currencyCode: "TRX", version: 1, flat: "1", rate: "0.01", min: null, max: "3" } },
      { action: "merchant credit", facts: { currencyCode: "TRX", network: null, amount: "12.5" } },
    ]);
    for (const half of [apiKey, secretKey]) expect(JSON.stringify(lines)).not.toContain(half);
    await expect(setFee(by, { ...fee, merchantId: uuidv7() })).rejects.toThrow(NotFound);
  });
});
