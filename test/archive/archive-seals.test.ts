// The audit of seals beside an archive: the first hours of the oldest month at hand, and texts that are no seal, root or manifest.

import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { SOUND } from "../money/money-setup.ts";
import { ArchiveSetup, archivedMonths } from "./archive-setup.ts";

const [, SECOND = ""] = archivedMonths();
const CHAIN_CHECK = "the lines of an account are those that were sealed";
/** In the first 17 hours there are two lines, the second of them with a charge. */
const PER_MONTH = 60;

describe("the audit beside an archive", () => {
  let setup: ArchiveSetup;
  beforeEach(async () => {
    setup = await ArchiveSetup.create({ perMonth: PER_MONTH, accounts: 2 });
    await setup.archive({ before: SECOND });
    expect(await setup.audit()).toEqual(SOUND);
  });
  afterEach(() => setup.close());

  const change = (table: string, statement: string) =>
    setup.money.asOwner(
      `ALTER TABLE ${table} DISABLE TRIGGER append_only; ${statement}; ALTER TABLE ${table} ENABLE ALWAYS TRIGGER append_only`,
    );
  /** The requests of an account in the first 17 hours of the month, oldest first. */
  const early = async (): Promise<string[]> =>
    (
      (await setup.money.asOwner(
        `SELECT request_id AS id FROM usage_record WHERE account_id = '${setup.accounts[1]}' AND request_id < uuid_floor('${SECOND}-01 17:00Z') ORDER BY 1`,
      )) as { id: string }[]
    ).map(({ id }) => id);
  const chainProblems = async () =>
    (await setup.audit()).violations
      .filter(({ check }) => check === CHAIN_CHECK)
      .map(({ subject, detail }) => ({ subject, detail }));

  it("finds a line that was changed in the first hours of the oldest month at hand", async () => {
    const [first = "", second = ""] = await early();
    await change("usage_record", `UPDATE usage_record SET clamped = true WHERE request_id = '${second}'`);
    const account = setup.accounts[1] ?? "";
    expect(await chainProblems()).toEqual([
      { subject: second, detail: expect.stringContaining("was changed or added") },
      { subject: account, detail: expect.stringContaining("is not as it was sealed") },
    ]);
    await change("usage_record", `UPDATE usage_record SET clamped = false WHERE request_id = '${second}'`);
    expect(await setup.audit()).toEqual(SOUND);
    // The first line has no charge; both together have.
    await change("usage_record", `DELETE FROM usage_record WHERE request_id IN ('${first}', '${second}')`);
    expect(await chainProblems()).toEqual([{ subject: account, detail: expect.stringContaining("some are missing") }]);
  });

  it("finds a line that was added there, and one that was taken from among others", async () => {
    const [first = "", second = ""] = await early();
    const account = setup.accounts[1] ?? "";
    // A posting behind both lines, as a top-up of that morning would be, was not sealed.
    await setup.money
      .asOwner(`INSERT INTO posting (account_id, id, group_id, asset, debit, credit, amount, reason, posted_at)
      SELECT '${account}', id, id, 'IDR/6', '00000000-0000-7000-8000-000000000001', '${account}', 1, 'test', timestamptz '${SECOND}-01 16:00Z'
      FROM uuid_floor('${SECOND}-01 16:00Z') AS id`);
    const [added] = (await setup.money.asOwner(`SELECT uuid_floor('${SECOND}-01 16:00Z') AS id`)) as { id: string }[];
    expect(await chainProblems()).toEqual([
      { subject: added?.id, detail: expect.stringContaining("changed or added after it was sealed") },
    ]);
    await change("posting", `DELETE FROM posting WHERE id = '${added?.id}'`);
    await change(
      "usage_record",
      `UPDATE usage_record SET request_id = overlay(request_id::text placing CASE right(request_id::text, 1) WHEN 'f' THEN '0' ELSE 'f' END from 36)::uuid WHERE request_id = '${first}'`,
    );
    expect((await chainProblems()).map(({ detail }) => detail)).toEqual([
      expect.stringContaining("changed or added after it was sealed"),
    ]);
    await change("usage_record", `DELETE FROM usage_record WHERE request_id = '${second}'`);
    expect((await setup.audit()).ok).toBe(false);
  });

  it.each([
    ["usage_archive", "the sums of an archived month are those that were sealed and signed", "its text is no seal"],
    ["usage_archive_file", "the file of an archived month is the one that was signed", "no manifest of it is signed"],
    [
      "proof_root",
      "the root of a seal is that of its accounts, signed, and follows the one before",
      "its text is no root",
    ],
  ])("reports a text of %s that cannot be read, and goes on", async (table, check, detail) => {
    // Last what is no JSON: an error of syntax is a problem of the code to some who catch errors, and would hide the others.
    for (const text of ["7", "null", "{}", '{"a']) {
      await change(table, `UPDATE ${table} SET text = '${text}'`);
      expect((await setup.audit()).violations).toContainEqual(
        expect.objectContaining({ check, detail: expect.stringContaining(detail) }),
      );
    }
  });

  it("reports signatures that are none, and goes on", async () => {
    for (const signatures of ["7", "{}", "[7]", "[null]", "[]"]) {
      for (const table of ["usage_archive", "usage_archive_file", "proof_root"])
        await change(table, `UPDATE ${table} SET signatures = '${signatures}'`);
      const checks = new Set((await setup.audit()).violations.map(({ check }) => check));
      expect(checks).toContain("a root is signed by a key of ours");
      expect(checks).toContain("the sums of an archived month are those that were sealed and signed");
      expect(checks).toContain("the file of an archived month is the one that was signed");
    }
  });
});
