// Settlements that the database has not taken, on disk: a delivered answer remains owed when its process ends, for example by a
// restart during an outage. A process appends to a file of its own and removes it once nothing is owed. A process that starts
// takes over the files of ended ones. A settlement that is done twice has the effect of one.

import { mkdir, open, readdir, readFile, rm } from "node:fs/promises";
import { uptime } from "node:os";
import { join } from "node:path";
import { deserialize, serialize } from "node:v8";
import { isAlive } from "../../database/embedded/postmaster.ts";
import type { Settlement } from "../ledger.ts";

const FILE = /^owed-(\d+)-(\d+)$/;

export class OwedSpool {
  readonly #folder: string;
  readonly #path: string;
  readonly #pid: number;
  #waiting: Settlement[] = [];
  /** One step at a time: lines are appended in order, and a removal comes behind them. */
  #work: Promise<void> = Promise.resolve();
  #hasFile = false;

  constructor(folder: string, pid = process.pid) {
    this.#folder = folder;
    this.#pid = pid;
    this.#path = join(folder, `owed-${pid}-${Date.now()}`);
  }

  /** Stores a settlement. It is on disk once `flush` returns. */
  add(settlement: Settlement): void {
    this.#waiting.push(settlement);
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

  /** Takes over the settlements of ended processes, and returns them. */
  async takeOver(): Promise<Settlement[]> {
    const taken: Settlement[] = [];
    const names = await readdir(this.#folder).catch((): string[] => []); // nothing was ever owed
    for (const name of names) {
      const path = join(this.#folder, name);
      if (path === this.#path || this.#isOfTheLiving(name)) continue;
      const text = await readFile(path, "utf8").catch(nullIfGone);
      // Another process that starts has taken it over.
      if (text === null) continue;
      const settlements = text.split("\n").flatMap(settlementIn);
      for (const settlement of settlements) this.add(settlement);
      // Stored under our own name before it is removed under the other one.
      await this.flush();
      await rm(path, { force: true });
      taken.push(...settlements);
    }
    return taken;
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
    const settlements = this.#waiting;
    this.#waiting = [];
    if (settlements.length === 0) return;
    await mkdir(this.#folder, { recursive: true, mode: 0o700 });
    const file = await open(this.#path, "a", 0o600);
    try {
      this.#hasFile = true;
      await file.appendFile(settlements.map((each) => `${serialize(each).toString("base64")}\n`).join(""));
      await file.datasync();
    } finally {
      await file.close();
    }
  }
}

function nullIfGone(error: unknown): null {
  if (error instanceof Error && "code" in error && error.code === "ENOENT") return null;
  throw error;
}

/** The last line may be incomplete: its process died while writing. */
function settlementIn(line: string): Settlement[] {
  if (line === "") return [];
  try {
    return [deserialize(Buffer.from(line, "base64")) as Settlement];
  } catch {
    return [];
  }
}
