// The PIN that a token has refused, over starts: a token locks itself after a few, and a process that ends and starts again would try the
// same one each time. The file has a slow digest of it and not the PIN.

import { randomBytes, scrypt } from "node:crypto";
import { readFile, rename } from "node:fs/promises";
import { dirname } from "node:path";
import { promisify } from "node:util";
import { makeFolder, nullIfGone, putWhole } from "../../../database/durable-files.ts";

const digest = promisify<string, Buffer, number, Buffer>(scrypt);
const SALT_BYTES = 16;
const DIGEST_BYTES = 32;

type Stored = { readonly salt: string; readonly digest: string; readonly refusal: string };

/** What a PIN is for: that of another token, or another PIN, is tried. */
export type TokenPin = { readonly module: string; readonly token: string; readonly pin: string };

export class RefusedPin {
  readonly file: string;
  readonly #pin: string;

  constructor(file: string, { module, token, pin }: TokenPin) {
    this.file = file;
    this.#pin = JSON.stringify([module, token, pin]);
  }

  /** Why the token has refused this PIN. Null: it has not, or the file was removed. */
  async read(): Promise<string | null> {
    const text = await readFile(this.file, "utf8").catch(nullIfGone);
    if (text === null) return null;
    const stored = JSON.parse(text) as Stored;
    const own = await digest(this.#pin, Buffer.from(stored.salt, "hex"), DIGEST_BYTES);
    return own.equals(Buffer.from(stored.digest, "hex")) ? stored.refusal : null;
  }

  /** Remembers that the token has refused this PIN. Errors: those of the disk. */
  async write(refusal: string): Promise<void> {
    const salt = randomBytes(SALT_BYTES);
    const own = await digest(this.#pin, salt, DIGEST_BYTES);
    const stored: Stored = { salt: salt.toString("hex"), digest: own.toString("hex"), refusal };
    await makeFolder(dirname(this.file));
    await putWhole(this.file, `${JSON.stringify(stored)}\n`, (draft) => rename(draft, this.file));
  }
}
