// One mechanism locks accounts: the functions of src/database/functions/lock_accounts.sql. Others call it.

import { glob, readFile } from "node:fs/promises";
import { expect, test } from "vitest";
import { sqlOf, tableUses } from "./sql-texts.ts";

const src = new URL("../../src/", import.meta.url).pathname;

/** Files that have the statement, and why. */
const LOCKING: ReadonlyMap<string, string> = new Map([
  ["database/functions/lock_accounts.sql", "the mechanism"],
  ["database/functions/admit_request.sql", "of every request: a call would cost more than the statement"],
  ["database/functions/settle_request.sql", "of every request, too"],
  ["database/functions/commit_requests.sql", "of every request, too"],
]);

/** Files that change accounts, which locks them as well, each with the file and the words that lock them before. */
const CHANGING: ReadonlyMap<string, readonly [file: string, words: string]> = new Map([
  ["app/demo/seed/write-history.ts", ["app/demo/seed/write-history.ts", "await lockAccount(client, "]],
  ["database/functions/admit_request.sql", ["database/functions/admit_request.sql", "FOR NO KEY UPDATE"]],
  ["database/functions/budget_zone.sql", ["database/functions/budget_zone.sql", "lock_accounts(ARRAY[account])"]],
  ["database/functions/collect_owed.sql", ["database/functions/collect_owed.sql", "lock_accounts(ARRAY[account])"]],
  ["database/functions/commit_requests.sql", ["database/functions/commit_requests.sql", "FOR NO KEY UPDATE"]],
  ["database/functions/member_budget.sql", ["database/functions/member_budget.sql", "lock_accounts(ARRAY[account])"]],
  [
    "database/functions/post_late_usage.sql",
    ["database/functions/post_late_usage.sql", "lock_accounts(ARRAY[account])"],
  ],
  ["database/functions/settle_request.sql", ["database/functions/settle_request.sql", "FOR NO KEY UPDATE"]],
  // One row in a transaction of its own: nothing is locked before or behind it.
  ["keys/retry-settings.ts", ["keys/retry-settings.ts", "entitiesOn(pool)"]],
  ["ledger/account-limits.ts", ["ledger/account-limits.ts", "await lockAccount(client, "]],
  ["ledger/credits.ts", ["ledger/credits.ts", "await lockAccount(client, "]],
  ["ledger/debits.ts", ["ledger/debits.ts", "await lockAccount(client, "]],
  ["ledger/receivables.ts", ["billing/top-ups/apply-payment.ts", "await lockAccount(client, "]],
  ["ledger/recovery.ts", ["ledger/recovery.ts", "FROM lock_accounts($1::uuid[])"]],
]);

const COMMENT = /^\s*(?:\/\/|\*|\/\*|--).*$/gm;
const ROW_LOCK = /\bFOR\s+(?:NO\s+KEY\s+UPDATE|UPDATE|KEY\s+SHARE|SHARE)\b/gi;
const TABLE_LOCK = /\bLOCK\s+(?:(?:TABLE|ONLY)\s+)*(?:[\w.]+\s*,\s*(?:ONLY\s+)?)*account\b/i;
const CHANGE = /\b(?:UPDATE|DELETE\s+FROM|MERGE\s+INTO)\s+(?:ONLY\s+)?account\b/i;

/** Whether a statement locks accounts by a clause or a command; a change of one is no such. */
function locksAccounts(path: string, text: string): boolean {
  if (/\bLockMode\b/.test(text.replaceAll(COMMENT, ""))) return true;
  return sqlOf(path, text).some((sql) => {
    const last = [...sql.matchAll(ROW_LOCK)].at(-1)?.index ?? 0;
    return TABLE_LOCK.test(sql) || tableUses(sql.slice(0, last)).some(({ table }) => table === "account");
  });
}

function changesAccounts(path: string, text: string): boolean {
  const entity = /\bnative(?:Update|Delete)\(\s*Account\b/;
  return sqlOf(path, text).some((sql) => CHANGE.test(sql)) || entity.test(text.replaceAll(COMMENT, ""));
}

const sources = new Map<string, string>();
for await (const path of glob(["**/*.ts", "database/functions/*.sql"], { cwd: src, exclude: ["dashboard"] })) {
  if (!path.endsWith(".test.ts")) sources.set(path, await readFile(src + path, "utf8"));
}
const filesThat = (does: (path: string, text: string) => boolean): string[] =>
  [...sources].flatMap(([path, text]) => (does(path, text) ? [path] : [])).toSorted();

test("an account is locked by one mechanism", () => {
  expect(filesThat(locksAccounts)).toEqual([...LOCKING.keys()].toSorted());
});

test("an account is changed in the listed files only, behind a lock that is still there", () => {
  expect(filesThat(changesAccounts)).toEqual([...CHANGING.keys()].toSorted());
  const gone = [...CHANGING].filter(([, [path, words]]) => sources.get(path)?.includes(words) !== true);
  expect(gone).toEqual([]);
});

test.each([
  "const LOCK = `SELECT posted FROM account WHERE id = $1::uuid FOR UPDATE`;",
  "`WITH acc AS (\n  SELECT a.id FROM account a\n  WHERE a.id = ANY ($1)\n  ORDER BY a.id FOR NO KEY UPDATE NOWAIT)`",
  "`SELECT FROM customer c JOIN public.account a USING (id) FOR KEY SHARE`",
  'await client.query("LOCK TABLE account");',
  "`lock only account`",
  "`LOCK TABLE posting, account`",
  "`select posted from account where id = $1 for update`",
  '`SELECT posted FROM "account" WHERE id = $1 FOR UPDATE`',
  "`SELECT a.posted FROM posting p, account a WHERE a.id = p.credit FOR NO KEY UPDATE`",
  "await em.findOne(Account, { id }, { lockMode: LockMode.PESSIMISTIC_WRITE });",
])("a second mechanism is found: %s", (text) => {
  expect(locksAccounts("ledger/store.ts", text)).toBe(true);
});

test.each([
  "`SELECT posted FROM lock_accounts(ARRAY[$1::uuid])`",
  "[`SELECT posted FROM account WHERE id = $1`, `SELECT FROM transfer WHERE id = $2 FOR NO KEY UPDATE`]",
  "-- SELECT FROM account FOR UPDATE",
])("a read, another lock and a comment are none: %s", (text) => {
  expect(locksAccounts("ledger/store.ts", text)).toBe(false);
});

test.each([
  ["`UPDATE account SET posted = 0`", true],
  ["`update only public.account set posted = 0`", true],
  ['`DELETE FROM "account"`', true],
  ["await em.nativeUpdate(Account, { id }, { keepsAnswers });", true],
  ["`SELECT FROM posting FOR UPDATE`", false],
  ["// UPDATE account SET posted = 0", false],
])("a change of accounts is found: %s", (text, isFound) => {
  expect(changesAccounts("ledger/store.ts", text)).toBe(isFound);
});
