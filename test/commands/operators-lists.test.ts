// What an operator finds without knowing an id: accounts by e-mail address, merchants, transfers, and sums of usage.

import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { billingDay } from "../../src/kernel/clock.ts";
import { uuidv7 } from "../../src/kernel/ids.ts";
import { runSaldo, saldoJson } from "../setup/saldo-command.ts";
import { SaldoHere } from "../setup/saldo-here.ts";
import { createTestDatabase, type TestDatabase } from "../setup/test-database.ts";
import { chat } from "../app/customer.ts";

const EMAIL = "Keuangan@contoh.example";
const MODELS = ["demo/small", "demo/small", "demo/large"];

let opened: TestDatabase;
let settings: Record<string, string>;
let saldo: SaldoHere;
let accountId: string;
let keyIds: string[];
beforeAll(async () => {
  opened = await createTestDatabase();
  settings = { DATABASE_URL: opened.url };
  saldo = await SaldoHere.start(settings);
  ({ accountId = "" } = await saldoJson(["account", "create", "--email", EMAIL], settings));
  const credit = ["account", "credit", "--account", EMAIL, "--amount", "100000"];
  await saldoJson([...credit, "--reason", "test", "--reference", "lists"], settings);
  const make = (name: string, ...more: string[]) =>
    saldoJson(["key", "create", "--account", EMAIL, "--name", name, ...more], settings);
  const one = await make("one");
  const other = await make("other", "--models", "demo/large", "--token-limit", "900000", "--networks", "127.0.0.0/8");
  keyIds = [one, other].map(({ keyId = "" }) => keyId);
  for (const model of MODELS) {
    const key = (model === "demo/large" ? other : one)["key"] ?? "";
    const answer = await chat(saldo.httpUrl, key, { model, messages: [{ role: "user", content: "Hello!" }] });
    expect(answer.status, await answer.text()).toBe(200);
  }
});
afterAll(async () => {
  await saldo.stop();
  await opened.drop();
});

async function json<Answer>(...words: string[]): Promise<Answer> {
  return (await saldoJson(words, settings)) as unknown as Answer;
}

async function shown(...words: string[]): Promise<string> {
  const { code, stdout, stderr } = await runSaldo(words, settings);
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  return stdout;
}

it("accounts are listed with their addresses and balances, and found by a part of an address", async () => {
  await saldoJson(["account", "create", "--email", "second@contoh.example"], settings);
  type Listed = { accounts: { accountId: string; email: string; available: string; workingKeys: number }[] };
  const { accounts } = await json<Listed>("account", "list", "--email", "CONTOH");
  expect(accounts.map(({ email }) => email)).toEqual(["second@contoh.example", EMAIL]);
  const { available } = await saldoJson(["account", "show", "--account", accountId], settings);
  expect(accounts[1]).toMatchObject({ accountId, available, workingKeys: 2 });
  expect((await json<Listed>("account", "list", "--limit", "1")).accounts).toHaveLength(1);
  expect(await shown("account", "list", "--email", "nobody")).toBe("No account.\n");
  expect(await shown("account", "list", "--email", "keuangan")).toMatch(
    /Keuangan@contoh\.example .* Rp 99,\d{3}\.\d\d/,
  );
});

it("a command takes the e-mail address of an account in any case, and names one that no account has", async () => {
  for (const named of [EMAIL.toLowerCase(), EMAIL.toUpperCase(), accountId, accountId.toUpperCase()]) {
    expect(await saldoJson(["account", "show", "--account", named], settings)).toMatchObject({
      accountId,
      email: EMAIL,
    });
  }
  for (const list of ["usage list", "key list", "receipt list", "member list", "top-up list", "security log"]) {
    expect((await runSaldo([...list.split(" "), "--account", EMAIL], settings)).code, list).toBe(0);
  }
  const unknown = await runSaldo(["account", "show", "--account", "nobody@contoh.example"], settings);
  expect(unknown).toEqual({
    code: 1,
    stdout: "",
    stderr: "No account has the e-mail address nobody@contoh.example.\n",
  });
  expect(await runSaldo(["account", "show", "--account", "no%one"], settings)).toMatchObject({ code: 2, stdout: "" });
});

it("an account is frozen by its address, and that account alone", async () => {
  const frozen = await saldoJson(["account", "freeze", "--account", EMAIL.toUpperCase(), "--reason", "test"], settings);
  expect(frozen).toMatchObject({ accountId, frozenAt: expect.any(String) as string });
  const { rows } = await opened.database.pool.query(
    "SELECT account_id FROM customer c JOIN account a ON a.id = c.account_id WHERE frozen_at IS NOT NULL",
  );
  expect(rows).toEqual([{ account_id: accountId }]);
  await saldoJson(["account", "unfreeze", "--account", EMAIL], settings);
});

type Sums = { lines: Record<string, string | number>[]; total: { requests: number; charge: string } };

it("usage is summed by model, key and member, and each comes to what the list charges", async () => {
  const { records } = await json<{ records: { charge: string; model: string }[] }>("usage", "list", "--account", EMAIL);
  const charged = records.reduce((sum, { charge }) => sum + Number(charge), 0);
  const models = await json<Sums>("usage", "sum", "--account", EMAIL);
  expect(models.lines.map(({ model, requests }) => [model, requests])).toEqual(
    expect.arrayContaining([
      ["demo/small", 2],
      ["demo/large", 1],
    ]),
  );
  const keys = await json<Sums>("usage", "sum", "--account", EMAIL, "--by", "key");
  expect(keys.lines.map(({ key, name, requests }) => [key, name, requests])).toEqual(
    expect.arrayContaining([
      [keyIds[0], "one", 2],
      [keyIds[1], "other", 1],
    ]),
  );
  const members = await json<Sums>("usage", "sum", "--account", EMAIL, "--by", "member");
  // Operators made these keys.
  expect(members.lines.map(({ member, requests }) => [member, requests])).toEqual([["", 3]]);
  for (const { total } of [models, keys, members]) {
    expect(total.requests).toBe(3);
    expect(Number(total.charge)).toBeCloseTo(charged, 6);
  }
  expect(await shown("usage", "sum", "--account", EMAIL)).toMatch(/^TOTAL +3 +\d+ +\d+ +Rp \d+\.\d+$/m);
});

