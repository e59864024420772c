// Readers beside an archive: what they give is the same once months are back, ends where months are away, and leaves nothing out where a month
// is taken away between two of their statements.

import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { dropMonths } from "../../src/billing/archive/archive-months.ts";
import { restoreMonths } from "../../src/billing/archive/restore-months.ts";
import { sealAudit } from "../../src/billing/proof/audit-seals.ts";
import { exportStatement } from "../../src/billing/proof/statement.ts";
import { verifyStatement } from "../../src/billing/proof/verify.ts";
import { rollUpAudit } from "../../src/billing/usage/audit-roll-ups.ts";
import { exportLedger } from "../../src/billing/usage/ledger-export.ts";
import { listLedgerEntries } from "../../src/billing/usage/ledger-entries.ts";
import { listUsage } from "../../src/billing/usage/usage.ts";
import { exportUsage } from "../../src/billing/usage/usage-export.ts";
import { createLook, type Look } from "../../src/database/throttled-reader.ts";
import type { Page } from "../../src/kernel/paging.ts";
import { auditAccounts, readHorizon } from "../../src/ledger/audit/accounts.ts";
import { AuditFindings } from "../../src/ledger/audit/findings.ts";
import { readTrace } from "../../src/ledger/changed-accounts.ts";
import { SOUND } from "../money/money-setup.ts";
import { ArchiveSetup, archivedMonths, firstKept, KEY } from "./archive-setup.ts";

const [, SECOND = "", THIRD = ""] = archivedMonths();
const PER_MONTH = 600;

async function allPages<Item>(read: (pageToken: string) => Promise<Page<Item>>): Promise<Item[]> {
  const items: Item[] = [];
  for (let token = ""; ;) {
    const page = await read(token);
    items.push(...page.items);
    if (page.nextPageToken === "") return items;
    token = page.nextPageToken;
  }
}

describe("a reader beside an archive", () => {
  let setup: ArchiveSetup;
  let accountId: string;
  let before: Awaited<ReturnType<typeof readAll>>;
  beforeAll(async () => {
    setup = await ArchiveSetup.create({ perMonth: PER_MONTH, accounts: 1 });
    accountId = setup.accounts[0] ?? "";
    before = await readAll();
  });
  afterAll(() => setup.close());

  const pageOf = (pageToken: string) => ({ accountId, pageSize: 100, pageToken });
  const usagePages = () => allPages((token) => listUsage(setup.money.pool, { ...pageOf(token), filter: {} }));
  const ledgerPages = () => allPages((token) => listLedgerEntries(setup.money.pool, pageOf(token)));
  async function readAll() {
    const { pool } = setup.money;
    return {
      usage: await usagePages(),
      sorted: await allPages((token) => listUsage(pool, { ...pageOf(token), filter: {}, orderBy: "-cost" })),
      ledger: await ledgerPages(),
      usageFile: (await Array.fromAsync(exportUsage(pool, { accountId, filter: {} }))).join(""),
      ledgerFile: (await Array.fromAsync(exportLedger(pool, { accountId }))).join(""),
      statement: await Array.fromAsync(exportStatement(pool, { accountId })),
    };
  }
  const restore = (from?: string) => setup.work((work) => restoreMonths(work, { folder: setup.folder, from }));

  it("reads the same to the last digit once its months are back, and ends at the border while they are not", async () => {
    expect(before.usage).toHaveLength(4 * PER_MONTH + 7);
    await setup.archive();
    await setup.work((work) => dropMonths(work, { before: firstKept(), folder: setup.folder }));
    await restore(THIRD);
    const borderMs = Date.parse(`${THIRD}-01T00:00:00Z`);
    const isAtHand = (id: string): boolean => Number.parseInt(id.replaceAll("-", "").slice(0, 12), 16) >= borderMs;
    expect(await usagePages()).toEqual(before.usage.filter(({ requestId }) => isAtHand(requestId)));
    expect(await ledgerPages()).toEqual(before.ledger.filter(({ postedAt }) => postedAt.getTime() >= borderMs));
    await restore();
    expect(await readAll()).toEqual(before);
    expect(await verifyStatement(before.statement, { key: KEY.publicKey })).toMatchObject({ ok: true, trusted: true });
    expect(await setup.audit()).toEqual(SOUND);
  });

  it.each([
    [
      "usage",
      () => exportUsage(setup.money.pool, { accountId, filter: {} }),
      { details: [{ rule: "usage_filter.archived" }] },
    ],
    [
      "the ledger",
      () => exportLedger(setup.money.pool, { accountId }),
      { message: expect.stringContaining("archived") },
    ],
    [
      "a statement",
      () => exportStatement(setup.money.pool, { accountId }),
      { details: [{ rule: "statement.archived" }] },
    ],
  ])("ends a file of %s with an error where a month of it is archived meanwhile", async (_, read, error) => {
    const file = read();
    await file.next();
    await setup.archive();
    await expect(Array.fromAsync(file)).rejects.toMatchObject(error);
    await restore();
  });

  /** Runs an audit, and archives before the given statement of it. */
  async function auditedBeside(
    isNow: (text: string) => boolean,
    run: (look: Look, findings: AuditFindings) => Promise<void>,
  ) {
    const findings = new AuditFindings();
    const reading = createLook(setup.money.pool, { share: 1 });
    let isAway = false;
    const look: Look = async (text, values, over) => {
      if (!isAway && isNow(text)) {
        isAway = true;
        await setup.archive();
      }
      return reading(text, values, over);
    };
    await run(look, findings);
    expect(isAway).toBe(true);
    await restore();
    return findings.violations;
  }

  it("finds nothing wrong in roll-ups whose month is archived during a full audit", async () => {
    const found = await auditedBeside(
      (text) => text.includes("both_sides"),
      async (look, findings) => rollUpAudit.pages?.({ look, findings, full: true, notCompared: () => {} }),
    );
    expect(found).toEqual([]);
  });

  it("finds nothing wrong in seals whose month is archived during a full audit", async () => {
    const found = await auditedBeside(
      (text) => text.includes("'usage' AS kind"),
      async (look, findings) => sealAudit([KEY]).pages?.({ look, findings, full: true, notCompared: () => {} }),
    );
    expect(found).toEqual([]);
  });

  it("finds no balance wrong whose month is archived between two pages of a full audit", async () => {
    let pages = 0;
    const found = await auditedBeside(
      (text) => text.includes("AS moved") && (pages += 1) === 2,
      async (look, findings) => {
        const [horizon, trace] = [await readHorizon(look), await readTrace(look)];
        const since = { trace: null, postings: SECOND };
        await auditAccounts({ look, findings, full: true, horizon, trace, since });
      },
    );
    expect(found).toEqual([]);
  });
});
