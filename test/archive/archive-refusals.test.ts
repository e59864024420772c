// What an archive refuses: months that may not go yet, records that came behind a seal, files that are not as they were sealed.

import { open } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { archiveMonths, dropMonths } from "../../src/billing/archive/archive-months.ts";
import { exists, fileOf, writeMonth } from "../../src/billing/archive/archive-folder.ts";
import { monthOf } from "../../src/billing/archive/month.ts";
import { withTransaction } from "../../src/database/transactions.ts";
import { readBalance } from "../../src/ledger/accounts.ts";
import { creditByOperator } from "../setup/operator-credit.ts";
import { admission, SOUND } from "../money/money-setup.ts";
import { ArchiveSetup, archivedMonths, firstKept, KEEP_MONTHS, KEY } from "./archive-setup.ts";

const MONTHS = archivedMonths();
const [OLDEST = "", SECOND = ""] = MONTHS;
const tableOf = (month: string): string => `usage_record_${month.replace("-", "_")}`;

describe("an archive", () => {
  let setup: ArchiveSetup;
  beforeEach(async () => {
    setup = await ArchiveSetup.create({ perMonth: 20, accounts: 2 });
  });
  afterEach(() => setup.close());

  const drop = (before = firstKept()) => setup.work((work) => dropMonths(work, { before, folder: setup.folder }));

  it("gives no file its name whose records are others", async () => {
    const month = monthOf(OLDEST);
    const batches = async function* (): AsyncGenerator<never> {};
    const check = ({ rows }: { rows: bigint }): void => {
      throw new Error(`read back ${rows}`);
    };
    await expect(writeMonth(setup.folder, month, { batches: batches(), check })).rejects.toThrow("read back 0");
    expect(await exists(join(setup.folder, fileOf(month)))).toBe(false);
  });

  it("refuses to drop a table whose file is not as it was sealed", async () => {
    await setup.archive();
    {
      await using file = await open(join(setup.folder, `${tableOf(OLDEST)}.parquet`), "r+");
      await file.write(Buffer.of(0xff), 0, 1, 400);
    }
    await expect(drop()).rejects.toThrow();
    expect(await setup.money.asOwner(`SELECT to_regclass('${tableOf(OLDEST)}') IS NOT NULL AS kept`)).toEqual([
      { kept: true },
    ]);
  });

  it("refuses months that are too new, open, not sealed by the books, or still read by older code", async () => {
    const [account = ""] = setup.accounts;
    const [key = ""] = setup.keyIds;
    const month = new Date(Date.now()).toISOString().slice(0, 7);
    await expect(setup.archive({ before: month })).rejects.toMatchObject({ details: [{ rule: "archive.before" }] });
    await expect(setup.archive({ before: "2025-13" })).rejects.toMatchObject({ details: [{ rule: "archive.month" }] });

    const process = await setup.money.process();
    const old = `${((await setup.money.asOwner(`SELECT uuid_floor(timestamptz '${OLDEST}-20') AS id`)) as { id: string }[])[0]?.id}`;
    await process.ledger.admit({ ...admission(account, key, 1_000n), requestId: old });
    await expect(setup.archive()).rejects.toThrow("still open");
    await setup.money.asOwner(`DELETE FROM hold; UPDATE account SET held = 0, open_holds = 0`);

    await setup.money.asOwner("UPDATE process SET schema_code = 27");
    await expect(setup.archive()).rejects.toThrow("older version");
    await setup.money.asOwner("UPDATE process SET schema_code = 1000");

    await setup.money.asOwner(`UPDATE usage_roll_up SET charge = charge + 1 WHERE account_id = '${account}'`);
    await expect(setup.archive()).rejects.toThrow("saldo usage recount");
    await setup.money.asOwner(`UPDATE usage_roll_up SET charge = charge - 1 WHERE account_id = '${account}'`);

    const folder = setup.folder;
    await setup.archive({ before: SECOND });
    await setup.money.asOwner(`ALTER TABLE proof_root DISABLE TRIGGER append_only; DELETE FROM proof_root;
      ALTER TABLE proof_root ENABLE ALWAYS TRIGGER append_only`);
    await expect(
      setup.work((work) => archiveMonths(work, { before: firstKept(), folder, keepMonths: KEEP_MONTHS, keys: [KEY] })),
    ).rejects.toThrow("No signed root");
    expect((await setup.audit()).violations.map(({ detail }) => detail)).toContain("the root 1 is missing");
  });

  it("notices records that came into a month behind its seal", async () => {
    const [account = ""] = setup.accounts;
    const inserted = setup.archive({
      before: SECOND,
      async onStep(step) {
        if (!step.endsWith("mark")) return;
        await setup.money
          .asOwner(`INSERT INTO usage_record (account_id, request_id, key_id, model, input_tokens_uncached, input_tokens_cached,
            output_tokens, input_price, output_price, cost, charge, basis, billing_day, streamed, duration_ms)
          SELECT '${account}', uuid_floor(timestamptz '${OLDEST}-20 10:00Z'), '${setup.keyIds[0] ?? ""}', 'm', 1, 0, 0, 1, 1, 1, 1, 'exact', '${OLDEST}-20', true, 1`);
      },
    });
    await expect(inserted).rejects.toThrow("sealed were");
  });

  it("leaves what is posted once posted once", async () => {
    const [accountId = ""] = setup.accounts;
    const again = () =>
      withTransaction(setup.money.opened.database, (client) =>
        creditByOperator(client, { accountId, amount: 7n, reference: "the same order" }),
      );
    expect(await again()).toMatchObject({ isNew: true });
    const { posted } = await readBalance(setup.money.pool, accountId);
    await setup.archive();
    await drop();
    expect(await again()).toMatchObject({ isNew: false });
    expect((await readBalance(setup.money.pool, accountId)).posted).toBe(posted);
    expect(await setup.audit()).toEqual(SOUND);
  });
});
