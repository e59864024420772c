// Months of usage leave the table for files. What customers and operators read comes to the same before and after, and the audit finds
// whatever is changed of it.

import { open, readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { verifyArchive } from "../../src/billing/archive/verify-archive.ts";
import { exportUsage } from "../../src/billing/usage/usage-export.ts";
import { exportLedger } from "../../src/billing/usage/ledger-export.ts";
import { listLedgerEntries } from "../../src/billing/usage/ledger-entries.ts";
import { getUsageRecord, listUsage } from "../../src/billing/usage/usage.ts";
import { reportMargin } from "../../src/billing/usage/margin.ts";
import { recountUsage, rollUpUsage } from "../../src/billing/usage/roll-up.ts";
import { summarizeUsage, type UsageGrouping } from "../../src/billing/usage/summary.ts";
import { listStatements, readStatement } from "../../src/billing/statements/statement.ts";
import { exportStatement } from "../../src/billing/proof/statement.ts";
import { verifyStatement } from "../../src/billing/proof/verify.ts";
import { lastSealableDay, sealDays } from "../../src/billing/proof/seal.ts";
import { DAY_MS } from "../../src/kernel/clock.ts";
import { withTransaction } from "../../src/database/transactions.ts";
import { readTrialBalance } from "../../src/ledger/trial-balance.ts";
import { creditUsage } from "../../src/ledger/credit-note.ts";
import { SOUND } from "../money/money-setup.ts";
import { ArchiveSetup, archivedMonths, firstKept, KEY } from "./archive-setup.ts";

const GROUPINGS: readonly UsageGrouping[] = ["model_and_day", "key", "key_and_day"];
const MONTHS = archivedMonths();
const fileOf = (month = ""): string => `usage_record_${month.replace("-", "_")}.parquet`;
const boundaryMs = Date.parse(`${firstKept()}-01T00:00:00Z`);

/** All that is read of an account without its single records. */
async function readingsOf({ money: { pool } }: ArchiveSetup, accountId: string) {
  const summaries = [];
  for (const grouping of GROUPINGS) summaries.push(await summarizeUsage(pool, { accountId, filter: {}, grouping }));
  const months = await listStatements(pool, accountId);
  const statements = [];
  for (const { month } of months) {
    const { madeAt: _, ...statement } = await readStatement(pool, { accountId, month });
    statements.push(statement);
  }
  return { summaries, months, statements };
}

describe("months in the archive", () => {
  let setup: ArchiveSetup;
  let before: Awaited<ReturnType<typeof readingsOf>>[];
  let balance: Awaited<ReturnType<typeof readTrialBalance>>["rows"];
  let requestId: string;
  const all = () => Promise.all(setup.accounts.map((account) => readingsOf(setup, account)));

  beforeAll(async () => {
    setup = await ArchiveSetup.create();
    before = await all();
    balance = (await readTrialBalance(setup.money.pool)).rows;
    expect(await setup.audit()).toEqual(SOUND);
    const [account = ""] = setup.accounts;
    const { items } = await listUsage(setup.money.pool, { accountId: account, filter: {}, pageSize: 1, pageToken: "" });
    requestId = items[0]?.requestId ?? "";
    const archived = await setup.archive();
    expect(archived.map(({ month }) => month)).toEqual(MONTHS);
    expect(archived[0]?.rows).toBe(187n);
  });
  afterAll(() => setup.close());

  it("leave the same sums, statements and books", async () => {
    expect(await all()).toEqual(before);
    expect(await readTrialBalance(setup.money.pool)).toMatchObject({ rows: balance, isBalanced: true });
    const [left] = await setup.money.asOwner(`SELECT count(*)::int AS count FROM usage_record`);
    expect(left).toEqual({ count: 0 });
    expect(await setup.audit()).toEqual(SOUND);
    expect(await setup.money.audit({ kind: "incremental" })).toEqual(SOUND);
    expect(await setup.audit(null)).toMatchObject({
      ok: true,
      notCompared: ["the files of archived usage: SALDO_USAGE_ARCHIVE_DIR is not set"],
    });
  });

  it("are verified without the database", async () => {
    const { keys, rows, charge, ...verified } = await verifyArchive(setup.folder, { key: KEY.publicKey });
    expect(verified).toEqual({ ok: true, problems: [], months: MONTHS, trusted: true, continues: null });
    expect(keys).toEqual([KEY.id]);
    const counted = await setup.money.asOwner(
      `SELECT sum(requests)::text AS rows, sum(charge)::text AS charge FROM usage_archive_account`,
    );
    expect(counted).toEqual([{ rows: String(rows), charge: String(charge) }]);
    expect(await verifyArchive(setup.folder, { key: "another" })).toMatchObject({ ok: false, trusted: false });
  });

  it("keep roll-ups through a recount and further rounds", async () => {
    const [account = ""] = setup.accounts;
    await setup.money.asOwner(`UPDATE usage_rolled_up SET charge = charge + 1 WHERE account_id = '${account}'`);
    // Not believed, the sums of archived months are still those of roll-ups.
    expect(await readingsOf(setup, account)).toEqual(before[0]);
    await recountUsage(setup.money.pool, account);
    await rollUpUsage(setup.money.pool);
    expect(await all()).toEqual(before);
    expect(await setup.audit()).toEqual(SOUND);
  });

  it("refuse readers that need single requests, and name the month", async () => {
    const { pool, opened } = setup.money;
    const [accountId = ""] = setup.accounts;
    const from = { fromMs: boundaryMs };
    const inArchive = new RegExp(`filter.from|${firstKept()}`);
    const of = (filter: object) => Array.fromAsync(exportUsage(pool, { accountId, filter }));
    await expect(of({})).rejects.toMatchObject({ details: [{ rule: "usage_filter.archived" }] });
    expect((await of(from)).join("").split("\r\n").filter(Boolean)).toHaveLength(1);
    await expect(summarizeUsage(pool, { accountId, filter: { failed: true } })).rejects.toMatchObject({
      details: [{ rule: "usage_filter.archived", message: expect.stringMatching(inArchive) }],
    });
    const cut = { fromMs: Date.parse(`${MONTHS[1]}-03T00:07:00Z`) };
    await expect(summarizeUsage(pool, { accountId, filter: cut })).rejects.toMatchObject({
      details: [{ rule: "usage_filter.archived" }],
    });
    const page = { pageSize: 10, pageToken: "" };
    await expect(listUsage(pool, { accountId, filter: {}, orderBy: "-cost", ...page })).rejects.toMatchObject({
      details: [{ rule: "usage_filter.archived" }],
    });
    expect((await listUsage(pool, { accountId, filter: {}, ...page })).items).toEqual([]);
    await expect(getUsageRecord(pool, { accountId, requestId })).rejects.toThrow("archive");
    await expect(
      reportMargin(pool, { from: `${MONTHS[3]}-05`, to: `${MONTHS[3]}-06`, by: "model" }),
    ).rejects.toMatchObject({
      details: [{ rule: "margin.archived" }],
    });
    await expect(
      withTransaction(opened.database, (client) =>
        creditUsage(client, { requestId, amount: null, note: "a test", name: null }),
      ),
    ).rejects.toThrow("saldo usage restore");
  });

  it("keep the requests at hand that postings name", async () => {
    const { pool, opened } = setup.money;
    const [accountId = ""] = setup.accounts;
    const { record, credited } = await getUsageRecord(pool, { accountId, requestId: setup.named.noted });
    expect([record.charge, credited]).toEqual([500_000n, 400n]);
    // The same note again: written once, for ever.
    const again = await withTransaction(opened.database, (client) =>
      creditUsage(client, { requestId: setup.named.noted, amount: 400n, note: "a test", name: "one" }),
    );
    expect(again).toMatchObject({ isNew: false, credited: 400n });
    const { record: late } = await getUsageRecord(pool, { accountId, requestId: setup.named.recovered });
    expect(late.lateCharge).toBeGreaterThan(0n);
  });

  it("are one line of the ledger's file, and the end of its list", async () => {
    const { pool } = setup.money;
    const [accountId = ""] = setup.accounts;
    const { posted } = await setup.money.balance(accountId);
    const lines = (await Array.fromAsync(exportLedger(pool, { accountId }))).join("").split("\r\n").filter(Boolean);
    expect(lines[1]).toContain("archived_months");
    const last = await listLedgerEntries(pool, { accountId, pageSize: 100, pageToken: "" });
    expect(last.nextPageToken).toBe("");
    expect(last.items).toHaveLength(lines.length - 2);
    expect(last.items[0]?.runningBalance).toBe(posted);
    expect(last.items.every(({ postedAt }) => postedAt.getTime() >= boundaryMs)).toBe(true);
  });

  it("leave the chains of accounts as they were signed", async () => {
    const { pool } = setup.money;
    const [accountId = ""] = setup.accounts;
    await sealDays(pool, { keys: [KEY], share: 1, nowMs: Date.now() + 2 * DAY_MS });
    await expect(Array.fromAsync(exportStatement(pool, { accountId }))).rejects.toMatchObject({
      details: [{ rule: "statement.archived" }],
    });
    const after = lastSealableDay(Date.now());
    const statement = await Array.fromAsync(exportStatement(pool, { accountId, after }));
    const verified = await verifyStatement(statement, { key: KEY.publicKey });
    expect(verified).toMatchObject({ ok: true, trusted: true });
    expect(verified.balance).toBe((await setup.money.balance(accountId)).posted);
    expect(await setup.audit()).toEqual(SOUND);
  });

  it("are found changed: a flipped byte, a missing file, a changed total", async () => {
    const path = join(setup.folder, fileOf(MONTHS[1]));
    const bytes = await readFile(path);
    const subjects = async () => (await setup.audit()).violations.map(({ subject, detail }) => `${subject}: ${detail}`);
    {
      await using file = await open(path, "r+");
      const at = Math.floor(bytes.length / 2);
      await file.write(Buffer.of((bytes[at] ?? 0) ^ 1), 0, 1, at);
    }
    expect(await subjects()).toEqual([expect.stringContaining(`${MONTHS[1]}: ${fileOf(MONTHS[1])} was changed`)]);
    expect((await verifyArchive(setup.folder)).problems.join()).toContain(fileOf(MONTHS[1]).replace(".parquet", ""));
    await writeFile(path, bytes);
    expect(await subjects()).toEqual([]);

    await rename(path, `${path}.away`);
    expect(await subjects()).toEqual([`${MONTHS[1]}: ${fileOf(MONTHS[1])} is missing`]);
    expect((await verifyArchive(setup.folder)).problems.join()).toContain("is missing");
    await rename(`${path}.away`, path);
    const proof = path.replace(".parquet", ".json");
    await rename(proof, `${proof}.away`);
    expect((await verifyArchive(setup.folder)).ok).toBe(false);
    await rename(`${proof}.away`, proof);

    const [account = ""] = setup.accounts;
    const change = (by: number) =>
      setup.money
        .asOwner(`SET session_replication_role = replica; ALTER TABLE usage_archive_account DISABLE TRIGGER append_only;
        UPDATE usage_archive_account SET charge = charge + ${by}, cost = cost + ${by} WHERE account_id = '${account}' AND month = '${MONTHS[0]}-01';
        ALTER TABLE usage_archive_account ENABLE ALWAYS TRIGGER append_only`);
    await change(1);
    const found = await subjects();
    expect(found.join("\n")).toContain(`${MONTHS[0]}: the sums of its accounts charge`);
    expect(found.join("\n")).toContain(`${account}: posted`);
    await change(-1);
    expect(await subjects()).toEqual([]);
    await rm(`${path}.away`, { force: true });
  });
});
