// What a node has broadcast, kept a second time outside the database: a restore or a failover may lose what the books had of it, and
// the network has it all the same. An entry is on disk before its bytes leave the process. Every process appends to files of its
// own, so only the last line of a file can be incomplete, and such bytes were never broadcast.

import { randomUUID } from "node:crypto";
import { constants, link, open, readdir, readFile, rename, rm, truncate } from "node:fs/promises";
import { join } from "node:path";
import { crc32 } from "node:zlib";
import { ignoreIfThere, makeFolder, nullIfGone, putWhole, syncFolder } from "../../database/durable-files.ts";
import type { AttemptKind, JournaledTransfer } from "./payout.ts";

/** A signed transaction, with all that the books need to have it again. */
export type SignedEntry = {
  readonly nonce: number;
  readonly transferId: string;
  /** Its place among the attempts of its payout. */
  readonly number: number;
  readonly kind: AttemptKind;
  readonly raw: string;
  readonly hash: string;
  readonly feeMost: string;
  readonly feePriority: string;
  /** Absent: an earlier version wrote the entry. */
  readonly transfer?: JournaledTransfer;
};

/** What files had that were removed: nonces from `lowest`, which were final in the books up to `finalNonce`. */
type RemovedEntries = { readonly lowest: number; readonly finalNonce: number };

/** What a node knows of a wallet's payments. */
export type JournalContents = {
  readonly entries: readonly SignedEntry[];
  /** The highest nonce that was final when its entry was removed. Null: none was removed. */
  readonly finalNonce: number | null;
  /** Files whose last line is incomplete: a process ended while it wrote it, before it broadcast the transaction. */
  readonly torn: readonly string[];
};

/** The journal cannot be written or read on this node, such as on a full disk. What it has is not in doubt. */
export class JournalUnavailable extends Error {}

/** What the journal has stored is not what its files have now. */
export class JournalBroken extends Error {}

/** Returns those of these hashes whose nonces have ended in the books. */
export type FindEnded = (hashes: readonly string[]) => Promise<ReadonlySet<string>>;

const FILE = /^signed-(\d+)-[0-9a-f-]+\.log$/;
const ID_FILE = "journal-id";
const OWNER_FILE = "journal-owner";
/** A file that is so old, or has so many entries, gets no more. */
const WRITTEN_FOR_MS = 3_600_000;
const MOST_ENTRIES = 1_000;
/** A file is removed so long after its last entry at the earliest: no process still writes to it. */
const KEPT_MS = 24 * 3_600_000;

/** `bytes`: those that are durable. `isTorn`: there may be more behind them. */
type OwnFile = { readonly name: string; readonly madeAtMs: number; entries: number; bytes: number; isTorn: boolean };

/** The folder of a wallet's journal. */
export function journalFolder(root: string, { chain, address }: { chain: string; address: string }): string {
  return join(root, `${chain}-${address}`.replaceAll(/[^A-Za-z0-9-]/g, "_"));
}

export class SignedJournal {
  readonly folder: string;
  readonly #now: () => number;
  #file: OwnFile | null = null;
  #known = new Set<string>();
  #failure: string | null = null;
  /** One step at a time. */
  #work: Promise<void> = Promise.resolve();

  constructor(folder: string, now: () => number = Date.now) {
    this.folder = folder;
    this.#now = now;
  }

  /** Why it could not be written or read the last time. Null: it could. */
  get failure(): string | null {
    return this.#failure;
  }

