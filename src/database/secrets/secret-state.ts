// How secrets are stored in this database, and whether the keys of a process are the right ones. A row holds a text that is encrypted
// under the master key: a process that cannot open it would store secrets that others cannot read.

import type { Pool, PoolClient } from "pg";
import { invariant } from "../../kernel/invariant.ts";
import {
  hasSecretsKey,
  isSealed,
  openText,
  resealText,
  type SealedForm,
  sealedPrefix,
  sealedPrefixes,
  sealText,
  SecretUnreadable,
  unknownKeyOf,
} from "../../kernel/sealed-text.ts";
import { readTexts, type SecretColumns } from "./secret-columns.ts";

type Queryable = Pick<Pool | PoolClient, "query">;

const CHECK = "secret_state.key_check";
const MOST_NAMED = 10;
const CHECKED = "the master key of this database";

const READ = `SELECT form, key_check AS "keyCheck" FROM secret_state`;
const CLAIM = `UPDATE secret_state SET key_check = $1 WHERE key_check IS NULL`;
const WRITE = `UPDATE secret_state SET form = $1, key_check = coalesce(key_check, $2)`;
const MOVE = `UPDATE secret_state SET key_check = $1`;

/** The keys of a start are not those of the database. */
export class WrongSecretsKey extends Error {}

/** How secrets are stored now. Errors: SecretUnreadable, where this process does not have the key of the others. */
export async function readSecretForm(client: Queryable): Promise<SealedForm> {
  const { form, keyCheck } = await readState(client);
  if (keyCheck !== null) openText(CHECK, keyCheck);
  return form;
}

/** Whether a master key was ever used on the database. */
export async function isKeyClaimed(client: Queryable): Promise<boolean> {
  return (await readState(client)).keyCheck !== null;
}

/** What is not under the first key of a start. */
export type ClaimedKey = {
  /** Whether secrets are under a former one of its keys. */
  readonly hasFormer: boolean;
  /** The places of secrets under none of its keys, at most a few. */
  readonly unreadable: readonly string[];
};

/**
 * Checks that a start has the master key of the database; the first start with a key sets it. Errors: WrongSecretsKey.
 */
export async function claimSecretsKey(client: Queryable, columns: readonly SecretColumns[]): Promise<ClaimedKey> {
  const { keyCheck } = await readState(client);
  if (keyCheck === null) {
    await requireKnownKeys(client, columns);
    if (!hasSecretsKey()) return { hasFormer: false, unreadable: [] };
    await client.query(CLAIM, [sealText(CHECK, CHECKED, "envelope")]);
    return claimSecretsKey(client, columns);
  }
  try {
    openText(CHECK, keyCheck);
  } catch (cause) {
    if (!(cause instanceof SecretUnreadable)) throw cause;
    throw new WrongSecretsKey(refusal(keyCheck), { cause });
  }
  const { hasFormer, unreadable } = await readOutdated(client, columns);
  return { hasFormer: hasFormer || !keyCheck.startsWith(sealedPrefix("envelope") ?? ""), unreadable };
}

/** Looks at the rows themselves: a rotation may have been stopped, or a row written by a process with other keys. */
async function readOutdated(client: Queryable, columns: readonly SecretColumns[]): Promise<ClaimedKey> {
  const unreadable: string[] = [];
  let hasFormer = false;
  for (const each of columns) {
    for await (const { name, text } of readTexts(client, each, sealedPrefixes(["envelope", "former"]))) {
      if (unknownKeyOf(text) !== null) unreadable.push(name);
      else hasFormer ||= isSealed(text);
      if (unreadable.length === MOST_NAMED) return { hasFormer, unreadable };
    }
  }
  return { hasFormer, unreadable };
}

/** Checks that every secret of the database is under a key of this process, and changes nothing. Errors: WrongSecretsKey. */
export async function requireSecretsKey(client: Queryable, columns: readonly SecretColumns[]): Promise<void> {
  const { keyCheck } = await readState(client);
  if (keyCheck !== null && unknownKeyOf(keyCheck) !== null) throw new WrongSecretsKey(refusal(keyCheck));
  await requireKnownKeys(client, columns);
}

/** Stores secrets in this form from now on. Errors: SecretUnreadable. */
export async function setSecretForm(client: Queryable, form: SealedForm): Promise<void> {
  const { keyCheck } = await readState(client);
  if (keyCheck !== null) openText(CHECK, keyCheck);
  await client.query(WRITE, [form, sealText(CHECK, CHECKED, "envelope")]);
}

/** Makes the first key the one that starts need, once all secrets are under it. Errors: SecretUnreadable. */
export async function moveKeyCheck(client: Queryable): Promise<void> {
  const { keyCheck } = await readState(client);
  await client.query(MOVE, [resealText(CHECK, keyCheck ?? CHECKED, "envelope")]);
}

/** A database of a former version has no check, and may have secrets all the same. */
async function requireKnownKeys(client: Queryable, columns: readonly SecretColumns[]): Promise<void> {
  for (const each of columns) {
    for await (const { text } of readTexts(client, each)) {
      if (unknownKeyOf(text) !== null) throw new WrongSecretsKey(refusal(text));
    }
  }
}

function refusal(stored: string): string {
  const id = unknownKeyOf(stored);
  const what = hasSecretsKey()
    ? "SALDO_SECRETS_KEY is not the key that the secrets in this database are encrypted under"
    : "SALDO_SECRETS_KEY is not set, and the secrets in this database are encrypted";
  return (
    `${what}${id === null ? "" : ` (key ${id})`}. Start with the former key, behind a comma after a new one if there is one. ` +
    `A key that a start made by itself is in the file secrets-key of its SALDO_DATA_DIR.`
  );
}

async function readState(client: Queryable): Promise<{ form: SealedForm; keyCheck: string | null }> {
  const { rows } = await client.query<{ form: SealedForm; keyCheck: string | null }>(READ);
  invariant(rows[0] !== undefined, "the state of secrets has a row");
  return rows[0];
}
