// What the activity log shows of a change: the limits of keys, the alerts, the threshold and the buyer, as they were and as they are, written in the
// transaction of the change.

import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { BudgetPeriod } from "#gen/saldo/keys/v1/key_pb.ts";
import { setAlertSettings } from "../../../src/billing/alerts/alert-settings.ts";
import { readLowBalanceAlert, setLowBalanceAlert } from "../../../src/billing/low-balance-alert.ts";
import { setBuyer } from "../../../src/billing/receipts/receipts.ts";
import type { RecordChange } from "../../../src/database/record-change.ts";
import { issueKey } from "../../../src/keys/issue-key.ts";
import { listKeys, revokeKey, updateKey } from "../../../src/keys/issued-keys.ts";
import { type Person, serveTeams, type Team } from "./team.ts";

let team: Team;
beforeAll(async () => {
  team = await serveTeams();
});
afterAll(() => team.stop());

/** The newest lines, newest first. */
async function linesOf(person: Person, count: number) {
  const { lines } = await person.members.listActivity({ pageSize: count });
  return lines.map(({ actor, action, subject, facts }) => ({ actor, action, subject, facts }));
}

describe("the activity log", () => {
  test("has the limits of a key before and after", async () => {
    const owner = await team.newPerson();
    const limits = { budgetIdr: "5", budgetPeriod: BudgetPeriod.DAY, allowedModels: ["demo/*"] };
    const { key } = await owner.keys.createKey({ name: "owner key", limits });
    const keyId = key?.id ?? "";
    await owner.keys.updateKey({
      keyId,
      name: "owner key",
      limits: { budgetIdr: "50000", budgetPeriod: BudgetPeriod.DAY, tokenLimit: 20_000 },
    });
    await owner.keys.updateKey({ keyId, name: "renamed", limits: {}, rateLimit: 30 });
    await owner.keys.revokeKey({ keyId });
    await owner.keys.revokeKey({ keyId });
    const line = { actor: owner.email, subject: keyId };
    expect(await linesOf(owner, 9)).toEqual([
      { ...line, action: "KeysService/RevokeKey", facts: { name: "renamed" } },
      {
        ...line,
        action: "KeysService/UpdateKey",
        facts: {
          name: "renamed",
          "before.name": "owner key",
          rateLimit: "30",
          "before.rateLimit": "60",
          "before.budgetIdr": "50000",
          "before.budgetPeriod": "day",
          "before.tokenLimit": "20000",
        },
      },
      {
        ...line,
        action: "KeysService/UpdateKey",
        facts: {
          name: "owner key",
          budgetIdr: "50000",
          budgetPeriod: "day",
          "before.budgetIdr": "5",
          "before.budgetPeriod": "day",
          "before.allowedModels": "demo/*",
          tokenLimit: "20000",
        },
      },
      {
        ...line,
        action: "KeysService/CreateKey",
        facts: { name: "owner key", rateLimit: "60", budgetIdr: "5", budgetPeriod: "day", allowedModels: "demo/*" },
      },
    ]);
  });

  test("has alerts, the threshold and the buyer before and after", async () => {
    const owner = await team.newPerson();
    const settings = { dailySpend: "100000", percents: [80], mailTypes: ["usage.daily"], webhookTypes: [] };
    await owner.alerts.updateAlertSettings({ settings });
    await owner.alerts.updateAlertSettings({ settings: { ...settings, dailySpend: "", percents: [100, 80] } });
    await owner.billing.setLowBalanceAlert({ threshold: "20000" });
    await owner.billing.setLowBalanceAlert({ threshold: "" });
    await owner.receipts.setBuyer({ buyer: { name: "PT Satu", address: "Jl. Satu", npwp: "" } });
    await owner.receipts.setBuyer({ buyer: { name: "PT Dua", address: "Jl. Satu", npwp: "" } });
    const line = { actor: owner.email, subject: "" };
    expect(await linesOf(owner, 9)).toEqual([
      {
        ...line,
        action: "ReceiptService/SetBuyer",
        facts: { buyerName: "PT Dua", "before.buyerName": "PT Satu" },
      },
      { ...line, action: "ReceiptService/SetBuyer", facts: { buyerName: "PT Satu", buyerAddress: "Jl. Satu" } },
      { ...line, action: "BillingService/SetLowBalanceAlert", facts: { "before.threshold": "20000" } },
      { ...line, action: "BillingService/SetLowBalanceAlert", facts: { threshold: "20000" } },
      {
        ...line,
        action: "AlertService/UpdateAlertSettings",
        facts: { "before.dailySpend": "100000", percents: "80 100", "before.percents": "80" },
      },
      {
        ...line,
        action: "AlertService/UpdateAlertSettings",
        facts: { dailySpend: "100000", percents: "80", mailTypes: "usage.daily" },
      },
    ]);
  });

  test("has each of changes at the same time with what it found", async () => {
    const owner = await team.newPerson();
    const { key } = await owner.keys.createKey({ name: "k" });
    const keyId = key?.id ?? "";
    const amounts = ["1", "2", "3", "4", "5", "6"];
    await Promise.all(
      amounts.map((budgetIdr) =>
        owner.keys.updateKey({ keyId, name: "k", limits: { budgetIdr, budgetPeriod: BudgetPeriod.TOTAL } }),
      ),
    );
    const changes = (await linesOf(owner, amounts.length)).map(({ facts }) => facts);
    // A chain: each begins where another one ended, and none begins twice at the same.
    const [begun, ended] = [changes.map((each) => each["before.budgetIdr"]), changes.map((each) => each["budgetIdr"])];
    expect(new Set(ended)).toEqual(new Set(amounts));
    expect(begun.filter((each) => each === undefined)).toHaveLength(1);
    expect(new Set(begun).size).toBe(amounts.length);
  });

  test("has each of an account's settings with what it found, when several are set at the same time", async () => {
    const { ownAccountId: accountId } = await team.newPerson();
    const { pool } = team;
    const numbers = [1n, 2n, 3n, 4n, 5n, 6n];
    const none = { percents: [], mailTypes: [], webhookTypes: [] };
    const settings: [fact: string, set: (number: bigint, record: RecordChange) => Promise<unknown>][] = [
      ["threshold", (threshold, record) => setLowBalanceAlert(pool, { accountId, threshold }, record)],
      [
        "dailySpend",
        (number, record) => setAlertSettings(pool, accountId, { ...none, dailySpend: `${number}` }, record),
      ],
      [
        "buyerName",
        (number, record) => setBuyer(pool, accountId, { name: `${number}`, address: "", npwp: "" }, record),
      ],
    ];
    for (const [fact, set] of settings) {
      const begun: (string | undefined)[] = [];
      const record: RecordChange = async (_client, change) => void begun.push(change?.facts[`before.${fact}`]);
      await Promise.all(numbers.map((number) => set(number, record)));
      expect(
        begun.filter((each) => each === undefined),
        fact,
      ).toHaveLength(1);
      expect(new Set(begun).size, fact).toBe(numbers.length);
    }
  });

  test("has no change without its line: both are undone together", async () => {
    const { ownAccountId: accountId } = await team.newPerson();
    const fails: RecordChange = () => Promise.reject(new Error("the line cannot be written"));
    const { pool, database } = team;
    const { keyId } = await issueKey(database, { accountId, name: "kept" });
    const none = { dailySpend: "1", percents: [], mailTypes: [], webhookTypes: [] };
    const refused: (() => Promise<unknown>)[] = [
      () => issueKey(database, { accountId, name: "never" }, fails),
      () => updateKey(database, { accountId, keyId, name: "never" }, fails),
      () => revokeKey(database, { accountId, keyId }, fails),
      () => setAlertSettings(pool, accountId, none, fails),
      () => setLowBalanceAlert(pool, { accountId, threshold: 1n }, fails),
      () => setBuyer(pool, accountId, { name: "Never", address: "", npwp: "" }, fails),
    ];
    for (const change of refused) await expect(change()).rejects.toThrow("the line cannot be written");
    const { items } = await listKeys(database, { accountId });
    expect(items.map(({ name, revokedAt }) => [name, revokedAt])).toEqual([["kept", null]]);
    expect(await readLowBalanceAlert(pool, accountId)).toBeNull();
    for (const table of ["alert_settings", "receipt_buyer", "account_activity"])
      expect((await pool.query(`SELECT FROM ${table} WHERE account_id = $1`, [accountId])).rowCount).toBe(0);
  });
});
