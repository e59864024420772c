// One mechanism locks accounts: the functions of src/database/functions/lock_accounts.sql. Others call it.

import { glob, readFile } from "node:fs/promises";
import { expect, test } from "vitest";

const src = new URL("../../src/", import.meta.url).pathname;

/** Files that have the statement, and why. */
const LOCKING: ReadonlyMap<string, string> = new Map([
  ["database/functions/lock_accounts.sql", "the mechanism"],
  ["database/functions/admit_request.sql", "of every request: a call would cost more than the statement"],
  ["database/functions/settle_request.sql", "of every request, too"],
  ["database/functions/commit_requests.sql", "of every request, too"],
]);

const COMMENT = /^\s*(?:\/\/|\*|\/\*|--).*$/gm;
/** From a table that is named account to a clause that locks its rows, within one statement. */
const LOCK =
  /\b(?:FROM|JOIN)\s+(?:ONLY\s+)?(?:public\.)?account\b[^;`]*?\bFOR\s+(?:NO\s+KEY\s+UPDATE|UPDATE|KEY\s+SHARE|SHARE)\b/;
const LOCK_TABLE = /\bLOCK\s+(?:TABLE\s+)?(?:public\.)?account\b|\bLockMode\b/;

function locksAccounts(text: string): boolean {
  const code = text.replaceAll(COMMENT, "");
  return LOCK.test(code) || LOCK_TABLE.test(code);
}

test("an account is locked by one mechanism", async () => {
  const locking: string[] = [];
  for await (const path of glob(["**/*.ts", "database/functions/*.sql"], { cwd: src, exclude: ["dashboard"] })) {
    if (!path.endsWith(".test.ts") && locksAccounts(await readFile(src + path, "utf8"))) locking.push(path);
  }
  expect(locking.toSorted()).toEqual([...LOCKING.keys()].toSorted());
});

test.each([
  "const LOCK = `SELECT posted FROM account WHERE id = $1::uuid FOR UPDATE`;",
  "WITH acc AS (\n  SELECT a.id FROM account a\n  WHERE a.id = ANY ($1)\n  ORDER BY a.id FOR NO KEY UPDATE NOWAIT)",
  "SELECT FROM customer c JOIN public.account a USING (id) FOR KEY SHARE",
  'await client.query("LOCK TABLE account");',
  "await em.findOne(Account, { id }, { lockMode: LockMode.PESSIMISTIC_WRITE });",
])("a second mechanism is found: %s", (text) => {
  expect(locksAccounts(text)).toBe(true);
});

test.each([
  "SELECT posted FROM lock_accounts(ARRAY[$1::uuid])",
  "SELECT posted FROM account WHERE id = $1; SELECT FROM transfer WHERE id = $2 FOR NO KEY UPDATE",
  "-- SELECT FROM account FOR UPDATE",
])("a read, another lock and a comment are none: %s", (text) => {
  expect(locksAccounts(text)).toBe(false);
});
