// A year of usage: sealed, archived, dropped, restored and read again, with the same sums and less disk in between. SALDO_LONG_TESTS=1 takes
// ten million records, SALDO_ARCHIVE_RECORDS another number, and both print what they measure.

import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { dropMonths } from "../../src/billing/archive/archive-months.ts";
import { restoreMonths } from "../../src/billing/archive/restore-months.ts";
import { verifyArchive } from "../../src/billing/archive/verify-archive.ts";
import { summarizeUsage } from "../../src/billing/usage/summary.ts";
import { SOUND } from "../money/money-setup.ts";
import { IS_LONG } from "../setup/long-tests.ts";
import { ArchiveSetup, firstKept } from "./archive-setup.ts";

const ASKED = process.env["SALDO_ARCHIVE_RECORDS"];
const IS_MEASURED = IS_LONG || ASKED !== undefined;
const RECORDS = Number(ASKED ?? (IS_LONG ? 10_000_000 : 6_000));
const ACCOUNTS = 5;
const MONTHS = 12;
/** Far more than a batch takes, and far less than the records of a year. */
const MOST_GROWTH = 1_200 * 1024 * 1024;
/** Requests of an account in a month, a whole number of them. */
const PER_MONTH = Math.floor(RECORDS / ACCOUNTS / MONTHS);
const TIMEOUT_MS = IS_MEASURED ? 6 * 3_600_000 : 60_000;

describe("a year in the archive", () => {
  let setup: ArchiveSetup;
  beforeAll(async () => {
    setup = await ArchiveSetup.create({ perMonth: PER_MONTH, accounts: ACCOUNTS, months: MONTHS });
  }, TIMEOUT_MS);
  afterAll(() => setup.close());

  const bytesOf = async (): Promise<number> => {
    const [row] = (await setup.money.asOwner("SELECT pg_database_size(current_database())::float8 AS bytes")) as {
      bytes: number;
    }[];
    return row?.bytes ?? 0;
  };
  const measured: Record<string, string> = {};
  async function timed<Outcome>(name: string, work: () => Promise<Outcome>): Promise<Outcome> {
    const startedAt = performance.now();
    const outcome = await work();
    measured[name] = `${((performance.now() - startedAt) / 1_000).toFixed(1)} s`;
    return outcome;
  }

  it(
    "comes to the same when it is sealed, taken away, dropped, restored and read again",
    async () => {
      const sums = () =>
        Promise.all(
          setup.accounts.map((accountId) =>
            summarizeUsage(setup.money.pool, { accountId, filter: {}, grouping: "key" }),
          ),
        );
      const before = await timed("sums before", sums);
      const full = await bytesOf();
      const memory = process.memoryUsage().rss;
      let most = memory;
      const watch = setInterval(() => {
        most = Math.max(most, process.memoryUsage().rss);
      }, 200);
      const months = await timed("archive", () => setup.archive());
      clearInterval(watch);
      expect(months).toHaveLength(MONTHS);
      expect(months.reduce((sum, { rows }) => sum + rows, 0n)).toBe(BigInt(PER_MONTH * ACCOUNTS * MONTHS) + 7n);
      expect(await timed("sums from roll-ups", sums)).toEqual(before);
      expect(most - memory).toBeLessThan(MOST_GROWTH);

      const dropped = await timed("drop", () =>
        setup.work((work) => dropMonths(work, { before: firstKept(), folder: setup.folder })),
      );
      expect(dropped).toHaveLength(MONTHS);
      const away = await bytesOf();
      expect(away).toBeLessThan(full);
      expect(await timed("verify", () => verifyArchive(setup.folder))).toMatchObject({ ok: true });
      expect(await timed("full audit", () => setup.audit())).toEqual(SOUND);

      await timed("restore", () => setup.work((work) => restoreMonths(work, { folder: setup.folder })));
      expect(await timed("sums after", sums)).toEqual(before);
      expect(await timed("full audit of what was restored", () => setup.audit())).toEqual(SOUND);
      if (!IS_MEASURED) return;
      const files = await readdir(setup.folder);
      const sizes = await Promise.all(files.map(async (file) => (await stat(join(setup.folder, file))).size));
      const megabytes = (bytes: number): string => `${(bytes / 1e6).toFixed(0)} MB`;
      process.stderr.write(
        `${JSON.stringify({
          records: PER_MONTH * ACCOUNTS * MONTHS,
          ...measured,
          databaseBefore: megabytes(full),
          databaseAfterDrop: megabytes(away),
          files: megabytes(sizes.reduce((sum, size) => sum + size, 0)),
          memoryGrowth: megabytes(most - memory),
        })}\n`,
      );
    },
    TIMEOUT_MS,
  );
});
