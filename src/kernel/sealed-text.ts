// Secrets that have to be kept so that they can be read again, such as those that sign callbacks. They are stored encrypted under a
// key of the environment (AES-256-GCM), so that neither the database nor a backup of it has them. A process has one set of keys,
// which its composition names before it opens the database. Without a key texts are stored as they are.

import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from "node:crypto";

const CIPHER = "aes-256-gcm";
const KEY_BYTES = 32;
const ID_BYTES = 4;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const SEALED = /^sealed:1:([0-9a-f]{8}):([A-Za-z0-9_-]{38,})$/;

type Key = { readonly id: string; readonly bytes: Buffer };

let keys: readonly Key[] = [];

/** A stored secret cannot be read with the keys of this process. */
export class SecretUnreadable extends Error {}

/** Names the keys of this process: the first encrypts, all decrypt. */
export function useSecretsKeys(secrets: readonly string[]): void {
  keys = secrets.map((secret) => ({
    id: derive(secret, "saldo secrets key id", ID_BYTES).toString("hex"),
    bytes: derive(secret, "saldo secrets at rest", KEY_BYTES),
  }));
}

/** The form in which a secret is stored. `name` identifies the secret: a text copied to another row cannot be opened there. */
export function sealText(name: string, text: string): string {
  const [key] = keys;
  if (key === undefined) return text;
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv(CIPHER, key.bytes, nonce, { authTagLength: TAG_BYTES }).setAAD(Buffer.from(name));
  const sealed = Buffer.concat([cipher.update(text, "utf8"), cipher.final()]);
  return `sealed:1:${key.id}:${Buffer.concat([nonce, cipher.getAuthTag(), sealed]).toString("base64url")}`;
}

/** The secret of a stored form; one that was stored before there was a key is as it is. Errors: SecretUnreadable. */
export function openText(name: string, stored: string): string {
  const [, id, body] = SEALED.exec(stored) ?? [];
  if (id === undefined || body === undefined) return stored;
  const key = keys.find((each) => each.id === id);
  if (key === undefined) {
    throw new SecretUnreadable(`${name} is encrypted under the key ${id}, which is not in SALDO_SECRETS_KEY.`);
  }
  const bytes = Buffer.from(body, "base64url");
  const nonce = bytes.subarray(0, NONCE_BYTES);
  const decipher = createDecipheriv(CIPHER, key.bytes, nonce, { authTagLength: TAG_BYTES }).setAAD(Buffer.from(name));
  decipher.setAuthTag(bytes.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES));
  try {
    return Buffer.concat([decipher.update(bytes.subarray(NONCE_BYTES + TAG_BYTES)), decipher.final()]).toString();
  } catch (cause) {
    throw new SecretUnreadable(`${name} was changed since it was encrypted, or belongs to another row.`, { cause });
  }
}

/** Whether a stored form is what would be stored now, apart from its nonce: under the first key, or in clear where there is none. */
export function isSealedNow(stored: string): boolean {
  return SEALED.exec(stored)?.[1] === keys[0]?.id;
}

function derive(secret: string, purpose: string, bytes: number): Buffer {
  return Buffer.from(hkdfSync("sha256", secret, "", purpose, bytes));
}
