// Restoring: months of the archive go back into the table, the newest first, so that the archive is always the oldest months. Where the
// table of a month was not dropped, it is compared and attached again; else its records are written from the file.

import { join } from "node:path";
import { NotFound } from "../../kernel/errors.ts";
import { type ArchiveWork, requireSame } from "./archive-months.ts";
import { exists, fileOf, readProof, proofOf } from "./archive-folder.ts";
import { attachedMonths, hasTable, insertRecords, readRecords, sealedMonths, sealOfMonth } from "./archive-store.ts";
import { type Month, monthOf } from "./month.ts";
import { MonthFold, type MonthSums } from "./month-fold.ts";
import { readParquet } from "./parquet-file.ts";
import { readSeal } from "./signed-text.ts";
import { attach, readMark, transact } from "./take-away.ts";

// The texts end with NOT VALID.
const CHECKS_OF_NEW_ROWS = `
SELECT quote_ident(conname) AS name, pg_get_constraintdef(oid) AS text FROM pg_constraint
WHERE conrelid = 'usage_record'::regclass AND contype = 'c' AND NOT convalidated`;

export type RestoreOptions = {
  readonly folder: string;
  /** The oldest month to restore; left out: all that the folder has. */
  readonly from?: string | undefined;
};

/** A month that was restored. */
export type RestoredMonth = { readonly month: string; readonly rows: bigint; readonly charge: bigint };

/** Restores months. Errors: NotFound when the folder does not have the newest month; LimitExceeded when a file is not as it was sealed. */
export async function restoreMonths(work: ArchiveWork, { folder, from }: RestoreOptions): Promise<RestoredMonth[]> {
  const { client } = work;
  const first = from === undefined ? "" : monthOf(from, "from").name;
  const mark = await readMark(client);
  const names = (await sealedMonths(client)).filter((name) => name < mark && name >= first).toReversed();
  const restored: RestoredMonth[] = [];
  for (const name of names) {
    work.signal?.throwIfAborted();
    const month = monthOf(name);
    if (!(await exists(join(folder, proofOf(month))))) {
      if (restored.length === 0) throw new NotFound(`${folder} does not have ${name}, which has to be restored first.`);
      return restored;
    }
    restored.push(await restoreMonth(work, month, folder));
  }
  return restored;
}

async function restoreMonth(work: ArchiveWork, month: Month, folder: string): Promise<RestoredMonth> {
  const { client, onStep } = work;
  const signed = await sealOfMonth(client, month);
  const { seal: beside } = await readProof(folder, proofOf(month));
  if (signed === null || signed.text !== beside.text)
    throw new NotFound(`${folder} has another ${month.name} than the one that was sealed here.`);
  const seal = readSeal(signed.text);
  const isAttached = (await attachedMonths(client)).includes(month.name);
  await onStep(`${month.name} load`);
  if (!(await hasTable(client, month.table))) await loadTable(work, month, { folder, seal });
  else requireSame(month.table, await foldTable(work, month.table), seal);
  await onStep(`${month.name} attach`);
  await attach(client, month, { isAttached });
  await onStep(`${month.name} restored`);
  return { month: month.name, rows: seal.rows, charge: seal.charge };
}

async function foldTable({ client }: ArchiveWork, table: string): Promise<MonthSums> {
  const fold = new MonthFold();
  for await (const rows of readRecords(client, table)) for (const row of rows) fold.add(row);
  return fold.end();
}

/** Writes a file's records into a new table, compares it, and gives it the month's name. */
async function loadTable(
  work: ArchiveWork,
  month: Month,
  { folder, seal }: { folder: string; seal: MonthSums },
): Promise<void> {
  const { client, onStep } = work;
  const table = `${month.table}_new`;
  await client.query(`DROP TABLE IF EXISTS ${table}`);
  await client.query(`CREATE TABLE ${table} (LIKE usage_record INCLUDING DEFAULTS INCLUDING CONSTRAINTS)`);
  // What holds for new rows alone: records of before may differ, and are restored as they were.
  const { rows: checks } = await client.query<{ name: string; text: string }>(CHECKS_OF_NEW_ROWS);
  for (const { name } of checks) await client.query(`ALTER TABLE ${table} DROP CONSTRAINT ${name}`);
  for await (const rows of readParquet(join(folder, fileOf(month)))) await insertRecords(client, table, rows);
  for (const { name, text } of checks) await client.query(`ALTER TABLE ${table} ADD CONSTRAINT ${name} ${text}`);
  await client.query(`ALTER TABLE ${table} ADD PRIMARY KEY (account_id, request_id)`);
  requireSame(fileOf(month), await foldTable(work, table), seal);
  await client.query(
    `CREATE INDEX ON ${table} (account_id, settled_at) WHERE settled_late(request_id, settled_at);
     CREATE INDEX ON ${table} USING brin (request_id);
     ANALYZE ${table}`,
  );
  await onStep(`${month.name} rename`);
  await transact(client, async () => {
    await client.query(`ALTER TABLE ${table} RENAME TO ${month.table}`);
    await client.query(`ALTER INDEX ${table}_pkey RENAME TO ${month.table}_pkey`);
  });
}
