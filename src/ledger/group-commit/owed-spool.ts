// Settlements that the database has not taken, on disk: a delivered answer remains owed when its process ends, for example by a
// restart during an outage. A process appends to a file of its own and removes it once nothing is owed. A process that starts
// takes over the files of ended ones. A settlement that is done twice has the effect of one.
//
// Each entry has the history of the books that it belongs to. After a restore, or a failover that its process did not live through, other requests may have
// the money of its hold: such an entry stays in its file, is listed by `saldo recover report`, and is never settled.
//
// A write that fails is repeated. A file with a damaged line is kept aside under another name, and `saldo recover report` lists it.

import { constants, type FileHandle, link, open, readdir, readFile, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { ignoreIfThere, makeFolder, nullIfGone, putWhole, syncFolder } from "../../database/durable-files.ts";
import { type History, isSameHistory } from "../../database/history.ts";
import type { Settlement } from "../ledger.ts";
import { lineOf, type OwedEntry, type OwedLines, readLines } from "./owed-lines.ts";
import { isOfTheLiving, startOf } from "./owed-process.ts";

/** The process that wrote a file, and when. Those of earlier versions have no start, and no checksums. */
const FILE = /^owed-(\d+)-(\d+)(?:-(\d+)\.log)?$/;
const ASIDE = ".damaged";

/** The folder of the files, below the data folder. */
export function owedFolder(dataDir: string): string {
  return join(dataDir, "owed");
}

/** A file that has lines which cannot be read. */
export type DamagedOwed = { readonly path: string; readonly lines: number };

/** What nothing settles: entries of another history of the books than this one, and files with lines that cannot be read. */
export async function listUnsettled(
  folder: string,
  history: History,
): Promise<{ readonly foreign: OwedEntry[]; readonly damaged: DamagedOwed[] }> {
  const foreign: OwedEntry[] = [];
  const damaged: DamagedOwed[] = [];
  for (const name of await namesIn(folder)) {
    const file = FILE.exec(name.replace(ASIDE, ""));
    if (file === null) continue;
    const path = join(folder, name);
    const { entries, damaged: lines } = await readOwed(path).then((read) => read ?? { entries: [], damaged: 0 });
    const isAside = name.endsWith(ASIDE);
    // The entries of a file that was kept aside are in another file as well, or settled.
    if (!isAside) foreign.push(...entries.filter((entry) => !belongsTo(history, entry)));
    // A running process may be in the middle of a line.
    if (lines > 0 && (isAside || !isOfTheLiving(processOf(file)))) damaged.push({ path, lines });
  }
  return { foreign, damaged };
}

/** What a process took over. `foreign`: entries of another history, which stay. `damaged`: lines that cannot be read. */
export type TakenOver = { readonly taken: Settlement[]; readonly foreign: number; readonly damaged: number };

export class OwedSpool {
  readonly #folder: string;
  readonly path: string;
  readonly #pid: number;
  readonly #onFailure: (error: unknown) => void;
  #waiting: OwedEntry[] = [];
  /** One step at a time: lines are appended in order, and a removal comes behind them. */
  #work: Promise<void> = Promise.resolve();
  #hasFile = false;
  /** How much of the file is durable. */
  #bytes = 0;
  #failures = 0;
  #damagedFiles = 0;

  /** `onFailure`: called with each write that failed. */
  constructor(folder: string, pid = process.pid, onFailure: (error: unknown) => void = () => {}) {
    this.#folder = folder;
    this.#pid = pid;
    this.#onFailure = onFailure;
    this.path = join(folder, `owed-${pid}-${Date.now()}-${startOf(pid)}.log`);
  }

  /** For the metrics: writes that failed, and files of the folder that have damaged lines. */
  get statistics(): { readonly failedWrites: number; readonly damagedFiles: number } {
    return { failedWrites: this.#failures, damagedFiles: this.#damagedFiles };
  }

  /** Stores a settlement. It is on disk once `flush` returns. */
  add(settlement: Settlement, history: History | null): void {
    this.#waiting.push({ settlement, history });
    // After a failed write the next `retry` writes all: a full disk is not tried with each settlement.
    if (this.#waiting.length === 1) this.#then(() => this.#write());
  }

  /** Nothing is owed any more. */
  clear(): void {
    if (this.#waiting.length === 0 && !this.#hasFile) return;
    this.#waiting = [];
    this.#then(async () => {
      await rm(this.path, { force: true });
      this.#hasFile = false;
      this.#bytes = 0;
    });
  }

  /** Waits until the stored settlements are on disk, and writes again what failed. Errors: those of the file system, of the last step. */
  async flush(): Promise<void> {
    await this.#work.catch(() => {}); // it is written again
    if (this.#waiting.length > 0) this.#then(() => this.#write());
    await this.#work;
  }

  /** Writes again what failed, and counts the files that were kept aside. What fails again is reported, and waits for the next call. */
  async retry(): Promise<void> {
    await this.flush().catch(() => {});
    this.#damagedFiles = (await namesIn(this.#folder)).filter((name) => name.endsWith(ASIDE)).length;
  }

  /**
   * Takes over the settlements of ended processes that belong to this history of the books. Where they cannot be stored under our own
   * name, their file stays as well.
   */
  async takeOver(history: History): Promise<TakenOver> {
    const taken: Settlement[] = [];
    let [left, unreadable] = [0, 0];
    for (const name of await namesIn(this.#folder)) {
      const path = join(this.#folder, name);
      if (path === this.path || !this.#isOver(name)) continue;
      const read = await readOwed(path);
      // Another process that starts has taken it over.
      if (read === null) continue;
      const own = read.entries.filter((entry) => belongsTo(history, entry));
      const foreign = read.entries.filter((entry) => !belongsTo(history, entry));
      for (const { settlement } of own) this.add(settlement, history);
      // Stored under our own name before it is removed under the other one.
      const rest = { foreign, damaged: read.damaged, isChanged: own.length > 0 };
      await this.flush()
        .then(() => this.#leave(name, rest))
        .catch(this.#onFailure);
      taken.push(...own.map(({ settlement }) => settlement));
      left += foreign.length;
      unreadable += read.damaged;
    }
    await this.retry();
    return { taken, foreign: left, damaged: unreadable };
  }

  /** Whether the process that wrote a file has ended. Files of another kind are left alone. */
  #isOver(name: string): boolean {
    const file = FILE.exec(name);
    return file !== null && !isOfTheLiving(processOf(file), this.#pid);
  }

  /** Leaves of a file what nothing settles. */
  async #leave(
    name: string,
    { foreign, damaged, isChanged }: { foreign: readonly OwedEntry[]; damaged: number; isChanged: boolean },
  ): Promise<void> {
    const path = join(this.#folder, name);
    if (damaged > 0) {
      // Another process that starts may have done it, and may have removed the file.
      await link(path, path + ASIDE)
        .catch(nullIfGone)
        .catch(ignoreIfThere);
      await syncFolder(this.#folder);
    }
    if (foreign.length === 0) await rm(path, { force: true });
    else if (isChanged || damaged > 0) await replaceFile(this.#folder, name, foreign.map(lineOf).join(""));
  }

  #then(step: () => Promise<void>): void {
    // A failed step has rejected its own caller, and must not prevent the next one.
    this.#work = this.#work.catch(() => {}).then(step);
    this.#work.catch(() => {});
  }

  async #write(): Promise<void> {
    const entries = this.#waiting;
    if (entries.length === 0) return;
    this.#waiting = [];
    try {
      await makeFolder(this.#folder);
      this.#hasFile = true;
      this.#bytes = await appendWhole(this.path, this.#bytes, entries.map(lineOf).join(""));
    } catch (error) {
      this.#waiting = [...entries, ...this.#waiting];
      this.#failures += 1;
      this.#onFailure(error);
      throw error;
    }
  }
}

function processOf([, pid, madeAtMs, start]: RegExpExecArray): { pid: number; madeAtMs: number; start: string | null } {
  return { pid: Number(pid), madeAtMs: Number(madeAtMs), start: start ?? null };
}

/** Entries of another history, and of none, are foreign. */
function belongsTo(history: History, entry: OwedEntry): boolean {
  return entry.history !== null && isSameHistory(entry.history, history);
}

async function namesIn(folder: string): Promise<string[]> {
  return readdir(folder).catch((): string[] => []); // nothing was ever owed
}

/** Null: it is gone. */
async function readOwed(path: string): Promise<OwedLines | null> {
  const text = await readFile(path, "utf8").catch(nullIfGone);
  return text === null ? null : readLines(text, { hasChecksums: path.replace(ASIDE, "").endsWith(".log") });
}

/** Under a name that has checksums, as its lines have. */
async function replaceFile(folder: string, name: string, text: string): Promise<void> {
  const kept = join(folder, name.endsWith(".log") ? name : `${name}-0.log`);
  await putWhole(kept, text, (own) => rename(own, kept));
  if (kept !== join(folder, name)) await rm(join(folder, name), { force: true });
}

/**
 * Appends a text behind the durable bytes of a file, and returns how many are durable now. What a failed write has left behind them is
 * taken back first: nothing is appended to a torn line.
 */
async function appendWhole(path: string, durable: number, text: string): Promise<number> {
  const file = await open(path, constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT, 0o600);
  try {
    const { size } = await file.stat();
    const begin = Math.min(size, durable);
    if (size > begin) await file.truncate(begin);
    await appendOrTakeBack(file, begin, text);
    if (begin === 0) await syncFolder(join(path, ".."));
    return begin + Buffer.byteLength(text);
  } finally {
    await file.close();
  }
}

async function appendOrTakeBack(file: FileHandle, begin: number, text: string): Promise<void> {
  try {
    await file.appendFile(text);
    await file.datasync();
  } catch (error) {
    await file.truncate(begin).catch(() => {}); // the next write does
    throw error;
  }
}
