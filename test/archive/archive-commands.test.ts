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
    const actions = await setup.money.asOwner(
      "SELECT action FROM operator_action WHERE action LIKE 'usage archive%' OR action LIKE 'usage restore'",
    );
    expect(actions).toHaveLength(3);
  });

  it("end with 1 and the reason where a month is too new, and with 2 without an option", async () => {
    const tooNew = await runSaldo(["usage", "archive", "--before", "2100-01", "--to", setup.folder], settings());
    expect(tooNew).toMatchObject({ code: 1, stderr: expect.stringContaining("SALDO_USAGE_KEEP_MONTHS is 13") });
    expect((await runSaldo(["usage", "archive", "--to", setup.folder], settings())).code).toBe(2);
  });
});
