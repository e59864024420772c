// Secrets that have to be kept so that they can be read again, such as those that sign callbacks. Each is encrypted under a data key
// of its own, and the data key under a master key outside the database (AES-256-GCM both), so that neither the database nor a backup of
// it has them. Another master key encrypts the data keys again and leaves the rest. A process has one set of master keys, which
// its composition names. Without a key texts are stored as they are.
//
// Two forms are stored, in one shape: `sealed:1:ID:BODY`. The id identifies the master key and the form. In the former form, which the
// version before reads too, the master key encrypts the text itself. That version refuses an envelope: it does not know its id.

import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from "node:crypto";

const CIPHER = "aes-256-gcm";
const KEY_BYTES = 32;
const ID_BYTES = 4;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const WRAPPED_BYTES = NONCE_BYTES + TAG_BYTES + KEY_BYTES;
const SEALED = /^sealed:1:([0-9a-f]{8}):([A-Za-z0-9_-]{38,})$/;

/** `envelope`: under a data key of its own. `former`: under the master key itself, as the version before has it. */
export type SealedForm = "envelope" | "former";
type Key = Readonly<Record<SealedForm, { readonly id: string; readonly bytes: Buffer }>>;

let keys: readonly Key[] = [];

/** A stored secret cannot be read with the keys of this process. */
export class SecretUnreadable extends Error {}

/** Names the keys of this process: the first encrypts, all decrypt. */
export function useSecretsKeys(secrets: readonly string[]): void {
  keys = secrets.map((secret) => ({
    former: {
      id: derive(secret, "saldo secrets key id", ID_BYTES).toString("hex"),
      bytes: derive(secret, "saldo secrets at rest", KEY_BYTES),
    },
    envelope: {
      id: derive(secret, "saldo secrets envelope id", ID_BYTES).toString("hex"),
      bytes: derive(secret, "saldo secrets data keys", KEY_BYTES),
    },
  }));
}

/** Whether this process has a key to encrypt with. */
export function hasSecretsKey(): boolean {
  return keys.length > 0;
}

/**
 * The form in which a secret is stored. `name` identifies table, column and row: a text that was copied to another place cannot be
 * opened there.
 */
export function sealText(name: string, text: string, form: SealedForm): string {
  const [key] = keys;
  if (key === undefined) return text;
  const { id, bytes } = key[form];
  if (form === "former") return written(id, encrypt(bytes, name, Buffer.from(text)));
  const dataKey = randomBytes(KEY_BYTES);
  return written(id, encrypt(bytes, name, dataKey), encrypt(dataKey, name, Buffer.from(text)));
}

/** The secret of a stored form; one that was stored before there was a key is as it is. Errors: SecretUnreadable. */
export function openText(name: string, stored: string): string {
  const sealed = read(name, stored);
  if (sealed === null) return stored;
  const { key, form, body } = sealed;
  if (form === "former") return decrypt(key.bytes, name, body).toString();
  const dataKey = decrypt(key.bytes, name, body.subarray(0, WRAPPED_BYTES));
  return decrypt(dataKey, name, body.subarray(WRAPPED_BYTES)).toString();
}

/**
 * The same secret, stored as it would be now. Of an envelope only the data key is encrypted again. Errors: SecretUnreadable.
 */
export function resealText(name: string, stored: string, form: SealedForm): string {
  const sealed = read(name, stored);
  const [first] = keys;
  if (first === undefined || form === "former" || sealed?.form !== "envelope")
    return sealText(name, openText(name, stored), form);
  const { key, body } = sealed;
  const dataKey = decrypt(key.bytes, name, body.subarray(0, WRAPPED_BYTES));
  return written(first.envelope.id, encrypt(first.envelope.bytes, name, dataKey), body.subarray(WRAPPED_BYTES));
}

/** What a text begins with that is stored as it would be now. Null: there is no key. */
export function sealedPrefix(form: SealedForm): string | null {
  const [key] = keys;
  return key === undefined ? null : `sealed:1:${key[form].id}:`;
}

/** The same for several forms; empty where there is no key. */
export function sealedPrefixes(forms: readonly SealedForm[]): string[] {
  return forms.flatMap((form) => sealedPrefix(form) ?? []);
}

/** Whether a stored text is encrypted, under any key. */
export function isSealed(stored: string): boolean {
  return SEALED.test(stored);
}

/** The id of the key of a stored text, where this process does not have it. Null: it has, or the text is in clear. */
export function unknownKeyOf(stored: string): string | null {
  const [, id] = SEALED.exec(stored) ?? [];
  return id === undefined || keyOf(id) !== null ? null : id;
}

function written(id: string, ...parts: readonly Buffer[]): string {
  return `sealed:1:${id}:${Buffer.concat(parts).toString("base64url")}`;
}

type Sealed = { readonly key: { readonly bytes: Buffer }; readonly form: SealedForm; readonly body: Buffer };

/** Null: the text is in clear. */
function read(name: string, stored: string): Sealed | null {
  const [, id, body] = SEALED.exec(stored) ?? [];
  if (id === undefined || body === undefined) return null;
  const found = keyOf(id);
  if (found === null)
    throw new SecretUnreadable(`${name} is encrypted under the key ${id}, which is not in SALDO_SECRETS_KEY.`);
  return { ...found, body: Buffer.from(body, "base64url") };
}

function keyOf(id: string): Pick<Sealed, "key" | "form"> | null {
  for (const form of ["envelope", "former"] as const) {
    const key = keys.find((each) => each[form].id === id);
    if (key !== undefined) return { key: key[form], form };
  }
  return null;
}

/** Nonce, tag and ciphertext. */
function encrypt(key: Buffer, name: string, text: Buffer): Buffer {
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv(CIPHER, key, nonce, { authTagLength: TAG_BYTES }).setAAD(Buffer.from(name));
  const sealed = Buffer.concat([cipher.update(text), cipher.final()]);
  return Buffer.concat([nonce, cipher.getAuthTag(), sealed]);
}

function decrypt(key: Buffer, name: string, bytes: Buffer): Buffer {
  try {
    const nonce = bytes.subarray(0, NONCE_BYTES);
    const decipher = createDecipheriv(CIPHER, key, nonce, { authTagLength: TAG_BYTES }).setAAD(Buffer.from(name));
    decipher.setAuthTag(bytes.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES));
    return Buffer.concat([decipher.update(bytes.subarray(NONCE_BYTES + TAG_BYTES)), decipher.final()]);
  } catch (cause) {
    throw new SecretUnreadable(`${name} was changed since it was encrypted, or belongs to another row.`, { cause });
  }
}

function derive(secret: string, purpose: string, bytes: number): Buffer {
  return Buffer.from(hkdfSync("sha256", secret, "", purpose, bytes));
}
