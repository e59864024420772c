// Clocks that are months behind, of the database as of its machine: no request gets into a month whose records are in the archive.

import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { dropMonths } from "../../src/billing/archive/archive-months.ts";
import { restoreMonths } from "../../src/billing/archive/restore-months.ts";
import { sqlState } from "../../src/database/transactions.ts";
import { ServiceBusy } from "../../src/kernel/errors.ts";
import { uuidv7 } from "../../src/kernel/ids.ts";
import { GroupCommitLedger } from "../../src/ledger/group-commit/group-commit.ts";
import { ensurePartitions } from "../../src/ledger/jobs/partitions.ts";
import { admission, settlement, SOUND } from "../money/money-setup.ts";
import { ArchiveSetup, archivedMonths, firstKept } from "./archive-setup.ts";

const CHECK_VIOLATION = "23514";
const [OLDEST = "", SECOND = ""] = archivedMonths();
const msOf = (month: string): number => Date.parse(`${month}-01T00:00:00Z`);

describe("with clocks that are months behind", () => {
  let setup: ArchiveSetup;
  beforeAll(async () => {
    setup = await ArchiveSetup.create({ perMonth: 5, accounts: 1 });
    await setup.archive();
  });
  afterAll(() => setup.close());

  const write = (statement: string) => setup.money.asOwner(statement).then(() => "done", sqlState);
  const holdOf = (
    id: string,
  ): string => `INSERT INTO hold (account_id, id, owner, amount, key_id, model, input_price, output_price)
    VALUES ('${uuidv7()}', '${id}', '${id}', 1, '${id}', 'demo/small', 1, 1)`;
  const recordOf = (
    id: string,
  ): string => `INSERT INTO usage_record (account_id, request_id, key_id, model, input_tokens_uncached,
      input_tokens_cached, output_tokens, input_price, output_price, cost, charge, basis, billing_day, streamed, duration_ms)
    VALUES ('${uuidv7()}', '${id}', '${id}', 'demo/small', 1, 0, 1, 1, 1, 0, 0, 'free', '2026-11-20', false, 1)`;

  it("a request of an archived month is refused as busy, counted and reported, and others of its group are not", async () => {
    const { money } = setup;
    await setup.work((work) => dropMonths(work, { before: firstKept(), folder: setup.folder }));
    const account = await money.account(1_000_000n);
    const keyId = await money.key(account);
    const { lease } = await money.process();
    const reported: unknown[] = [];
    const { database } = money.opened;
    const onMisdated = (error: unknown) => reported.push(error);
    const ledger = new GroupCommitLedger({ database, owner: () => lease.processId, lanes: 1, onMisdated });
    const asked = [uuidv7(), uuidv7(msOf(OLDEST) + 1), uuidv7(), uuidv7(msOf(firstKept()) - 1), uuidv7()];
    const admitted = await Promise.allSettled(
      asked.map((requestId) => ledger.admit({ ...admission(account, keyId, 10_000n), requestId })),
    );
    const granted = { status: "fulfilled", value: { outcome: "granted" } };
    const busy = { status: "rejected", reason: expect.any(ServiceBusy) };
    expect(admitted).toMatchObject([granted, busy, granted, busy, granted]);
    expect(ledger.statistics()).toMatchObject({ misdated: 2, open: 3 });
    expect(reported).toMatchObject([{ constraint: "id_is_at_hand" }, { constraint: "id_is_at_hand" }]);
    for (const place of [0, 2, 4]) await ledger.settle(settlement(account, asked[place] ?? "", 1));
    expect(await money.balance(account)).toEqual({ posted: 985_000n, held: 0n, available: 985_000n });
    await ledger.close();
    expect(await setup.audit()).toEqual(SOUND);
  });

  it("no months are made whose records are in the archive, and all others are", async () => {
    await expect(ensurePartitions(setup.money.pool, new Date(msOf(OLDEST)), 24)).rejects.toThrow(
      /usage_record_\d{4}_\d{2} \(its records are in the archive\)/,
    );
    const made = (await setup.money.asOwner(
      "SELECT relname FROM pg_class WHERE relname ~ '^usage_record_2.*[0-9]$' ORDER BY 1 LIMIT 1",
    )) as { relname: string }[];
    expect(made).toEqual([{ relname: `usage_record_${firstKept().replace("-", "_")}` }]);
  });

  it("the database refuses holds and records before the mark, up to it, and as far as months are back", async () => {
    const [before, behind] = [msOf(firstKept()) - 1, msOf(firstKept())].map((ms) => uuidv7(ms)) as [string, string];
    for (const statement of [holdOf, recordOf]) {
      expect(await write(statement(before))).toBe(CHECK_VIOLATION);
      expect(await write(statement(behind))).toBe("done");
    }
    await write(`DELETE FROM hold`);
    await setup.work((work) => restoreMonths(work, { folder: setup.folder, from: SECOND }));
    expect(await write(holdOf(uuidv7(msOf(SECOND) - 1)))).toBe(CHECK_VIOLATION);
    expect(await write(holdOf(uuidv7(msOf(SECOND))))).toBe("done");
    await setup.work((work) => restoreMonths(work, { folder: setup.folder }));
    expect(await write(holdOf(uuidv7(msOf(OLDEST))))).toBe("done");
    const left = await setup.money.asOwner("SELECT conrelid FROM pg_constraint WHERE conname = 'id_is_at_hand'");
    expect(left).toEqual([]);
  });
});
