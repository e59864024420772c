// Files that are encrypted while they are written: AES-256-GCM in numbered frames, of which the last one is marked. Each file has a key
// of its own, derived from the operator's key, a random salt and the file's name. So a frame that was changed, moved, left out or taken from
// another file does not open, and neither does a file whose end is missing.
//
//   file:  "SALDOBK1" | id of the operator's key (4) | salt (32) | frame…
//   frame: length, with the highest bit set in the last one (4) | ciphertext | tag (16)

import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from "node:crypto";
import { type FileHandle, open } from "node:fs/promises";
import { invariant } from "../../kernel/invariant.ts";

const MAGIC = Buffer.from("SALDOBK1");
const CIPHER = "aes-256-gcm";
const KEY_ID_BYTES = 4;
const SALT_BYTES = 32;
const HEADER_BYTES = MAGIC.length + KEY_ID_BYTES + SALT_BYTES;
const KEY_BYTES = 32;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const LENGTH_BYTES = 4;
const LAST = 0x8000_0000;
/** The most that a frame holds. */
const MAX_FRAME_BYTES = 1 << 20;
/** What is written in small pieces is put together up to this size. */
const FRAME_BYTES = 1 << 16;

/** An operator's key, from SALDO_BACKUP_KEY. */
export type BackupKey = { readonly id: string; readonly secret: string };

/** The keys of backups: the first encrypts, all decrypt. */
export function backupKeys(secrets: readonly string[]): BackupKey[] {
  return secrets.map((secret) => ({
    id: Buffer.from(hkdfSync("sha256", secret, "", "saldo backup key id", KEY_ID_BYTES)).toString("hex"),
    secret,
  }));
}

/** A file of a backup cannot be used: it was changed, is incomplete, or was written under another key. */
export class BackupUnreadable extends Error {}

/** Writes one encrypted file. Calls are made one after another. */
export class SealedWriter {
  readonly #file: FileHandle;
  readonly #key: Buffer;
  #frames = 0;
  #bytes = 0;
  #waiting: Buffer[] = [];
  #waitingBytes = 0;

  private constructor(file: FileHandle, key: Buffer) {
    this.#file = file;
    this.#key = key;
  }

  /** Begins a file that must not be there yet. `name` is what it is opened by again. */
  static async create(path: string, name: string, [key]: readonly BackupKey[]): Promise<SealedWriter> {
    invariant(key !== undefined, "a backup has a key");
    const salt = randomBytes(SALT_BYTES);
    const file = await open(path, "wx", 0o600);
    const writer = new SealedWriter(file, fileKey(key, salt, name));
    try {
      await writer.#append(Buffer.concat([MAGIC, Buffer.from(key.id, "hex"), salt]));
    } catch (error) {
      await file.close();
      throw error;
    }
    return writer;
  }

