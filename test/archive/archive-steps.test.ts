// An archive and its way back, step by step: taken up again, alone, and behind its readers.

import { rm } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { dropMonths } from "../../src/billing/archive/archive-months.ts";
import { restoreMonths } from "../../src/billing/archive/restore-months.ts";
import { summarizeUsage } from "../../src/billing/usage/summary.ts";
import { SOUND } from "../money/money-setup.ts";
import { ArchiveSetup, archivedMonths, firstKept } from "./archive-setup.ts";

const MONTHS = archivedMonths();
const [OLDEST = "", SECOND = ""] = MONTHS;
const tableOf = (month: string): string => `usage_record_${month.replace("-", "_")}`;

describe("the steps of an archive", () => {
  let setup: ArchiveSetup;
  beforeEach(async () => {
    setup = await ArchiveSetup.create({ perMonth: 20, accounts: 2 });
  });
  afterEach(() => setup.close());

  const sumsOf = () =>
    Promise.all(setup.accounts.map((accountId) => summarizeUsage(setup.money.pool, { accountId, filter: {} })));
  const restore = (onStep?: (step: string) => void) =>
    setup.work((work) => restoreMonths(work, { folder: setup.folder }), onStep);
  const drop = (before = firstKept()) => setup.work((work) => dropMonths(work, { before, folder: setup.folder }));

  it("restores a table that was not dropped, down to a month, and archives it again", async () => {
    const sums = await sumsOf();
    await setup.archive();
    const restored = await setup.work((work) => restoreMonths(work, { folder: setup.folder, from: SECOND }));
    expect(restored.map(({ month }) => month)).toEqual(MONTHS.slice(1).toReversed());
    expect(
      await setup.money.asOwner("SELECT to_char(before_month, 'YYYY-MM') AS mark FROM usage_archive_mark"),
    ).toEqual([{ mark: SECOND }]);
    expect(await sumsOf()).toEqual(sums);
    expect(await setup.audit()).toEqual(SOUND);
    await setup.archive();
    expect(await sumsOf()).toEqual(sums);
  });

  it("keeps what an earlier run left of a file from counting", async () => {
    await setup.archive({ before: SECOND });
    const file = join(setup.folder, `${tableOf(OLDEST)}.parquet`);
    await rm(file);
    // The table is still there: the file is written again, and is the same.
    await setup.archive({ before: SECOND });
    expect(await setup.audit()).toEqual(SOUND);
    await drop(SECOND);
    await rm(file);
    await expect(setup.archive({ before: SECOND })).rejects.toThrow("was dropped");
    await expect(drop(SECOND)).resolves.toEqual([]);
    await expect(restore()).rejects.toThrow(/ENOENT|no such file/);
    const { violations } = await setup.audit();
    expect(violations.map(({ detail }) => detail)).toEqual([expect.stringContaining("is missing")]);
  });

  it("never runs twice at once", async () => {
    await setup.archive({
      before: SECOND,
      async onStep(step) {
        if (!step.endsWith("mark")) return;
        await expect(setup.archive()).rejects.toThrow("Another archive or restore");
        await expect(restore()).rejects.toThrow("Another archive or restore");
      },
    });
    expect(await setup.audit()).toEqual(SOUND);
  });

  it("waits for readers that began before a month was away", async () => {
    const reader = await setup.money.connectAsOwner();
    const statement =
      "SELECT count(*)::int AS count FROM usage_record WHERE request_id >= (SELECT before_id FROM usage_archive_mark)";
    let isOver = false;
    const archive = setup.archive({
      before: SECOND,
      async onStep(step) {
        if (step.endsWith("mark")) {
          await reader.query("BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT 1");
          return;
        }
        if (step.endsWith("detach")) expect(isOver).toBe(true);
        if (!step.endsWith("wait")) return;
        // The mark has moved, and this reader's snapshot is of before: it reads the month, whole.
        void (async () => {
          for (let look = 0; look < 5; look += 1) {
            const { rows } = await reader.query<{ count: number }>(statement);
            expect(rows).toEqual([{ count: 2 * MONTHS.length * 20 + 7 }]);
          }
          isOver = true;
          await reader.query("COMMIT");
          await reader.end();
        })();
      },
    });
    await archive;
    expect(isOver).toBe(true);
    expect(await setup.audit()).toEqual(SOUND);
  });
});
