// What comes late or at the wrong moment: a settlement of a month that is away, code of before, a login that sees no other's sessions.

import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { dropMonths } from "../../src/billing/archive/archive-months.ts";
import { restoreMonths } from "../../src/billing/archive/restore-months.ts";
import { waitForReaders } from "../../src/billing/archive/take-away.ts";
import { getUsageRecord, listUsage } from "../../src/billing/usage/usage.ts";
import { clientConfig, connectClient } from "../../src/database/connections.ts";
import { CODE_NUMBER, schemaCode } from "../../src/database/migrations/migrations.ts";
import { uuidv7 } from "../../src/kernel/ids.ts";
import { settlement, SOUND } from "../money/money-setup.ts";
import { ArchiveSetup, firstKept } from "./archive-setup.ts";

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