  /** How large the file is. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Appends bytes, which are copied. Small pieces are put together; `flush` and `end` write them all. */
  async write(bytes: Buffer): Promise<void> {
    this.#waiting.push(Buffer.from(bytes));
    this.#waitingBytes += bytes.length;
    if (this.#waitingBytes >= FRAME_BYTES) await this.#writeWaiting();
  }

  /** Makes all that was written durable. */
  async flush(): Promise<void> {
    if (this.#waitingBytes > 0) await this.#writeWaiting();
    await this.#file.datasync();
  }

  /** Marks the end, makes everything durable and closes the file. */
  async end(): Promise<void> {
    const rest = Buffer.concat(this.#waiting);
    this.#waiting = [];
    await this.#frame(rest, true);
    await this.#file.sync();
    await this.#file.close();
  }

  /** Closes the file without an end. */
  async abandon(): Promise<void> {
    await this.#file.close();
  }

  async #writeWaiting(): Promise<void> {
    const bytes = Buffer.concat(this.#waiting);
    this.#waiting = [];
    this.#waitingBytes = 0;
    for (let at = 0; at < bytes.length; at += MAX_FRAME_BYTES)
      await this.#frame(bytes.subarray(at, at + MAX_FRAME_BYTES));
  }

  async #frame(bytes: Buffer, isLast = false): Promise<void> {
    const length = lengthField(bytes.length, isLast);
    const cipher = createCipheriv(CIPHER, this.#key, nonceOf(this.#frames), { authTagLength: TAG_BYTES }).setAAD(
      length,
    );
    const sealed = [length, cipher.update(bytes), cipher.final()];
    this.#frames += 1;
    await this.#append(Buffer.concat([...sealed, cipher.getAuthTag()]));
  }

  async #append(bytes: Buffer): Promise<void> {
    await this.#file.appendFile(bytes);
    this.#bytes += bytes.length;
  }
}

/**
 * Reads an encrypted file, piece by piece. Errors: BackupUnreadable. `mayBeOpen`: the file was perhaps still being written when its machine was
 * lost, so it ends behind its last sound frame.
 */
export async function* readSealed(
  path: string,
  name: string,
  keys: readonly BackupKey[],
  { mayBeOpen = false } = {},
): AsyncGenerator<Buffer> {
  const file = await open(path, "r");
  try {
    const header = await readBytes(file, HEADER_BYTES);
    // On a full disk not even the header was written.
    if (mayBeOpen && header.length < HEADER_BYTES) return;
    const key = fileKey(keyOf(header, keys, name), header.subarray(MAGIC.length + KEY_ID_BYTES), name);
    for (let number = 0; ; number += 1) {
      const frame = await readFrame(file, key, number).catch((cause: unknown) => {
        if (mayBeOpen) return null;
        throw new BackupUnreadable(`${name} was changed since it was written, or a part of it is missing.`, { cause });
      });
      if (frame === null) return;
      yield frame.bytes;
      if (frame.isLast) break;
    }
    if ((await readBytes(file, 1)).length > 0) throw new BackupUnreadable(`${name} has bytes behind its end.`);
  } finally {
    await file.close();
  }
}

/** Reads a small encrypted file whole. Errors: BackupUnreadable. */
export async function readWholeSealed(path: string, name: string, keys: readonly BackupKey[]): Promise<Buffer> {
  return Buffer.concat(await Array.fromAsync(readSealed(path, name, keys)));
}

/** The key that a file was written under. Errors: BackupUnreadable. */
function keyOf(header: Buffer, keys: readonly BackupKey[], name: string): BackupKey {
  if (header.length < HEADER_BYTES || !header.subarray(0, MAGIC.length).equals(MAGIC))
    throw new BackupUnreadable(`${name} is not a file of a backup.`);
  const id = header.subarray(MAGIC.length, MAGIC.length + KEY_ID_BYTES).toString("hex");
  const key = keys.find((each) => each.id === id);
  if (key === undefined) throw new BackupUnreadable(`${name} is encrypted under another key than SALDO_BACKUP_KEY.`);
  return key;
}

async function readFrame(file: FileHandle, key: Buffer, number: number) {
  const length = await readBytes(file, LENGTH_BYTES);
  if (length.length < LENGTH_BYTES) throw new BackupUnreadable("the file ends before its last frame");
  const field = length.readUInt32BE();
  const isLast = field >= LAST;
  const size = isLast ? field - LAST : field;
  if (size > MAX_FRAME_BYTES) throw new BackupUnreadable("a frame is too long");
  const sealed = await readBytes(file, size + TAG_BYTES);
  const decipher = createDecipheriv(CIPHER, key, nonceOf(number), { authTagLength: TAG_BYTES }).setAAD(length);
  if (sealed.length < size + TAG_BYTES) throw new BackupUnreadable("the file ends in a frame");
  decipher.setAuthTag(sealed.subarray(size));
  return { bytes: Buffer.concat([decipher.update(sealed.subarray(0, size)), decipher.final()]), isLast };
}

/** Reads so many bytes, or fewer at the end of the file. */
async function readBytes(file: FileHandle, length: number): Promise<Buffer> {
  const bytes = Buffer.alloc(length);
  let have = 0;
  while (have < length) {
    const { bytesRead } = await file.read(bytes, have, length - have);
    if (bytesRead === 0) break;
    have += bytesRead;
  }
  return bytes.subarray(0, have);
}

function fileKey({ secret }: BackupKey, salt: Buffer, name: string): Buffer {
  return Buffer.from(hkdfSync("sha256", secret, salt, `saldo backup file ${name}`, KEY_BYTES));
}

/** The key belongs to one file, so a number is enough. */
function nonceOf(frame: number): Buffer {
  const nonce = Buffer.alloc(NONCE_BYTES);
  nonce.writeBigUInt64BE(BigInt(frame), NONCE_BYTES - 8);
  return nonce;
}

function lengthField(bytes: number, isLast: boolean): Buffer {
  const field = Buffer.alloc(LENGTH_BYTES);
  field.writeUInt32BE(isLast ? LAST + bytes : bytes);
  return field;
}
