import { type FileHandle, mkdtemp, open, readFile, rm, truncate, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { backupKeys, readSealed, SealedWriter } from "./sealed-file.ts";

const KEYS = backupKeys(["a key of a test", "the key before it"]);
const PIECES = ["the first frame", "the second", "the third"].map((text) => Buffer.from(text));
const HEADER_BYTES = 44;
const frameBytes = (piece: Buffer): number => 4 + piece.length + 16;

describe("an encrypted file", () => {
  let folder: string;
  let path: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), "saldo-sealed-"));
    path = join(folder, "file");
  });
  afterEach(() => rm(folder, { recursive: true }));

  /** Writes each piece as a frame, and the end. */
  async function write({ name = "wal/1", keys = KEYS, hasEnd = true, to = path } = {}): Promise<Buffer> {
    const writer = await SealedWriter.create(to, name, keys);
    for (const piece of PIECES) {
      await writer.write(piece);
      await writer.flush();
    }
    await (hasEnd ? writer.end() : writer.abandon());
    const bytes = await readFile(to);
    expect(bytes).toHaveLength(writer.bytes);
    return bytes;
  }

  async function read({ name = "wal/1", keys = KEYS, mayBeOpen = false } = {}): Promise<string> {
    return Buffer.concat(await Array.fromAsync(readSealed(path, name, keys, { mayBeOpen }))).toString();
  }

  it("is durable behind everything that was written when a flush returns", async () => {
    const probe = await open(join(folder, "probe"), "w");
    const handle = Object.getPrototypeOf(probe) as FileHandle;
    await probe.close();
    const calls: string[] = [];
    const spies = (["appendFile", "datasync"] as const).map((name) => {
      const original = handle[name] as (...words: unknown[]) => Promise<void>;
      return vi.spyOn(handle, name).mockImplementation(async function (this: FileHandle, ...words: unknown[]) {
        await original.apply(this, words);
        calls.push(name);
      });
    });
    const writer = await SealedWriter.create(path, "wal/1", KEYS);
    await writer.write(Buffer.from("a commit"));
    expect(calls.splice(0)).toEqual(["appendFile"]); // the header
    await writer.flush();
    expect(calls).toEqual(["appendFile", "datasync"]);
    for (const spy of spies) spy.mockRestore();
    await writer.abandon();
  });

  it("is read as it was written, also under a former key, and does not show what it has", async () => {
    const bytes = await write({ keys: KEYS.slice(1) });
    expect(await read()).toBe("the first framethe secondthe third");
    for (const piece of PIECES) expect(bytes.includes(piece)).toBe(false);
  });

  it("holds large pieces, and none", async () => {
    const large = Buffer.alloc(3_000_000, "large");
    const writer = await SealedWriter.create(path, "wal/1", KEYS);
    await writer.write(large);
    await writer.write(Buffer.alloc(0));
    await writer.end();
    expect(await read()).toBe(large.toString());
  });

  it("is refused with any byte flipped", async () => {
    const bytes = await write();
    // The highest bit of a frame's length marks the last frame.
    for (const bit of [0x01, 0x80]) {
      for (let at = 0; at < bytes.length; at += 1) {
        const flipped = Buffer.from(bytes);
        flipped[at] = (flipped[at] ?? 0) ^ bit;
        await writeFile(path, flipped);
        await expect(read(), `byte ${at}, bit ${bit}`).rejects.toThrow(/was changed|another key|not a file/);
      }
    }
  });

  it("is refused cut at any place, and with bytes behind its end", async () => {
    const bytes = await write();
    for (let length = bytes.length - 1; length >= 0; length -= 1) {
      await truncate(path, length);
      await expect(read(), `${length} bytes`).rejects.toThrow(/part of it is missing|not a file/);
    }
    await writeFile(path, Buffer.concat([bytes, Buffer.from("x")]));
    await expect(read()).rejects.toThrow(/behind its end/);
  });

  it("is refused with frames in another order, doubled, left out or of another file", async () => {
    const bytes = await write();
    const [first = Buffer.alloc(0), second = Buffer.alloc(0)] = PIECES;
    const at = HEADER_BYTES + frameBytes(first);
    const [header, one, two, rest] = [
      bytes.subarray(0, HEADER_BYTES),
      bytes.subarray(HEADER_BYTES, at),
      bytes.subarray(at, at + frameBytes(second)),
      bytes.subarray(at + frameBytes(second)),
    ];
    const other = await write({ to: join(folder, "other") });
    const changed = [
      [header, two, one, rest],
      [header, one, one, two, rest],
      [header, one, rest],
      [header, other.subarray(HEADER_BYTES, at), two, rest],
    ];
    for (const parts of changed) {
      await writeFile(path, Buffer.concat(parts));
      await expect(read()).rejects.toThrow(/was changed/);
    }
  });

  it("is refused under another name, and without its key", async () => {
    await write();
    await expect(read({ name: "wal/2" })).rejects.toThrow(/was changed/);
    await expect(read({ keys: backupKeys(["another"]) })).rejects.toThrow(/another key than SALDO_BACKUP_KEY/);
  });

  it("that was still being written is read to its last sound frame", async () => {
    const bytes = await write({ hasEnd: false });
    await expect(read()).rejects.toThrow(/part of it is missing/);
    expect(await read({ mayBeOpen: true })).toBe("the first framethe secondthe third");
    await writeFile(path, bytes.subarray(0, -1));
    expect(await read({ mayBeOpen: true })).toBe("the first framethe second");
  });
});