it("usage is summed by the member who made the key", async () => {
  const personId = uuidv7();
  const { pool } = opened.database;
  await pool.query(
    "INSERT INTO auth.person (id, email, email_verified, name, account_id, created_at, updated_at) VALUES ($1, $2, true, 'Sari', NULL, now(), now())",
    [personId, "sari@contoh.example"],
  );
  await saldoJson(
    ["member", "add", "--account", EMAIL, "--email", "sari@contoh.example", "--role", "developer"],
    settings,
  );
  await pool.query("UPDATE api_key SET person_id = $2 WHERE id = $1", [keyIds[1], personId]);
  const { lines } = await json<Sums>("usage", "sum", "--account", EMAIL, "--by", "member");
  const named = lines.map(({ member, name, requests }) => [member, name, requests]);
  expect(named).toEqual(
    expect.arrayContaining([
      ["", "", 2],
      [personId, "sari@contoh.example", 1],
    ]),
  );
});

it("usage of days without a request is none, and days that are turned round are refused", async () => {
  const empty = ["usage", "sum", "--account", EMAIL, "--to", "2020-01-01"];
  expect(await json<Sums>(...empty)).toMatchObject({ lines: [], total: { requests: 0, charge: "0" } });
  expect(await shown(...empty)).toBe("There was no request.\n");
  const today = billingDay(Date.now());
  const turned = ["usage", "sum", "--account", EMAIL, "--from", today, "--to", "2020-01-01"];
  expect(await runSaldo(turned, settings)).toMatchObject({ code: 2, stdout: "" });
});

it("merchants and their transfers are listed, of an account and of all", async () => {
  const made = await saldoJson(["merchant", "create", "--account", EMAIL, "--environment", "sandbox"], settings);
  const { merchantId = "", apiKey = "", secretKey = "" } = made;
  const credit = ["merchant", "credit", "--merchant", merchantId, "--currency", "TRX", "--amount", "5000"];
  await saldoJson([...credit, "--reference", "coins"], settings);
  const ordered = await fetch(`${saldo.httpUrl}/sandbox/v1/merchant-transfers`, {
    method: "POST",
    headers: {
      authorization: `Basic ${Buffer.from(`${apiKey}:${secretKey}`).toString("base64")}`,
      "content-type": "application/json",
    },
    body: JSON.stringify({
      externalId: "gaji-2026-11",
      currencyCode: "TRX",
      amount: 100,
      address: "TJRabPrwbZy45sbavfcjinPJC18kjpRTv8",
    }),
  });
  expect(ordered.status, await ordered.text()).toBeLessThan(300);
  type Merchants = { merchants: { merchantId: string; accountId: string; environment: string }[] };
  expect((await json<Merchants>("merchant", "list", "--account", EMAIL)).merchants).toEqual([
    expect.objectContaining({ merchantId, accountId, environment: "sandbox" }),
  ]);
  expect(await shown("merchant", "list")).toContain(merchantId);
  type Transfers = { transfers: { externalId: string; received: string; fee: string; total: string }[] };
  for (const which of [["--account", EMAIL], ["--merchant", merchantId], ["--name", "gaji-2026-11"], []]) {
    const { transfers } = await json<Transfers>("transfer", "list", ...which);
    expect(transfers, which.join(" ")).toEqual([
      expect.objectContaining({ externalId: "gaji-2026-11", merchantId, accountId, currencyCode: "TRX" }),
    ]);
  }
  expect(await shown("transfer", "list")).toMatch(/gaji-2026-11 .*TRX on tron/);
  expect(await shown("transfer", "list", "--attention")).toBe("No transfers.\n");
  expect(await shown("transfer", "list", "--status", "CANCELED")).toBe("No transfers.\n");
  expect(await runSaldo(["transfer", "list", "--status", "LOST"], settings)).toMatchObject({ code: 2, stdout: "" });
});

it("a list of keys shows which models, networks and tokens a key is limited to", async () => {
  const lines = (await shown("key", "list", "--account", EMAIL)).split("\n");
  expect(lines[0]).toMatch(/TOKENS A MINUTE .*MODELS +NETWORKS/);
  expect(lines.find((line) => line.includes(" other "))).toMatch(/ 900000 .* demo\/large +127\.0\.0\.0\/8$/);
  expect(lines.find((line) => line.includes(" one "))).toMatch(/ all +all$/);
});

it("a statement that is written to a file prints its tables and the file, and no JSON", async () => {
  const folder = mkdtempSync(join(tmpdir(), "saldo-statement-"));
  try {
    const file = join(folder, "month.csv");
    const month = billingDay(Date.now()).slice(0, 7);
    const words = ["statement", "month", "--account", EMAIL, "--month", month, "--format", "csv", "--file", file];
    const printed = await shown(...words);
    expect(printed).toMatch(/^closing balance +- +Rp [\d,]+\.\d+$/m);
    expect(printed).not.toMatch(/[{}[\]]/);
    expect(printed.trimEnd().split("\n").at(-1)).toBe(`It is written to ${file}.`);
    expect(readFileSync(file, "utf8")).toContain("demo/small");
    expect(await json(...words)).toMatchObject({ file, month });
  } finally {
    rmSync(folder, { recursive: true });
  }
});
