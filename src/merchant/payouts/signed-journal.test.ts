import {
  appendFile,
  mkdtemp,
  open as openFile,
  readdir,
  readFile,
  rm,
  stat,
  truncate,
  writeFile,
} from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { journalFolder, JournalUnavailable, type SignedEntry, SignedJournal } from "./signed-journal.ts";

const HOUR_MS = 3_600_000;
const entry = (nonce: number, hash = `0x${nonce}`): SignedEntry => ({
  nonce,
  transferId: `transfer ${nonce}`,
  number: 1,
  kind: "payment",
  raw: "0xf8\nff",
  hash,
  feeMost: "12345678901234567890123",
  feePriority: "1",
});

describe("a journal of signed transactions", () => {
  let root: string;
  let folder: string;
  let nowMs: number;
  const open = (): SignedJournal => new SignedJournal(folder, () => nowMs);
  const files = async () => (await readdir(folder)).filter((name) => name.startsWith("signed-"));
  const onlyFile = async () => {
    const [name] = await files();
    return join(folder, name ?? "none");
  };
  beforeEach(async () => {
    root = await mkdtemp(join(tmpdir(), "saldo-journal-"));
    folder = journalFolder(root, { chain: "ethereum", address: "../0xAb" });
    nowMs = Date.now();
  });
  afterEach(() => rm(root, { recursive: true }));

  it("returns what all processes of a node have stored, for the owner of the files alone", async () => {
    const [one, other] = [open(), open()];
    await Promise.all([one.add(entry(7)), one.add(entry(8)), other.add(entry(7)), other.add(entry(9))]);
    await one.add(entry(8));
    const { entries, finalNonce, torn } = await open().read();
    expect(entries.toSorted((a, b) => a.nonce - b.nonce)).toEqual([entry(7), entry(8), entry(9)]);
    expect({ finalNonce, torn }).toEqual({ finalNonce: null, torn: [] });
    expect(folder).toBe(join(root, "ethereum-___0xAb"));
    const modes = await Promise.all([folder, await onlyFile()].map(async (path) => (await stat(path)).mode & 0o777));
    expect(modes).toEqual([0o700, 0o600]);
  });

  it("has one name, made once", async () => {
    const names = await Promise.all([open().id(), open().id(), open().id()]);
    expect(new Set([...names, await open().id()]).size).toBe(1);
    expect(names[0]).toMatch(/^[0-9a-f-]{36}$/);
  });

  it("leaves out an incomplete last line, and takes no broken line within a file", async () => {
    const journal = open();
    await journal.add(entry(1));
    await journal.add(entry(2));
    const path = await onlyFile();
    const whole = (await stat(path)).size;
    for (let cut = 2; cut < 40; cut += 1) {
      await truncate(path, whole - cut);
      expect(await open().read()).toEqual({ entries: [entry(1)], finalNonce: null, torn: await files() });
    }
    const [first = ""] = (await readFile(path, "utf8")).split("\n");
    await writeFile(path, `${first}\n\0\0\0\0`);
    expect((await open().read()).entries).toEqual([entry(1)]);
    await appendFile(path, `\n${first}\n`);
    await expect(open().read()).rejects.toThrow("has a broken line 2");
  });

  it("takes a broken last line that was written whole for no incomplete one", async () => {
    await open().add(entry(1));
    const path = await onlyFile();
    await writeFile(path, (await readFile(path, "utf8")).replace('"nonce":1', '"nonce":3'));
    await expect(open().read()).rejects.toThrow("has a broken line 1");
  });

  it("takes back what a full disk has cut off, and makes no other file for each try", async () => {
    const journal = open();
    await journal.add(entry(1));
    const handle = await openFile(await onlyFile());
    const prototype = Object.getPrototypeOf(handle) as typeof handle;
    await handle.close();
    const full = vi.spyOn(prototype, "appendFile").mockImplementation(async function (this: typeof handle, text) {
      await this.write(typeof text === "string" ? text.slice(0, 20) : "");
      throw new Error("ENOSPC: no space left on device, write");
    });
    try {
      const other = open();
      for (const nonce of [2, 2, 3]) await expect(journal.add(entry(nonce))).rejects.toThrow(JournalUnavailable);
      for (const nonce of [2, 2, 3]) await expect(other.add(entry(nonce))).rejects.toThrow("ENOSPC");
      expect(journal.failure).toContain("ENOSPC");
    } finally {
      full.mockRestore();
    }
    expect(await open().read()).toEqual({ entries: [entry(1)], finalNonce: null, torn: [] });
    await journal.add(entry(2));
    expect([(await open().read()).entries, await files()]).toMatchObject([[entry(1), entry(2)], { length: 1 }]);
  });

  it("makes no file again that is gone with its entries", async () => {
    const journal = open();
    await journal.add(entry(1));
    await rm(await onlyFile());
    await expect(journal.add(entry(2))).rejects.toThrow("ENOENT");
    expect(await files()).toEqual([]);
  });

  it("takes a number that was changed on the disk for a broken line", async () => {
    const journal = open();
    await journal.add(entry(1));
    await journal.add(entry(2));
    const path = await onlyFile();
    await writeFile(path, (await readFile(path, "utf8")).replace('"nonce":1', '"nonce":3'));
    await expect(open().read()).rejects.toThrow("has a broken line 1");
  });

  it("removes an old file when everything in it has ended, and keeps up to where that was", async () => {
    const journal = open();
    await journal.add(entry(4));
    await journal.add(entry(5));
    nowMs += HOUR_MS;
    await journal.add(entry(6));
    expect(await files()).toHaveLength(2);
    const ended = new Set(["0x4"]);
    const rotate = () => open().rotate((hashes) => Promise.resolve(new Set(hashes.filter((hash) => ended.has(hash)))));
    nowMs += 24 * HOUR_MS + 1;
    expect(await rotate()).toBe(0);
    ended.add("0x5");
    expect(await rotate()).toBe(1);
    expect(await open().read()).toEqual({ entries: [entry(6)], finalNonce: 5, torn: [] });
    // What was known of removed files outlives the file that it was noted in.
    ended.add("0x6");
    nowMs += 26 * HOUR_MS;
    expect(await rotate()).toBeGreaterThan(0);
    expect(await open().read()).toEqual({ entries: [], finalNonce: 6, torn: [] });
  });

  it("keeps what has ended while its file may still be written to", async () => {
    const journal = open();
    await journal.add(entry(4));
    nowMs += 25 * HOUR_MS;
    expect(await open().rotate((hashes) => Promise.resolve(new Set(hashes)))).toBe(0);
    expect((await open().read()).entries).toEqual([entry(4)]);
  });
});
