// Encrypts answers that are kept for retries, so that neither the database nor a backup of it has their text.

import { createCipheriv, createDecipheriv, createHmac, hkdfSync, randomBytes } from "node:crypto";

const CIPHER = "aes-256-gcm";
const KEY_BYTES = 32;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/** The request of the answer. It is authenticated with the text: a row copied to another request cannot be opened. */
export type AnswerName = { readonly accountId: string; readonly requestId: string };

/** Seals answers and digests bodies, each with a key of its own made from one secret that all nodes share. */
export class AnswerSeal {
  readonly #sealKey: Buffer;
  readonly #digestKey: Buffer;

  constructor(secret: string) {
    this.#sealKey = derive(secret, "saldo kept answers");
    this.#digestKey = derive(secret, "saldo idempotent bodies");
  }

  /** A keyed digest of a body. Equal bodies have equal digests. A guessed body cannot be tested without the key. */
  digestOf(body: Buffer): Buffer {
    return createHmac("sha256", this.#digestKey).update(body).digest();
  }

  seal(name: AnswerName, text: Buffer): Buffer {
    const nonce = randomBytes(NONCE_BYTES);
    const cipher = createCipheriv(CIPHER, this.#sealKey, nonce).setAAD(bytesOf(name));
    const sealed = Buffer.concat([cipher.update(text), cipher.final()]);
    return Buffer.concat([nonce, cipher.getAuthTag(), sealed]);
  }

  /** Null: it was sealed with another key, for another request, or was changed. */
  open(name: AnswerName, sealed: Buffer): Buffer | null {
    try {
      const decipher = createDecipheriv(CIPHER, this.#sealKey, sealed.subarray(0, NONCE_BYTES)).setAAD(bytesOf(name));
      decipher.setAuthTag(sealed.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES));
      return Buffer.concat([decipher.update(sealed.subarray(NONCE_BYTES + TAG_BYTES)), decipher.final()]);
    } catch {
      return null; // The secret may have changed since: then there is no kept answer.
    }
  }
}

function derive(secret: string, purpose: string): Buffer {
  return Buffer.from(hkdfSync("sha256", secret, "", purpose, KEY_BYTES));
}

function bytesOf({ accountId, requestId }: AnswerName): Buffer {
  return Buffer.from(`${accountId}/${requestId}`);
}
