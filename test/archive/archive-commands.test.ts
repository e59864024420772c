// The operator's commands over an archive: what they print, and how they end.

import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { runSaldo, saldoJson } from "../setup/saldo-command.ts";
import { ArchiveSetup, archivedMonths, firstKept, KEY } from "./archive-setup.ts";

const SECRET = "a secret of a test that signs the months of its archive";

describe("the commands of an archive", () => {
  let setup: ArchiveSetup;
  const settings = (): Record<string, string> => ({
    DATABASE_URL: setup.money.opened.url,
    SALDO_PROOF_KEY: SECRET,
    SALDO_USAGE_ARCHIVE_DIR: setup.folder,
  });
  /** What the operators' log has of these commands. */
  const actions = async (): Promise<string[]> =>
    (
      (await setup.money.asOwner(
        "SELECT action || ' ' || (facts ->> 'run') AS line FROM operator_action WHERE action ~ '^usage (archive|restore)' ORDER BY id",
      )) as { line: string }[]
    ).map(({ line }) => line);
  beforeAll(async () => {
    setup = await ArchiveSetup.create({ perMonth: 10, accounts: 1 });
  });
  afterAll(() => setup.close());

  it("archive, verify, drop, restore and audit", async () => {
    const archived = await saldoJson(["usage", "archive", "--before", firstKept(), "--to", setup.folder], settings());
    expect(archived).toMatchObject({ months: archivedMonths().map((month) => ({ month })) });
    const verify = ["usage", "archive", "verify", setup.folder, "--key", KEY.publicKey];
    expect(await saldoJson(verify, settings())).toMatchObject({ ok: true, problems: [], trusted: true, rows: "47" });
    expect((await runSaldo([...verify.slice(0, -1), "another"], settings())).code).toBe(1);
    expect(await saldoJson(["usage", "archive", "drop", setup.folder, "--before", firstKept()], settings())).toEqual({
      dropped: archivedMonths(),
    });
    const audited = await runSaldo(["audit", "--full", "--hurry"], settings());
    expect(audited).toMatchObject({ code: 0, stdout: expect.stringContaining("The books are in order.") });
    expect(await saldoJson(["usage", "restore", setup.folder], settings())).toMatchObject({
      months: archivedMonths()
        .toReversed()
        .map((month) => ({ month })),
    });
    const lines = (action: string) => [`${action} started`, `${action} ended`];
    expect(await actions()).toEqual([
      ...lines("usage archive"),
      ...lines("usage archive drop"),
      ...lines("usage restore"),
    ]);
  });

  it("leave a line in the operators' log where they are ended on the way, and where they fail", async () => {
    const before = await actions();
    const archive = ["usage", "archive", "--before", firstKept(), "--to", setup.folder];
    const holder = await setup.money.connectAsOwner();
    // The seal of the first month is there; its mark waits for this lock, and the connections of the run are ended.
    await holder.query("BEGIN; LOCK TABLE usage_archive_mark IN SHARE MODE");
    const run = runSaldo(archive, settings());
    const waiting = `SELECT pid FROM pg_locks WHERE NOT granted AND relation = 'usage_archive_mark'::regclass`;
    await expect.poll(async () => (await setup.money.asOwner(waiting)).length, { timeout: 30_000 }).toBe(1);
    expect((await actions()).slice(before.length)).toEqual(["usage archive started"]);
    await setup.money.asOwner(`SELECT pg_terminate_backend(pid) FROM (${waiting}) waits`);
    expect((await run).code).toBe(1);
    await holder.query("ROLLBACK");
    await holder.end();
    expect((await actions()).slice(before.length)).toEqual(["usage archive started", "usage archive failed"]);
    expect((await runSaldo(archive, settings())).code).toBe(0);
    await saldoJson(["usage", "restore", setup.folder], settings());
  });

  it("end with 1 and the reason where a month is too new, and with 2 without an option", async () => {
    const tooNew = await runSaldo(["usage", "archive", "--before", "2100-01", "--to", setup.folder], settings());
    expect(tooNew).toMatchObject({ code: 1, stderr: expect.stringContaining("SALDO_USAGE_KEEP_MONTHS is 13") });
    expect((await runSaldo(["usage", "archive", "--to", setup.folder], settings())).code).toBe(2);
  });
});
