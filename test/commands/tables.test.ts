// What commands print: tables for people, and for programs one object whose members stay.

import { afterAll, beforeAll, expect, it } from "vitest";
import { billingDay, DAY_MS } from "../../src/kernel/clock.ts";
import { runSaldo, saldoJson } from "../setup/saldo-command.ts";
import { SaldoHere } from "../setup/saldo-here.ts";
import { createTestDatabase, type TestDatabase } from "../setup/test-database.ts";
import { chat, newCustomer } from "../app/customer.ts";

// Midnight may pass while this runs.
const DAYS = ["--from", billingDay(Date.now()), "--to", billingDay(Date.now() + DAY_MS)];
const HELLO = { model: "demo/small", messages: [{ role: "user", content: "Hello!" }] };

let opened: TestDatabase;
let settings: Record<string, string>;
let saldo: SaldoHere;
let customer: Awaited<ReturnType<typeof newCustomer>>;
beforeAll(async () => {
  opened = await createTestDatabase();
  settings = { DATABASE_URL: opened.url };
  saldo = await SaldoHere.start(settings);
  customer = await newCustomer(settings, { amount: "100000" });
  for (let count = 0; count < 3; count += 1) await chat(saldo.httpUrl, customer.key, HELLO);
});
afterAll(async () => {
  await saldo.stop();
  await opened.drop();
});

/** The number of a cell, such as `Rp 1,234.50`. */
function numberIn(cell = ""): number {
  return Number(cell.replace("Rp ", "").replaceAll(",", ""));
}

/** The lines of a command's table, each as its cells. */
async function linesOf(...words: string[]): Promise<string[][]> {
  const { code, stdout, stderr } = await runSaldo(words, settings);
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  return stdout
    .trimEnd()
    .split("\n")
    .map((line) => line.trim().split(/ {2,}/));
}

it("a list of requests has a header, a line for each and their sums, in --json too", async () => {
  const list = ["usage", "list", "--account", customer.accountId];
  const [header, ...lines] = await linesOf(...list);
  expect(header).toEqual(
    ["created at", "request", "model", "basis", "failure", "input", "output", "rupiah", "credited"].map((name) =>
      name.toUpperCase(),
    ),
  );
  const total = lines.pop();
  expect(lines).toHaveLength(3);
  const sumOf = (column: number): number => lines.reduce((sum, line) => sum + numberIn(line[column]), 0);
  expect(total).toEqual(["TOTAL", String(sumOf(5)), String(sumOf(6)), expect.any(String), "Rp 0.00"]);
  expect(numberIn(total?.[3])).toBeCloseTo(sumOf(7), 6);
  expect(numberIn(total?.[3])).toBeGreaterThan(0);
  // Three decimals read as thousands.
  for (const line of [...lines, total]) expect(line?.at(-2)).toMatch(/^Rp [\d,]+\.(?:\d\d|\d{4,6})$/);
  const json = (await saldoJson(list, settings)) as unknown as { total: Record<string, unknown> };
  expect(json.total).toEqual({
    requests: 3,
    inputTokens: sumOf(5),
    outputTokens: sumOf(6),
    charge: String(numberIn(total?.[3])),
    credited: "0",
  });
});

it("a margin ends with its total, and a list without anything is a sentence", async () => {
  const [header, line, total] = await linesOf("margin", ...DAYS);
  expect(header?.slice(0, 3)).toEqual(["MODEL", "REQUESTS", "REVENUE"]);
  expect([line?.[0], total?.[0]]).toEqual(["demo/small", "TOTAL"]);
  expect(total?.slice(1)).toEqual(line?.slice(1));
  expect(await linesOf("margin", "--from", "2020-01-01", "--to", "2020-01-02")).toEqual([
    ["There were no requests on these days."],
  ]);
});

