// What a login that may write the tables of an archive, another run or a wrong clock can do to it: it is found, or nothing is lost.

import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { dropMonths } from "../../src/billing/archive/archive-months.ts";
import { measureFile } from "../../src/billing/archive/archive-folder.ts";
import { restoreMonths } from "../../src/billing/archive/restore-months.ts";
import { manifestText, sign } from "../../src/billing/archive/signed-text.ts";
import { verifyArchive } from "../../src/billing/archive/verify-archive.ts";
import { proofKey } from "../../src/billing/proof/signing.ts";
import { recountUsage, rollUpUsage } from "../../src/billing/usage/roll-up.ts";
import { getUsageRecord } from "../../src/billing/usage/usage.ts";
import { SOUND } from "../money/money-setup.ts";
import { ArchiveSetup, archivedMonths, firstKept } from "./archive-setup.ts";

const [OLDEST = "", SECOND = ""] = archivedMonths();
const STRANGER = proofKey("a secret of a stranger who signs what was never archived");
const HAS_BEGUN = "usage_record_id_has_begun";
const tableOf = (month: string): string => `usage_record_${month.replace("-", "_")}`;

describe("an archive", () => {
  let setup: ArchiveSetup;
  beforeEach(async () => {
    setup = await ArchiveSetup.create({ perMonth: 10, accounts: 1 });
  });
  afterEach(() => setup.close());

  const drop = () => setup.work((work) => dropMonths(work, { before: firstKept(), folder: setup.folder }));
  /** Writes a record of a charge of 1, and charges it. */
  async function addRecord(table: string, { at, settled = at }: { at: string; settled?: string }): Promise<string> {
    const [account = ""] = setup.accounts;
    const [row] = (await setup.money.asOwner(`
      INSERT INTO ${table} (account_id, request_id, key_id, model, input_tokens_uncached, input_tokens_cached, output_tokens, input_price,
        output_price, cost, charge, basis, billing_day, streamed, duration_ms, settled_at)
      SELECT '${account}', uuid_floor(timestamptz '${at}'), '${setup.keyIds[0] ?? ""}', 'acme/large', 1, 0, 0, 1000000, 1000000, 1, 1, 'exact',
        (timestamptz '${at}' AT TIME ZONE 'Asia/Jakarta')::date, true, 1, timestamptz '${settled}' RETURNING request_id`)) as {
      request_id: string;
    }[];
    await setup.money.asOwner(`UPDATE account SET posted = posted - 1 WHERE id = '${account}'`);
    return row?.request_id ?? "";
  }

  it("is found forged where a file was swapped and a stranger's key signed its manifest", async () => {
    await setup.archive({ before: SECOND });
    const file = `${tableOf(OLDEST)}.parquet`;
    const path = join(setup.folder, file);
    await writeFile(path, "another file");
    const [seal] = (await setup.money.asOwner(
      `SELECT text, signatures FROM usage_archive WHERE month = '${OLDEST}-01'`,
    )) as Parameters<typeof manifestText>[0][];
    if (seal === undefined) throw new Error("no seal");
    const measured = await measureFile(path);
    const forged = sign([STRANGER], manifestText(seal, { file, ...measured }));
    await setup.money.asOwner(`INSERT INTO usage_archive_file (month, sha256, text, signatures)
      VALUES ('${OLDEST}-01', '\\x${measured.sha256}', '${forged.text}', '${JSON.stringify(forged.signatures)}')`);
    const { violations } = await setup.audit();
    expect(violations.map(({ check, subject }) => `${subject}: ${check}`)).toEqual([
      `${OLDEST}: the file of an archived month is the one that was signed`,
    ]);
  });

  it("is found forged where what is shown of a month was moved to another model", async () => {
    const move = (by: number, model: string) =>
      setup.money.asOwner(`UPDATE usage_roll_up SET charge = charge + ${by} WHERE ctid = (
        SELECT ctid FROM usage_roll_up WHERE model ${model} AND charge > 5 AND quarter < quarter_of(uuid_floor('${SECOND}-01')) LIMIT 1)`);
    await move(5, "= 'acme/large'");
    await move(-5, "<> 'acme/large'");
    await expect(setup.archive({ before: SECOND })).rejects.toThrow("saldo usage recount");
    await recountUsage(setup.money.pool, setup.accounts[0] ?? "");
    await setup.archive({ before: SECOND });
    expect(await setup.audit()).toEqual(SOUND);
    await move(5, "= 'acme/large'");
    await move(-5, "<> 'acme/large'");
    expect((await setup.audit()).violations).toMatchObject([
      { subject: OLDEST, detail: expect.stringContaining("not those that were sealed") },
    ]);
  });

  it("keeps the table of a month that has a record which no file has", async () => {
    await setup.archive();
    await addRecord(tableOf(SECOND), { at: `${SECOND}-20 10:00Z` });
    await expect(drop()).rejects.toThrow(`${SECOND} has`);
    const [kept] = await setup.money.asOwner(`SELECT to_regclass('${tableOf(SECOND)}') IS NOT NULL AS kept`);
    expect(kept).toEqual({ kept: true });
  });

  it("drops a month's table that was made again, and is empty", async () => {
    await setup.archive();
    await drop();
    await setup.money.asOwner(
      `CREATE TABLE ${tableOf(OLDEST)} PARTITION OF usage_record FOR VALUES FROM (uuid_floor('${OLDEST}-01')) TO (uuid_floor('${SECOND}-01'))`,
    );
    await setup.archive();
    expect(await drop()).toEqual([OLDEST]);
    await setup.work((work) => restoreMonths(work, { folder: setup.folder }));
    expect(await setup.audit()).toEqual(SOUND);
  });

  it("detaches no month that was restored meanwhile", async () => {
    const archive = setup.archive({
      before: SECOND,
      async onStep(step) {
        if (!step.endsWith("detach")) return;
        // Another restore, once the connection with the lock of the archive was lost.
        await setup.money.asOwner(
          "UPDATE usage_archive_mark SET before_month = '1970-01-01', before_id = '00000000-0000-0000-0000-000000000000'",
        );
      },
    });
    await expect(archive).rejects.toThrow("was restored meanwhile");
    expect(await setup.audit()).toEqual(SOUND);
  });

  it("keeps what a note has named between two runs that are days apart", async () => {
    const [accountId = ""] = setup.accounts;
    const requestId = await addRecord("usage_record", { at: `${OLDEST}-20 10:00Z` });
    await rollUpUsage(setup.money.pool);
    const ended = setup.archive({
      before: SECOND,
      async onStep(step) {
        if (step.endsWith("wait")) throw new Error("ended");
      },
    });
    await expect(ended).rejects.toThrow("ended");
    // Of a reader that went by the former mark, three days ago.
    await setup.money.asOwner(`ALTER TABLE usage_archive DISABLE TRIGGER append_only;
      UPDATE usage_archive SET sealed_at = clock_timestamp() - interval '3 days';
      ALTER TABLE usage_archive ENABLE ALWAYS TRIGGER append_only;
      INSERT INTO posting (account_id, id, group_id, asset, debit, credit, amount, reason, reference)
      VALUES ('${accountId}', uuid_floor(clock_timestamp() - interval '3 days'), '${requestId}', 'IDR/6', '00000000-0000-7000-8000-000000000001', '${accountId}', 1,
        'credit_note', 'credit-note:${requestId}')`);
    await setup.archive({ before: SECOND });
    expect(await getUsageRecord(setup.money.pool, { accountId, requestId })).toMatchObject({ record: { requestId } });
  });

  it("restores records of before that new rows may not be like", async () => {
    // An id of a later time than its record, as machines with a wrong clock once wrote.
    await setup.money.asOwner(`ALTER TABLE usage_record DROP CONSTRAINT ${HAS_BEGUN}`);
    await addRecord("usage_record", { at: `${OLDEST}-20 10:00Z`, settled: `${OLDEST}-18 05:00Z` });
    await setup.money.asOwner(
      `ALTER TABLE usage_record ADD CONSTRAINT ${HAS_BEGUN} CHECK (id_has_begun(request_id, settled_at)) NOT VALID`,
    );
    await rollUpUsage(setup.money.pool);
    // Its day was sealed without it.
    const found = await setup.audit();
    await setup.archive({ before: SECOND });
    await drop();
    expect(await setup.work((work) => restoreMonths(work, { folder: setup.folder }))).toHaveLength(1);
    expect(await setup.audit()).toEqual(found);
    await expect(
      addRecord("usage_record", { at: `${OLDEST}-21 10:00Z`, settled: `${OLDEST}-19 05:00Z` }),
    ).rejects.toThrow(HAS_BEGUN);
  });

  it("is not verified where the folder has none", async () => {
    const folder = await mkdtemp(join(tmpdir(), "saldo-archive-"));
    expect(await verifyArchive(folder)).toMatchObject({ ok: false, months: [] });
    await rm(folder, { recursive: true });
  });
});
