// Settlements that the database has not taken, on disk: a delivered answer remains owed when its process ends, for example by a
// restart during an outage. A process appends to a file of its own and removes it once nothing is owed. A process that starts
// takes over the files of ended ones. A settlement that is done twice has the effect of one.
//
// Each entry has the history of the books that it belongs to. After a restore, or a failover that its process did not live through, other requests may have
// the money of its hold: such an entry stays in its file, is listed by `saldo recover report`, and is never settled.

import { mkdir, open, readdir, readFile, rename, rm } from "node:fs/promises";
import { uptime } from "node:os";
import { join } from "node:path";
import { deserialize, serialize } from "node:v8";
import { isAlive } from "../../database/embedded/postmaster.ts";
import { type History, isSameHistory } from "../../database/history.ts";
import type { Settlement } from "../ledger.ts";

const FILE = /^owed-(\d+)-(\d+)$/;

/** A settlement on disk. `history`: that of the server which its process used last; null where it was not stored. */
export type OwedEntry = { readonly settlement: Settlement; readonly history: History | null };

/** The folder of the files, below the data folder. */
export function owedFolder(dataDir: string): string {
  return join(dataDir, "owed");
}

/** Lists the entries that belong to another history of the books than this one. Nothing settles them. */
export async function listForeignOwed(folder: string, history: History): Promise<OwedEntry[]> {
  const foreign: OwedEntry[] = [];
  for (const name of await namesIn(folder)) {
    if (!FILE.test(name)) continue;
    const text = await readFile(join(folder, name), "utf8").catch(nullIfGone);
    foreign.push(...entriesIn(text ?? "").filter((entry) => !belongsTo(history, entry)));
  }
  return foreign;
}

export class OwedSpool {
  readonly #folder: string;
  readonly #path: string;
  readonly #pid: number;
  #waiting: OwedEntry[] = [];
  /** One step at a time: lines are appended in order, and a removal comes behind them. */
  #work: Promise<void> = Promise.resolve();
  #hasFile = false;

  constructor(folder: string, pid = process.pid) {
    this.#folder = folder;
    this.#pid = pid;
    this.#path = join(folder, `owed-${pid}-${Date.now()}`);
  }

  /** Stores a settlement. It is on disk once `flush` returns. */
  add(settlement: Settlement, history: History | null): void {
    this.#waiting.push({ settlement, history });
    if (this.#waiting.length === 1) this.#then(() => this.#write());
  }

  /** Nothing is owed any more. */
  clear(): void {
    if (this.#waiting.length === 0 && !this.#hasFile) return;
    this.#waiting = [];
    this.#then(async () => {
      await rm(this.#path, { force: true });
      this.#hasFile = false;
    });
  }

  /** Waits until the stored settlements are on disk. Errors: those of the file system, of the last step. */
  async flush(): Promise<void> {
    await this.#work;
  }

  /** Takes over the settlements of ended processes that belong to this history of the books, and counts the foreign ones. */
  async takeOver(history: History): Promise<{ readonly taken: Settlement[]; readonly foreign: number }> {
    const taken: Settlement[] = [];
    let left = 0;
    for (const name of await namesIn(this.#folder)) {
      const path = join(this.#folder, name);
      if (path === this.#path || this.#isOfTheLiving(name)) continue;
      const text = await readFile(path, "utf8").catch(nullIfGone);
      // Another process that starts has taken it over.
      if (text === null) continue;
      const { own = [], foreign = [] } = Object.groupBy(entriesIn(text), (entry) =>
        belongsTo(history, entry) ? "own" : "foreign",
      );
      for (const { settlement } of own) this.add(settlement, history);
      // Stored under our own name before it is removed under the other one.
      await this.flush();
      if (foreign.length === 0) await rm(path, { force: true });
      else if (own.length > 0) await replaceFile(path, foreign.map(lineOf).join(""));
      taken.push(...own.map(({ settlement }) => settlement));
      left += foreign.length;
    }
    return { taken, foreign: left };
  }

  /** Whether the process that wrote a file still runs. Files of another kind are left alone, like those of a running process. */
  #isOfTheLiving(name: string): boolean {
    const [, pid, madeAtMs] = FILE.exec(name) ?? [];
    if (pid === undefined) return true;
    // In a container each start has the same number, and after a restart of the machine any process may have it.
    if (Number(pid) === this.#pid || Number(madeAtMs) < Date.now() - uptime() * 1_000) return false;
    return isAlive(Number(pid));
  }

  #then(step: () => Promise<void>): void {
    // A failed step has rejected its own caller, and must not prevent the next one.
    this.#work = this.#work.catch(() => {}).then(step);
    this.#work.catch(() => {});
  }

  async #write(): Promise<void> {
    const entries = this.#waiting;
    this.#waiting = [];
    if (entries.length === 0) return;
    await mkdir(this.#folder, { recursive: true, mode: 0o700 });
    this.#hasFile = true;
    await writeSynced(this.#path, "a", entries.map(lineOf).join(""));
  }
}

/** Entries of another history, and of none, are foreign. */
function belongsTo(history: History, entry: OwedEntry): boolean {
  return entry.history !== null && isSameHistory(entry.history, history);
}

async function namesIn(folder: string): Promise<string[]> {
  return readdir(folder).catch((): string[] => []); // nothing was ever owed
}

async function replaceFile(path: string, text: string): Promise<void> {
  await writeSynced(`${path}.rest`, "w", text);
  await rename(`${path}.rest`, path);
}

async function writeSynced(path: string, flags: "a" | "w", text: string): Promise<void> {
  const file = await open(path, flags, 0o600);
  try {
    await file.appendFile(text);
    await file.datasync();
  } finally {
    await file.close();
  }
}

function nullIfGone(error: unknown): null {
  if (error instanceof Error && "code" in error && error.code === "ENOENT") return null;
  throw error;
}

function lineOf(entry: OwedEntry): string {
  return `${serialize(entry).toString("base64")}\n`;
}

/** The last line may be incomplete: its process died while writing. Versions before 0.3 stored the settlement alone. */
function entriesIn(text: string): OwedEntry[] {
  return text.split("\n").flatMap((line) => {
    if (line === "") return [];
    try {
      const entry: OwedEntry | Settlement = deserialize(Buffer.from(line, "base64"));
      return "settlement" in entry ? [entry] : [{ settlement: entry, history: null }];
    } catch {
      return [];
    }
  });
}
