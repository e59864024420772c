// Archiving: closed months are sealed, written to files that are read back and compared, and then taken out of the table, the oldest
// first. Each step looks at what is there already, so a run that was ended anywhere is taken up by the next one, and comes to the same.

import { mkdir } from "node:fs/promises";
import { join, resolve } from "node:path";
import type { Client, ClientBase } from "pg";
import { LimitExceeded, NotFound, ValidationError } from "../../kernel/errors.ts";
import { coveringRoot } from "./covering-root.ts";
import { foldAccountSums } from "./account-sums.ts";
import { exists, fileOf, foldFile, measureFile, writeMonth, writeProof } from "./archive-folder.ts";
import {
  addAccounts,
  addManifest,
  addSeal,
  attachedMonths,
  dateOf,
  hasTable,
  lookBy,
  manifestsOf,
  readNowMs,
  readRecords,
  sealBefore,
  sealedMonths,
  sealOfMonth,
} from "./archive-store.ts";
import { type AccountSums, differencesOf, MonthFold, type MonthSums } from "./month-fold.ts";
import { type Month, monthOf } from "./month.ts";
import { foldRollUps } from "./roll-up-digest.ts";
import { manifestText, readManifest, readSeal, sealText, sign, type SignedText } from "./signed-text.ts";
import { detach, dropTable, moveMarkBehind, readMark, waitForReaders } from "./take-away.ts";
import { requireOver, requireRightRollUps, requireRolledUp } from "./takeable.ts";
import type { ProofKey } from "../proof/signing.ts";

/** Any number that no other program locks: one archive or restore runs at a time. */
const ARCHIVE_LOCK = 5_841_020_121;
const TAKE_LOCK = `SELECT pg_try_advisory_xact_lock(${ARCHIVE_LOCK}) AS taken, pg_backend_pid() AS pid`;
const ACCOUNTS_PER_INSERT = 1_000;

/** A connection of the owner that works, and the one that holds the lock of the archive. */
export type ArchiveWork = {
  readonly client: ClientBase;
  readonly holder: number;
  /** Called before each step, with its name. */
  readonly onStep: (step: string) => Promise<void> | void;
  readonly signal?: AbortSignal | undefined;
};

/** Runs work on connections of the owner, one such work at a time. `connect` gives a connection of the owner. */
export function withArchive<Outcome>(
  connect: <Result>(work: (client: Client) => Promise<Result>) => Promise<Result>,
  { onStep = () => {}, signal }: Partial<Pick<ArchiveWork, "onStep" | "signal">>,
  work: (archive: ArchiveWork) => Promise<Outcome>,
): Promise<Outcome> {
  return connect(async (holder) => {
    await holder.query("BEGIN ISOLATION LEVEL READ COMMITTED");
    await holder.query("SET LOCAL idle_in_transaction_session_timeout = 0");
    const { rows } = await holder.query<{ taken: boolean; pid: number }>(TAKE_LOCK);
    if (rows[0]?.taken !== true) throw new LimitExceeded("Another archive or restore of usage runs on this database.");
    const { pid } = rows[0];
    return connect(async (client) => {
      await client.query("SET statement_timeout = 0");
      return work({ client, holder: pid, onStep, signal });
    });
  });
}

export type ArchiveOptions = {
  /** The first month that stays, such as `2025-10`. */
  readonly before: string;
  readonly folder: string;
  /** Months that always stay, counted from now. */
  readonly keepMonths: number;
  readonly keys: readonly ProofKey[];
};

/** A month of the archive, as it was left. Money is micro-rupiah. */
export type ArchivedMonth = {
  readonly month: string;
  readonly rows: bigint;
  readonly charge: bigint;
  readonly file: string;
  readonly bytes: number;
  readonly sha256: string;
};

/**
 * Archives all months before one. Errors: ValidationError when that month is too new; LimitExceeded, naming why a month cannot be archived yet.
 * What was done before stays done.
 */
export async function archiveMonths(work: ArchiveWork, options: ArchiveOptions): Promise<ArchivedMonth[]> {
  const before = monthOf(options.before, "before");
  const newest = newestBefore(await readNowMs(work.client), options.keepMonths);
  if (before.name > newest) {
    const message = `must be ${newest} or before: SALDO_USAGE_KEEP_MONTHS is ${options.keepMonths}`;
    throw new ValidationError([{ field: "before", rule: "archive.before", message }]);
  }
  await mkdir(options.folder, { recursive: true, mode: 0o700 });
  const archived: ArchivedMonth[] = [];
  for (const name of await openMonths(work.client, before)) {
    work.signal?.throwIfAborted();
    archived.push(await archiveMonth(work, monthOf(name), { ...options, folder: resolve(options.folder) }));
  }
  return archived;
}

function newestBefore(nowMs: number, keepMonths: number): string {
  const now = new Date(nowMs);
  return new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - keepMonths, 1)).toISOString().slice(0, 7);
}

/** The months before one that are attached, or were taken away. A month that was taken away has its file looked after. */
async function openMonths(client: ClientBase, before: Month): Promise<string[]> {
  const [attached, sealed, mark] = [await attachedMonths(client), await sealedMonths(client), await readMark(client)];
  return [...new Set([...attached, ...sealed.filter((name) => name < mark)])]
    .filter((name) => name < before.name)
    .toSorted();
}

