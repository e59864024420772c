// A machine with a wrong clock: its requests are refused, and earlier records do not prevent later partitions.

import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { billingDay } from "../../src/kernel/clock.ts";
import { UpstreamBusy } from "../../src/kernel/errors.ts";
import { uuidv7 } from "../../src/kernel/ids.ts";
import { GroupCommitLedger } from "../../src/ledger/group-commit/group-commit.ts";
import { NEWEST_REQUEST_MS, OLDEST_REQUEST_MS } from "../../src/ledger/process-lease.ts";
import { ensurePartitions } from "../../src/ledger/jobs/partitions.ts";
import { testBackends } from "../setup/test-database.ts";
import { admission, MoneySetup, settlement, SOUND } from "./money-setup.ts";

const MONTHS = 13;
const CHECKS_OF_IDS = [
  ["hold", "hold_id_has_begun", "CHECK (id_has_begun(id, placed_at))"],
  ["usage_record", "usage_record_id_has_begun", "CHECK (id_has_begun(request_id, settled_at))"],
] as const;
const SECOND_MS = 1_000;

function inMonths(months: number, day = 1): Date {
  const now = new Date();
  return new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + months, day));
}

describe.each(testBackends())("a wrong clock on the %s database", (backend) => {
  let setup: MoneySetup;
  beforeAll(async () => {
    setup = await MoneySetup.create(backend);
  });
  afterAll(() => setup.close());

  it("has its requests refused before anything is held, by the database's clock and to the second", async () => {
    const { database, lease } = await setup.process();
    const ledger = new GroupCommitLedger({ database, owner: (id) => lease.ownerOf(id), lanes: 1 });
    const account = await setup.account(1_000_000n);
    const key = await setup.key(account);
    const admit = (aheadMs: number) =>
      ledger.admit({ ...admission(account, key, 10_000n), requestId: uuidv7(Date.now() + aheadMs) });
    for (const aheadMs of [
      NEWEST_REQUEST_MS + 2 * SECOND_MS,
      -OLDEST_REQUEST_MS - 2 * SECOND_MS,
      inMonths(13).getTime() - Date.now(),
    ]) {
      await expect(admit(aheadMs)).rejects.toThrow(UpstreamBusy);
    }
    expect(ledger.statistics()).toMatchObject({ open: 0 });
    expect(await setup.balance(account)).toMatchObject({ held: 0n });
    for (const aheadMs of [0, NEWEST_REQUEST_MS - 2 * SECOND_MS, -OLDEST_REQUEST_MS + 2 * SECOND_MS]) {
      expect(await admit(aheadMs)).toMatchObject({ outcome: "granted" });
    }
    await ledger.close();
  });

  it("is logged with the renewal of the lease until it is right", async () => {
    const { lease } = await setup.process();
    await lease.renew();
    lease.requireRightClock();
    expect(() => lease.requireRightClock(Date.now() + 3_600_000)).toThrow("3600 s ahead of the database's");
    expect(() => lease.requireRightClock(Date.now() - 3_600_000)).toThrow("3600 s behind the database's");
  });

  it("keeps one month from being made and no other, until the owner has filed its records", async () => {
    const account = await setup.account(1_000_000n);
    const { ledger } = await setup.process();
    const strayAt = inMonths(15, 15);
    const requestId = uuidv7(strayAt.getTime());
    // As a database has it of before such ids were refused.
    await setup.asOwner(CHECKS_OF_IDS.map(([table, name]) => `ALTER TABLE ${table} DROP CONSTRAINT ${name}`).join(";"));
    await ledger.admit({ ...admission(account, await setup.key(account), 10_000n), requestId });
    await ledger.settle({ ...settlement(account, requestId, 1), billingDay: billingDay(strayAt.getTime()) });
    await setup.asOwner(
      CHECKS_OF_IDS.map(
        ([table, name, check]) => `ALTER TABLE ${table} ADD CONSTRAINT ${name} ${check} NOT VALID`,
      ).join(";"),
    );
    const blocked = `usage_record_${strayAt.toISOString().slice(0, 7).replace("-", "_")}`;
    await expect(ensurePartitions(setup.pool, inMonths(6), MONTHS)).rejects.toThrow(blocked);
    const months = async () =>
      (
        (await setup.asOwner(
          "SELECT relname FROM pg_class WHERE relname ~ '^usage_record_2.*[0-9]$' AND relkind = 'r'",
        )) as {
          relname: string;
        }[]
      ).map(({ relname }) => relname);
    const made = await months();
    expect(made).not.toContain(blocked);
    expect(made.filter((month) => month > blocked)).toHaveLength(3);
    expect((await setup.audit()).violations).toMatchObject([
      { subject: requestId, detail: "in the default partition" },
    ]);
    await expect(setup.pool.query("SELECT file_stray_usage()")).rejects.toThrow("permission denied");

    expect(await setup.asOwner("SELECT file_stray_usage() AS moved")).toEqual([{ moved: 1 }]);
    const found = await setup.asOwner(
      `SELECT tableoid::regclass::text AS month, charge FROM usage_record WHERE request_id = '${requestId}'`,
    );
    expect(found).toMatchObject([{ month: blocked }]);
    expect(await ensurePartitions(setup.pool, inMonths(6), MONTHS)).toEqual([]);
    expect(await setup.audit()).toEqual(SOUND);
    await expect(setup.asOwner("TRUNCATE usage_record_default")).rejects.toThrow("append-only");
    await expect(setup.asOwner(`DELETE FROM ${blocked}`)).rejects.toThrow("append-only");
  });
});