  /** The journal's name in the books, made with its folder. Errors: JournalUnavailable. */
  id(): Promise<string> {
    return this.#try(async () => {
      const path = join(this.folder, ID_FILE);
      await makeFolder(this.folder);
      const known = await readFile(path, "utf8").catch(nullIfGone);
      if (known !== null) return known.trim();
      // Another process of this node may make it at the same time: the first one counts.
      await putWhole(path, `${randomUUID()}\n`, (own) => link(own, path).catch(ignoreIfThere));
      return (await readFile(path, "utf8")).trim();
    });
  }

  /** Gives the journal another name, because another node has one of the same name. Errors: JournalUnavailable. */
  rename(): Promise<void> {
    const path = join(this.folder, ID_FILE);
    return this.#try(() => putWhole(path, `${randomUUID()}\n`, (own) => rename(own, path)));
  }

  /** By which names the folder may be known in the books: the one that was written last, and the one before. */
  owners(): Promise<readonly string[]> {
    return this.#try(async () => {
      const text = await readFile(join(this.folder, OWNER_FILE), "utf8").catch(nullIfGone);
      return (text ?? "").trim().split(" ");
    });
  }

  /** Writes another name into the folder, beside the one that the books have. Returns it. Errors: JournalUnavailable. */
  own(former: string | null): Promise<string> {
    const owner = randomUUID();
    const path = join(this.folder, OWNER_FILE);
    return this.#try(async () => {
      await putWhole(path, `${owner} ${former ?? ""}\n`, (own) => rename(own, path));
      this.#failure = null;
      return owner;
    });
  }

  /** Stores an entry. It is durable when this returns. Errors: JournalUnavailable; then nothing may be broadcast. */
  add(entry: SignedEntry): Promise<void> {
    return this.#then(async () => {
      if (this.#known.has(entry.hash)) return;
      await this.#append(entry);
      this.#known.add(entry.hash);
    });
  }

  /** Reads what all processes of this node have stored. Errors: JournalUnavailable; JournalBroken. */
  async read(): Promise<JournalContents> {
    const read = await this.#try(async () =>
      Promise.all((await this.#names()).map(async (name) => ({ name, ...(await this.#linesOf(name)) }))),
    );
    const lines = read.flatMap((file) => file.lines);
    const entries = lines.filter(isEntry);
    const removed = lines.filter((line): line is RemovedEntries => !isEntry(line));
    return {
      entries: [...new Map(entries.map((entry) => [entry.hash, entry])).values()],
      finalNonce: removed.length === 0 ? null : Math.max(...removed.map(({ finalNonce }) => finalNonce)),
      torn: read.filter(({ isTorn }) => isTorn).map(({ name }) => name),
    };
  }

  /** Removes old files whose entries have all ended in the books, and keeps what they had up to. Returns how many. */
  async rotate(findEnded: FindEnded): Promise<number> {
    const old = (await this.#names()).filter((name) => this.#ageOf(name) > WRITTEN_FOR_MS + KEPT_MS);
    let removed = 0;
    for (const name of old) {
      if (name === this.#file?.name) continue;
      const { lines } = await this.#linesOf(name);
      const entries = lines.filter(isEntry);
      const ended = await findEnded(entries.map(({ hash }) => hash));
      if (!entries.every(({ hash }) => ended.has(hash))) continue;
      if (lines.length > 0) {
        const [lowest, finalNonce] = [Math.min(...lines.map(lowestOf)), Math.max(...lines.map(highestOf))];
        await this.#then(() => this.#append({ lowest, finalNonce }));
      }
      await rm(join(this.folder, name), { force: true });
      removed += 1;
    }
    if (removed > 0) await syncFolder(this.folder);
    return removed;
  }

  async #append(line: SignedEntry | RemovedEntries): Promise<void> {
    const file = await this.#fileToWrite();
    const text = textOf(line);
    // A file that has entries is not made again where it is gone: they would be missing without a trace.
    const flags = constants.O_WRONLY | constants.O_APPEND | (file.entries === 0 ? constants.O_CREAT : 0);
    const handle = await open(join(this.folder, file.name), flags, 0o600);
    try {
      file.isTorn = true;
      await handle.appendFile(text);
      await handle.sync();
      // The file's own name, too, once.
      if (file.entries === 0) await syncFolder(this.folder);
      file.entries += 1;
      file.bytes += Buffer.byteLength(text);
      file.isTorn = false;
    } catch (error) {
      await this.#mend(file).catch(() => {}); // the next step does, or fails as well
      throw error;
    } finally {
      await handle.close();
    }
  }

  async #fileToWrite(): Promise<OwnFile> {
    const now = this.#now();
    const file = this.#file;
    if (file?.isTorn === true) await this.#mend(file);
    if (file !== null && now - file.madeAtMs < WRITTEN_FOR_MS && file.entries < MOST_ENTRIES) return file;
    this.#leaveFile();
    await makeFolder(this.folder);
    this.#file = { name: `signed-${now}-${randomUUID()}.log`, madeAtMs: now, entries: 0, bytes: 0, isTorn: false };
    return this.#file;
  }

  /** Takes back what a failed step has left behind the last entry. Until it can, nothing is written: a full disk gets no other file. */
  async #mend(file: OwnFile): Promise<void> {
    const path = join(this.folder, file.name);
    if (file.entries === 0) await rm(path, { force: true });
    else await truncate(path, file.bytes);
    file.isTorn = false;
  }

  #leaveFile(): void {
    this.#file = null;
    // What is open is stored again with its next broadcast, so that each file can be removed by itself.
    this.#known = new Set();
  }

  #then(step: () => Promise<void>): Promise<void> {
    const done = this.#work.then(() => this.#try(step));
    this.#work = done.catch(() => {});
    return done;
  }

  async #try<Result>(step: () => Promise<Result>): Promise<Result> {
    try {
      return await step();
    } catch (cause) {
      if (cause instanceof JournalBroken) throw cause;
      this.#failure = cause instanceof Error ? cause.message : String(cause);
      throw new JournalUnavailable(this.#failure, { cause });
    }
  }

  #ageOf(name: string): number {
    return this.#now() - Number(FILE.exec(name)?.[1] ?? Number.POSITIVE_INFINITY);
  }

  async #names(): Promise<string[]> {
    const names = await readdir(this.folder).catch(nullIfGone);
    return (names ?? []).filter((name) => FILE.test(name)).toSorted();
  }

  async #linesOf(
    name: string,
  ): Promise<{ readonly lines: (SignedEntry | RemovedEntries)[]; readonly isTorn: boolean }> {
    // Another process of this node may have removed it since it was listed.
    const text = await readFile(join(this.folder, name), "utf8").catch(nullIfGone);
    const whole = (text ?? "").split("\n");
    // What is behind the last line feed was not durable, and so was not broadcast. Everything before it was.
    const rest = whole.pop() ?? "";
    const lines = whole.map((line, index) => {
      const parsed = parse(line);
      if (parsed === null) throw new JournalBroken(`${name} has a broken line ${index + 1} in ${this.folder}`);
      return parsed;
    });
    const last = parse(rest);
    return last === null ? { lines, isTorn: rest !== "" } : { lines: [...lines, last], isTorn: false };
  }
}

function isEntry(line: SignedEntry | RemovedEntries): line is SignedEntry {
  return "hash" in line;
}

function lowestOf(line: SignedEntry | RemovedEntries): number {
  return isEntry(line) ? line.nonce : line.lowest;
}

function highestOf(line: SignedEntry | RemovedEntries): number {
  return isEntry(line) ? line.nonce : line.finalNonce;
}

function textOf(line: SignedEntry | RemovedEntries): string {
  const json = JSON.stringify(line);
  return `${crc32(json).toString(16).padStart(8, "0")} ${json}\n`;
}

function parse(text: string): SignedEntry | RemovedEntries | null {
  const json = text.slice(9);
  return text.length > 9 && text.slice(0, 8) === crc32(json).toString(16).padStart(8, "0") ? JSON.parse(json) : null;
}