it("a name that a terminal would act on is spelled out", async () => {
  const name = "red\u001b[31m\u202Ekey";
  await opened.database.pool.query("UPDATE api_key SET name = $2 WHERE account_id = $1", [customer.accountId, name]);
  const { stdout } = await runSaldo(["key", "list", "--account", customer.accountId], settings);
  expect(stdout).toContain("red\\u001b[31m\\u202ekey");
  expect(stdout).not.toContain("\u001b");
  const { keys } = (await saldoJson(["key", "list", "--account", customer.accountId], settings)) as unknown as {
    keys: { name: string }[];
  };
  expect(keys[0]?.name).toBe(name);
});

/** The members of what commands print that change nothing. Programs read them: a member may be added here, and none goes. */
const MEMBERS: readonly (readonly [words: string, members: readonly string[]])[] = [
  ["account list", ["accounts"]],
  [
    "account show",
    ["accountId", "email", "available", "held", "posted", "owed", "frozenAt", "maxOpenRequests", "openRequests"],
  ],
  ["action list", ["actions"]],
  ["admission status", ["stopped", "since", "reason"]],
  ["approval list", ["approvals"]],
  ["audit --hurry", ["ok", "violations", "hasMore", "kind"]],
  ["completion bash", ["shell", "script"]],
  ["key list", ["keys"]],
  ["receipt list", ["receipts"]],
  ["merchant list", ["merchants"]],
  ["transfer list", ["transfers"]],
  ["margin", ["from", "to", "by", "lines", "total"]],
  ["member list", ["members"]],
  ["merchant default-limit", ["limits"]],
  ["operator list", ["operators"]],
  ["payout journal list", ["journals"]],
  ["payout signer", ["signers"]],
  ["payout status", ["wallets", "stops"]],
  ["recover report", ["history", "owed", "payouts"]],
  ["security log", ["events"]],
  ["service-token list", ["tokens"]],
  ["settings show", ["welcomeCredit"]],
  ["top-up list", ["topUps", "total"]],
  ["usage list", ["records", "total"]],
  ["usage sum", ["by", "lines", "total"]],
];

it.each(MEMBERS)("%s prints one object with its members for --json, and a text without", async (words, members) => {
  const ofAccount = /^(?:account show|key|member|receipt|usage)/.test(words) ? ["--account", customer.accountId] : [];
  const all = [...words.split(" "), ...ofAccount, ...(words === "margin" ? DAYS : [])];
  const printed = await runSaldo([...all, "--json"], settings);
  expect(printed).toMatchObject({ code: 0, stderr: "" });
  expect(Object.keys(JSON.parse(printed.stdout) as object)).toEqual(expect.arrayContaining([...members]));
  expect(printed.stdout.trimEnd()).not.toContain("\n");
  const shown = await runSaldo(all, settings);
  expect(shown.code).toBe(0);
  expect(shown.stdout.trim()).not.toBe("");
});

it("a failure is an object with its code and its message, whatever has failed", async () => {
  const failures = [
    { words: ["nonsense"], error: "usage", code: 2 },
    { words: ["key", "list"], error: "usage", code: 2 },
    { words: ["key", "list", "--account", customer.accountId.replace(/.$/, "x")], error: "usage", code: 2 },
    { words: ["key", "revoke", "--key-id", customer.accountId], error: "not_found", code: 1 },
  ];
  for (const { words, ...expected } of failures) {
    const { code, stdout, stderr } = await runSaldo([...words, "--json"], settings);
    const { error, message } = JSON.parse(stdout) as { error: string; message: string };
    expect({ error, code }, words.join(" ")).toEqual(expected);
    expect(stderr.trimEnd()).toBe(message);
  }
  const wrong = await runSaldo(["audit", "--json"], { ...settings, SALDO_HTTP_PORT: "many" });
  expect(wrong.code).toBe(2);
  expect(JSON.parse(wrong.stdout)).toEqual({
    error: "settings",
    message: expect.stringContaining("SALDO_HTTP_PORT") as string,
  });
});
