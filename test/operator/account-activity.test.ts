// Every command of operators, also future ones: what it changes in an account is a line of the account's own log, in the transaction of the
// change, without the operator and the reason. A command that is not in the table fails here.

import { readFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { commands } from "../../src/commands/all-commands.ts";
import { parseCommand } from "../../src/commands/command.ts";
import { clientConfig, withClient } from "../../src/database/connections.ts";
import { uuidv7 } from "../../src/kernel/ids.ts";
import { IDR, parseMoney } from "../../src/kernel/money.ts";
import { createMerchant } from "../../src/merchant/merchants/merchants.ts";
import { adjustAccount, creditAccount } from "../../src/operator/commands/accounts.ts";
import { creditMerchant } from "../../src/operator/commands/merchants.ts";
import { setLimits } from "../../src/operator/commands/transfers.ts";
import { listActivity, type ActivityLine } from "../../src/identity/members/activity.ts";
import { orderTransfer } from "../merchant/merchant-accounts.ts";
import { signInPerson, type SignedIn } from "../setup/session-rows.ts";
import { createTestDatabase, type TestDatabase } from "../setup/test-database.ts";
import { billRequest } from "./billed-request.ts";
import { commandActivity } from "./command-activity.ts";
import { contextOn } from "./command-context.ts";
import { openTopUp } from "./opened-top-up.ts";

const REASON = "a secret of operators";
const OPERATOR = "ani@operators.example";
const RUPIAH = parseMoney("1", IDR).units;

let opened: TestDatabase;
let owner: SignedIn;
let member: SignedIn;
let merchantId: string;
const made: Record<string, string> = {};
beforeAll(async () => {
  opened = await createTestDatabase();
  const { database } = opened;
  owner = await signInPerson(database.pool);
  member = await signInPerson(database.pool);
  ({ merchantId } = await createMerchant(database, { accountId: owner.ownAccountId, environment: "sandbox" }));
});
afterAll(() => opened.drop());

const account = (): string[] => ["--account", owner.ownAccountId];
const waiting = async (): Promise<string[]> => [
  "--transfer",
  (await orderTransfer(opened.database, { merchantId })).transfer.transferId,
];
/** What follows the name of a command. */
const OPTIONS: Readonly<Record<string, () => readonly string[] | Promise<readonly string[]>>> = {
  "account create": () => ["--email", `${uuidv7()}@test.example`],
  "account credit": () => [...account(), "--amount", "1000", "--reference", uuidv7(), "--reason", REASON],
  "account freeze": () => [...account(), "--reason", REASON],
  "account unfreeze": () => [...account(), "--reason", REASON],
  "account limit": () => [...account(), "--max-open-requests", "7", "--reason", REASON],
  "account update": () => [...account(), "--zone", "Asia/Makassar", "--reason", REASON],
  "usage credit": async () => {
    const { database } = opened;
    const requestId = await billRequest(database, { accountId: owner.ownAccountId, charge: 5n * RUPIAH });
    return ["--request-id", requestId, "--reason", REASON];
  },
  "key create": () => [...account(), "--name", "a key"],
  "key update": () => ["--key-id", made["keyId"] ?? "", "--name", "another"],
  "key revoke": () => ["--key-id", made["keyId"] ?? ""],
  "merchant create": () => [...account(), "--environment", "sandbox"],
  "merchant credit": () => {
    const coins = ["--merchant", merchantId, "--currency", "TRX", "--amount", "1000"];
    return [...coins, "--reference", uuidv7(), "--reason", REASON];
  },
  "merchant callback": () => ["--merchant", merchantId, "--url", "https://shop.example.com/secret-path"],
  "fee set": () => ["--merchant", merchantId, "--currency", "TRX", "--flat", "1", "--rate", "0.1", "--reason", REASON],
  "merchant limit": () => ["--merchant", merchantId, "--currency", "TRX", "--approval-above", "0", "--reason", REASON],
  "transfer approve": async () => [...(await waiting()), "--reason", REASON],
  "transfer reject": async () => [...(await waiting()), "--reason", "wrong recipient"],
  "top-up verify": async () => ["--top-up", await openTopUp(opened.database, { accountId: owner.ownAccountId })],
  "service-token create": () => [...account(), "--name", "a token"],
  "service-token revoke": () => ["--token-id", made["tokenId"] ?? ""],
  "member add": () => [...account(), "--email", member.email, "--role", "admin", "--reason", REASON],
  "member budget": () => [...account(), "--email", member.email, "--budget", "5", "--reason", REASON],
  "member remove": () => [...account(), "--email", member.email, "--reason", REASON],
  "person sign-out": () => [owner.email, "--reason", REASON],
  "person reset-second-factor": async () => {
    await opened.database.pool.query(
      `INSERT INTO auth.two_factor (id, user_id, secret, backup_codes, verified) VALUES ($1, $2, 'x', 'x', true)`,
      [uuidv7(), owner.personId],
    );
    return ["--email", owner.email, "--verified", REASON];
  },
};
/** Its provider is asked behind the line, and knows nothing of the payment. */
const FAILS = "top-up verify";

async function linesOf(accountId: string): Promise<readonly ActivityLine[]> {
  return (await listActivity([opened.database.pool], { accountId, pageSize: 100, pageToken: "" })).items;
}

async function run(...words: string[]): Promise<void> {
  const { command, values } = parseCommand(words, commands);
  const { json } = await command.run(values, contextOn(opened.database));
  for (const [name, value] of Object.entries(json)) if (typeof value === "string") made[name] = value;
}

/** The commands whose lines are looked at here. */
const tried = Object.entries(commandActivity).flatMap(([name, entry]) =>
  typeof entry === "string" || entry.file !== undefined ? [] : [[name, entry.action] as const],
);

describe("a command of operators", () => {
  test("is in the table, and no other is", () => {
    expect(Object.keys(commandActivity).toSorted()).toEqual(commands.map(({ name }) => name).toSorted());
  });

  test.each(tried)("%s is a line of the account that it changes", async (name, action) => {
    const before = await linesOf(owner.ownAccountId);
    const words = [...name.split(" "), ...((await OPTIONS[name]?.()) ?? [])];
    if (name === FAILS) await run(...words).catch(() => undefined);
    else await run(...words);
    const accountId = name === "account create" ? (made["accountId"] ?? "") : owner.ownAccountId;
    const after = await linesOf(accountId);
    const added = accountId === owner.ownAccountId ? after.slice(0, after.length - before.length) : after;
    expect(added).toEqual([expect.objectContaining({ action, actor: "operator", personId: null })]);
    expect(JSON.stringify(added)).not.toContain(REASON);
    expect(JSON.stringify(added)).not.toContain("secret-path");
  });

  test("that is tried elsewhere has its line there", () => {
    for (const entry of Object.values(commandActivity)) {
      if (typeof entry === "string" || entry.file === undefined) continue;
      expect(readFileSync(new URL(`../../${entry.file}`, import.meta.url), "utf8")).toContain(entry.action);
    }
  });

  test("that is repeated, or changes nothing, has no second line", async () => {
    const before = await linesOf(owner.ownAccountId);
    const command = { accountId: owner.ownAccountId, amount: RUPIAH, reason: REASON, reference: uuidv7() };
    const by = { database: opened.database, operator: OPERATOR };
    await Promise.all(Array.from({ length: 5 }, () => creditAccount(by, command)));
    await run("account", "unfreeze", ...account());
    await run("account", "limit", ...account(), "--max-open-requests", "7");
    expect((await linesOf(owner.ownAccountId)).length - before.length).toBe(1);
  });

  test("that no command line has is a line, too, and names no operator", async () => {
    const by = { database: opened.database, operator: OPERATOR };
    const correction = { accountId: owner.ownAccountId, amount: -RUPIAH, reason: REASON, reference: uuidv7() };
    await adjustAccount(by, correction);
    const lines = await linesOf(owner.ownAccountId);
    const facts = { amount: "-1", currencyCode: "IDR" };
    expect(lines[0]).toMatchObject({ action: "account.adjusted", actor: "operator", facts });
    expect(JSON.stringify(lines)).not.toContain(OPERATOR);
  });

  test("about a merchant is a line of the account of that merchant alone", async () => {
    const { database } = opened;
    const other = await signInPerson(database.pool);
    const theirs = await createMerchant(database, { accountId: other.ownAccountId, environment: "production" });
    const before = await linesOf(owner.ownAccountId);
    const by = { database, operator: OPERATOR };
    const limits = { currencyCode: "TRX", perTransfer: "5", daily: "", approvalAbove: "", reason: REASON };
    await setLimits(by, { merchantId: theirs.merchantId, ...limits });
    const coins = { currencyCode: "TRX", amountText: "3", reason: REASON, reference: uuidv7() };
    await creditMerchant(by, { merchantId: theirs.merchantId, ...coins });
    expect(await linesOf(owner.ownAccountId)).toEqual(before);
    expect((await linesOf(other.ownAccountId)).map(({ action, subject }) => [action, subject])).toEqual([
      ["merchant.credited", theirs.merchantId],
      ["merchant.limits_set", theirs.merchantId],
    ]);
  });

  test("whose line cannot be written changes nothing, and is in no other log", async () => {
    const { ownAccountId: accountId } = await signInPerson(opened.database.pool);
    const asOwner = (sql: string) =>
      withClient(clientConfig({ connectionString: opened.url }, "test"), (client) => client.query(sql));
    const state = async (): Promise<unknown> =>
      (
        await opened.database.pool.query(
          `SELECT a.posted, a.frozen_at, (SELECT count(*) FROM operator_action) AS lines, (SELECT count(*) FROM posting) AS postings
           FROM account a WHERE id = $1`,
          [accountId],
        )
      ).rows;
    const before = await state();
    await asOwner("ALTER TABLE account_activity ADD CONSTRAINT refused CHECK (action NOT LIKE 'account.%') NOT VALID");
    try {
      const credit = ["--amount", "1000", "--reference", uuidv7(), "--reason", REASON];
      await expect(run("account", "credit", "--account", accountId, ...credit)).rejects.toThrow("refused");
      await expect(run("account", "freeze", "--account", accountId)).rejects.toThrow("refused");
      expect(await state()).toEqual(before);
    } finally {
      await asOwner("ALTER TABLE account_activity DROP CONSTRAINT refused");
    }
  });
});