async function archiveMonth(work: ArchiveWork, month: Month, options: ArchiveOptions): Promise<ArchivedMonth> {
  const { client, onStep } = work;
  await onStep(`${month.name} seal`);
  const signed = (await sealOfMonth(client, month)) ?? (await sealMonth(client, month, options.keys));
  const seal = readSeal(signed.text);
  await onStep(`${month.name} file`);
  const measured = await putFile(work, month, { signed, options });
  const isCounted = (await readMark(client)) <= month.name;
  if (isCounted) {
    await onStep(`${month.name} mark`);
    await moveMarkBehind(client, month, seal);
  }
  if ((await attachedMonths(client)).includes(month.name)) {
    await onStep(`${month.name} wait`);
    await waitForReaders(client, work.holder, work.signal);
    await onStep(`${month.name} detach`);
    await detach(client, month);
  }
  await onStep(`${month.name} done`);
  return { month: month.name, rows: seal.rows, charge: seal.charge, file: fileOf(month), ...measured };
}

/** Seals a month: the sums of its accounts, and the signed text that has what all of it comes to. */
async function sealMonth(client: ClientBase, month: Month, keys: readonly ProofKey[]): Promise<SignedText> {
  await requireOver(client, month);
  const root = await coveringRoot(client, month);
  const waiting: AccountSums[] = [];
  const accounts: string[] = [];
  const fold = new MonthFold((sums) => {
    waiting.push({ ...sums });
    accounts.push(sums.accountId);
  });
  for await (const rows of readRecords(client, month.table)) {
    for (const row of rows) fold.add(row);
    if (waiting.length >= ACCOUNTS_PER_INSERT) await addAccounts(client, month, waiting.splice(0));
  }
  const sums = fold.end();
  await addAccounts(client, month, waiting);
  const { accountsDigest } = await foldAccountSums(lookBy(client), dateOf(month));
  if (accountsDigest !== sums.accountsDigest)
    throw new LimitExceeded(`The sums of accounts in ${month.name} that an earlier run wrote are not those of now.`);
  await requireRolledUp(client, month);
  await requireRightRollUps(client, month, accounts);
  const rollUpsDigest = await foldRollUps(lookBy(client), month);
  const previous = await sealBefore(client, month);
  const seal = sign(keys, sealText(month.name, { sums, rollUpsDigest, root, previous }));
  await addSeal(client, month, seal);
  return seal;
}

/** Sees to it that the folder has the month's file, equal to its seal, and what proves it. */
async function putFile(
  { client, onStep }: ArchiveWork,
  month: Month,
  { signed, options: { folder, keys } }: { signed: SignedText; options: ArchiveOptions },
): Promise<{ bytes: number; sha256: string }> {
  const path = join(folder, fileOf(month));
  const seal = readSeal(signed.text);
  const known = (await manifestsOf(client, month)).map(({ text }) => readManifest(text).sha256);
  if (!(await exists(path))) await writeFromTable(client, month, { folder, seal });
  const measured = await measureFile(path);
  // A file that was written, and whose manifest was not: it is compared once more.
  if (!known.includes(measured.sha256)) requireSame(path, await foldFile(path), seal);
  await onStep(`${month.name} manifest`);
  const manifest = sign(keys, manifestText(signed, { file: fileOf(month), ...measured }));
  const recorded = (await manifestsOf(client, month)).find(({ text }) => text === manifest.text) ?? manifest;
  await writeProof(folder, month, { seal: signed, manifest: recorded });
  await addManifest(client, month, { manifest: recorded, sha256: measured.sha256 });
  return measured;
}

async function writeFromTable(
  client: ClientBase,
  month: Month,
  { folder, seal }: { folder: string; seal: MonthSums },
): Promise<void> {
  if (!(await hasTable(client, month.table)))
    throw new NotFound(`${month.name} was dropped, and ${folder} does not have its file.`);
  await writeMonth(folder, month, {
    batches: readRecords(client, month.table),
    check: (read) => requireSame(fileOf(month), read, seal),
  });
}

/** Errors: LimitExceeded where records are not those of a seal. */
export function requireSame(what: string, found: MonthSums, seal: MonthSums): void {
  const differences = differencesOf(found, seal);
  if (differences.length > 0) throw new LimitExceeded(`${what} is not as it was sealed: ${differences.join("; ")}.`);
}

/** Removes tables of months that are in the archive, once their files in the folder have been compared. Returns the months. */
export async function dropMonths(
  work: ArchiveWork,
  { before, folder }: { before: string; folder: string },
): Promise<string[]> {
  const { client, onStep } = work;
  const [last, mark, attached] = [monthOf(before, "before"), await readMark(client), await attachedMonths(client)];
  const dropped: string[] = [];
  for (const name of await sealedMonths(client)) {
    const month = monthOf(name);
    if (name >= last.name || name >= mark || attached.includes(name) || !(await hasTable(client, month.table)))
      continue;
    await onStep(`${name} compare`);
    const seal = readSeal((await sealOfMonth(client, month))?.text ?? "");
    const path = join(folder, fileOf(month));
    requireSame(path, await foldFile(path), seal);
    await onStep(`${name} drop`);
    await dropTable(client, month, seal);
    dropped.push(name);
  }
  return dropped;
}
