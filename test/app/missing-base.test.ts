// The metrics of a backup folder while its first base backup is taken: a large one takes hours, which is no alarm.

import { Registry } from "prom-client";
import { expect, test } from "vitest";
import { addBackupMetric } from "../../src/app/compose/backup.ts";
import { MissingBase } from "../../src/app/compose/missing-base.ts";
import type { FolderState } from "../../src/database/backup/folder-state.ts";

const EMPTY: FolderState = { baseAt: null, verifiedAt: null, diskFreeShare: 0.5 };
const TWO_HOURS_MS = 2 * 3_600_000;

/** What a scrape has of a folder. */
async function scrape(folder: FolderState | null): Promise<Record<string, string>> {
  const registry = new Registry();
  addBackupMetric(registry, { ageSeconds: () => 0, folder: () => folder });
  const lines = (await registry.metrics()).matchAll(/^saldo_backup_(base|verified)_age_seconds (\S+)$/gm);
  return Object.fromEntries(Array.from(lines, ([, name, value]) => [name, value ?? ""]));
}

test("a folder without a base backup has the age +Inf, and nothing to verify", async () => {
  expect(await scrape(EMPTY)).toEqual({ base: "+Inf" });
});

test("a folder that was never verified has the age of its first base backup", async () => {
  const first = new Date(Date.now() - TWO_HOURS_MS);
  const { verified } = await scrape({ ...EMPTY, baseAt: new Date(), verifiedAt: first });
  expect(Number(verified)).toBeGreaterThanOrEqual(TWO_HOURS_MS / 1_000);
});

test("the first try counts from its beginning until it ends", () => {
  const base = new MissingBase();
  expect(base.begunAt()).toBeNull();
  const begun = new Date(Date.now() - TWO_HOURS_MS);
  base.begin(begun);
  base.begin();
  expect(base.begunAt()).toEqual(begun);
  base.end();
  expect(base.begunAt()).toBeNull();
});

test("tries behind one that failed count as no base backup, until there is one", () => {
  const base = new MissingBase();
  // A receiver that fails before it takes one, as while the server starts, is no failed try.
  base.fail();
  base.begin();
  expect(base.begunAt()).not.toBeNull();
  base.fail();
  base.begin();
  expect(base.begunAt()).toBeNull();
  base.end();
  base.begin();
  expect(base.begunAt()).not.toBeNull();
});
