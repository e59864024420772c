// What comes late or at the wrong moment: a settlement of a month that is away, code of before, a login that sees no other's sessions.

import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { dropMonths } from "../../src/billing/archive/archive-months.ts";
import { restoreMonths } from "../../src/billing/archive/restore-months.ts";
import { waitForReaders } from "../../src/billing/archive/take-away.ts";
import { verifyArchive } from "../../src/billing/archive/verify-archive.ts";
import { recountUsage } from "../../src/billing/usage/roll-up.ts";
import { getUsageRecord, listUsage } from "../../src/billing/usage/usage.ts";
import { clientConfig, connectClient } from "../../src/database/connections.ts";
import { CODE_NUMBER, schemaCode } from "../../src/database/migrations/migrations.ts";
import { uuidv7 } from "../../src/kernel/ids.ts";
import { settlement, SOUND } from "../money/money-setup.ts";
import { ArchiveSetup, archivedMonths, firstKept, KEY } from "./archive-setup.ts";

const OWNER = `owner_${uuidv7().replaceAll("-", "")}`;
const BEFORE_ARCHIVES = (schemaCode.migrations.find(({ name }) => name === "usage-archive")?.number ?? 0) - 1;

describe("behind an archive", () => {
  let setup: ArchiveSetup;
  /** A request of an archived month that nothing names. */
  let plain: string;
  beforeAll(async () => {
    setup = await ArchiveSetup.create({ perMonth: 10, accounts: 2 });
    const [accountId = ""] = setup.accounts;
    const { items } = await listUsage(setup.money.pool, { accountId, filter: {}, pageSize: 1, pageToken: "" });
    plain = items[0]?.requestId ?? "";
    await setup.archive();
    await setup.work((work) => dropMonths(work, { before: firstKept(), folder: setup.folder }));
  });
  afterAll(() => setup.close());

  it("a settlement that a spool has kept since is posted once, to the record that recovery wrote", async () => {
    const { money, named } = setup;
    const [accountId = ""] = setup.accounts;
    const before = await money.balance(accountId);
    const { ledger } = await money.process();
    const late = { cost: 1_250_000n, charge: 1_250_000n, late: "posted" };
    expect(await ledger.settle(settlement(accountId, named.owed, 250))).toEqual(late);
    const after = await money.balance(accountId);
    expect(after.posted).toBe(before.posted - 750_000n);
    // The spool again, by another process.
    const { ledger: other } = await money.process();
    expect(await other.settle(settlement(accountId, named.owed, 250))).toEqual(late);
    expect(await money.balance(accountId)).toEqual(after);
    const { record } = await getUsageRecord(money.pool, { accountId, requestId: named.owed });
    expect(record.lateCharge).toBe(750_000n);
    expect(await setup.audit()).toEqual(SOUND);
    expect(await money.audit({ kind: "incremental" })).toEqual(SOUND);
  });

  it("a settlement of a request that was settled changes nothing", async () => {
    const { money } = setup;
    const [accountId = ""] = setup.accounts;
    const before = await money.balance(accountId);
    const { ledger } = await money.process();
    await expect(ledger.settle(settlement(accountId, plain, 250))).rejects.toThrow("without a hold");
    expect(await money.balance(accountId)).toEqual(before);
    expect(await money.asOwner("SELECT count(*)::int AS count FROM usage_record")).toEqual([{ count: 0 }]);
  });

  it("code of before starts no more, also when all months are back", async () => {
    const start = (code: number) =>
      setup.money.asOwner(
        `INSERT INTO process (id, expires_at, schema_code) VALUES ('${uuidv7()}', clock_timestamp() + interval '1 s', ${code})`,
      );
    await expect(start(BEFORE_ARCHIVES)).rejects.toThrow("older than this database allows");
    await expect(start(CODE_NUMBER)).resolves.toEqual([]);
    await setup.work((work) => restoreMonths(work, { folder: setup.folder }));
    await expect(start(BEFORE_ARCHIVES)).rejects.toThrow("older than this database allows");
    expect(await setup.audit()).toEqual(SOUND);
  });

  it("a folder that is newer than the books is taken up where it has their records, and refused where it has others", async () => {
    const { money } = setup;
    const [accountId = ""] = setup.accounts;
    const tables = ["usage_archive_step", "usage_archive_file", "usage_archive", "usage_archive_account", "usage_kept"];
    // Books of before the archive, as a restored backup has them.
    const forget = () =>
      money.asOwner(`SET session_replication_role = replica;
        ${tables.map((table) => `ALTER TABLE ${table} DISABLE TRIGGER append_only; DELETE FROM ${table}; ALTER TABLE ${table} ENABLE ALWAYS TRIGGER append_only;`).join("\n")}
        UPDATE usage_archive_mark SET before_month = '1970-01-01', before_id = '00000000-0000-0000-0000-000000000000'`);
    await forget();
    expect((await setup.archive()).map(({ month }) => month)).toEqual(archivedMonths());
    expect(await setup.audit()).toEqual(SOUND);
    expect(await verifyArchive(setup.folder, { key: KEY.publicKey })).toMatchObject({
      ok: true,
      months: archivedMonths(),
    });

    await setup.work((work) => restoreMonths(work, { folder: setup.folder }));
    await forget();
    // A request that came in the lost time, and is in the file alone.
    await money.asOwner(`SET session_replication_role = replica; ALTER TABLE usage_record DISABLE TRIGGER append_only;
      DELETE FROM usage_record WHERE request_id = '${plain}'; ALTER TABLE usage_record ENABLE ALWAYS TRIGGER append_only`);
    await recountUsage(money.pool, accountId);
    await expect(setup.archive()).rejects.toThrow("is not as it was sealed");
  });

  it("an owner that is no superuser waits for the transactions of others", async () => {
    const { money } = setup;
    await money.asOwner(`CREATE ROLE ${OWNER} LOGIN`);
    const url = new URL(money.opened.url);
    url.username = OWNER;
    const owner = await connectClient(clientConfig({ connectionString: url.href }, "saldo test"));
    const reader = await money.connectAsOwner();
    try {
      await reader.query("BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT 1");
      let isOver = false;
      const waiting = waitForReaders(owner, 0).then(() => expect(isOver).toBe(true));
      // A transaction that begins now reads the new mark, and is not waited for.
      const later = await money.connectAsOwner();
      for (let look = 0; look < 3; look += 1) await owner.query("SELECT pg_sleep(0.05)");
      await later.query("BEGIN; SELECT 1");
      isOver = true;
      await reader.query("COMMIT");
      await waiting;
      await later.end();
    } finally {
      await Promise.all([owner.end(), reader.end()]);
      await money.asOwner(`DROP ROLE ${OWNER}`);
    }
  });
});
