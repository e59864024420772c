// An archive that is ended before any of its steps, and the way back: the end is the same, and the books are right at every step.

import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { dropMonths } from "../../src/billing/archive/archive-months.ts";
import { restoreMonths } from "../../src/billing/archive/restore-months.ts";
import { verifyArchive } from "../../src/billing/archive/verify-archive.ts";
import { summarizeUsage } from "../../src/billing/usage/summary.ts";
import { SOUND } from "../money/money-setup.ts";
import { ArchiveSetup, archivedMonths, firstKept } from "./archive-setup.ts";

const [OLDEST = "", SECOND = "", THIRD = ""] = archivedMonths();
const tableOf = (month: string): string => `usage_record_${month.replace("-", "_")}`;

class Killed extends Error {}

/** Ends a run before each step that it comes to for the first time, so that every step is ended before once. Returns how often. */
async function throughAllSteps(run: (onStep: (step: string) => void) => Promise<unknown>): Promise<string[]> {
  const ended: string[] = [];
  for (;;) {
    const done = await run((step) => {
      if (ended.includes(step)) return;
      ended.push(step);
      throw new Killed(step);
    }).then(
      () => true,
      (error: unknown) => {
        if (error instanceof Killed) return false;
        throw error;
      },
    );
    if (done) return ended;
  }
}

describe("an archive", () => {
  let setup: ArchiveSetup;
  beforeAll(async () => {
    setup = await ArchiveSetup.create({ perMonth: 20, accounts: 2 });
  });
  afterAll(() => setup.close());

  const recordsOf = (source = "usage_record") =>
    setup.money.asOwner(
      `SELECT md5(string_agg(u::text, ',' ORDER BY account_id, request_id)) AS digest, count(*)::int AS count FROM ${source} u`,
    );
  const sumsOf = () =>
    Promise.all(setup.accounts.map((accountId) => summarizeUsage(setup.money.pool, { accountId, filter: {} })));
  const restore = (onStep?: (step: string) => void) =>
    setup.work((work) => restoreMonths(work, { folder: setup.folder }), onStep);
  const drop = (before = firstKept()) => setup.work((work) => dropMonths(work, { before, folder: setup.folder }));

  it("comes to the same when it is ended before any of its steps, and so does its restore", async () => {
    const [records, sums] = [await recordsOf(), await sumsOf()];
    const steps = await throughAllSteps(async (onStep) => {
      try {
        await setup.archive({ before: THIRD, onStep });
      } finally {
        // Whatever was done: the books are right, and the sums are the same.
        expect(await setup.audit(null)).toMatchObject({ ok: true });
        expect(await sumsOf()).toEqual(sums);
      }
    });
    expect(steps.filter((step) => step.startsWith(OLDEST))).toEqual(
      ["seal", "file", "manifest", "mark", "wait", "detach", "done"].map((step) => `${OLDEST} ${step}`),
    );
    expect(steps).toHaveLength(7 * 2);
    expect(await verifyArchive(setup.folder)).toMatchObject({ ok: true, months: [OLDEST, SECOND] });
    expect(await setup.audit()).toEqual(SOUND);

    await drop();
    expect(await setup.money.asOwner(`SELECT to_regclass('${tableOf(OLDEST)}') AS gone`)).toEqual([{ gone: null }]);
    expect(await setup.audit()).toEqual(SOUND);
    const back = await throughAllSteps(async (onStep) => {
      try {
        await restore(onStep);
      } finally {
        expect(await setup.audit()).toMatchObject({ ok: true });
        expect(await sumsOf()).toEqual(sums);
      }
    });
    expect(back.filter((step) => step.startsWith(OLDEST))).toEqual(
      ["load", "rename", "attach", "restored"].map((step) => `${OLDEST} ${step}`),
    );
    expect(await recordsOf()).toEqual(records);
    const protectedBy = await setup.money.asOwner(
      `SELECT tgname AS name, tgenabled AS enabled FROM pg_trigger WHERE tgrelid = '${tableOf(OLDEST)}'::regclass ORDER BY 1`,
    );
    expect(protectedBy).toEqual([
      { name: "append_only", enabled: "A" },
      { name: "append_only_truncate", enabled: "A" },
    ]);
    // And away again: the same seals and the same files.
    await setup.archive({ before: THIRD });
    expect(await setup.audit()).toEqual(SOUND);
  }, 60_000);
});
