// What the database holds of secrets, and the master key under which a process reads them.

import { randomBytes, randomUUID } from "node:crypto";
import { link, mkdir, open, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import type { Config } from "../config/config.ts";
import { WEBHOOK_SECRETS } from "../../billing/alerts/account-webhook.ts";
import { METHOD_SECRETS } from "../../billing/auto-top-ups/saved-method.ts";
import { SANDBOX_SECRETS } from "../../billing/payments/sandbox/store.ts";
import type { Database } from "../../database/database.ts";
import { DEMO_SECRETS } from "../../database/purpose.ts";
import { rotateSecrets } from "../../database/secrets/rotate-secrets.ts";
import type { SecretColumns } from "../../database/secrets/secret-columns.ts";
import {
  claimSecretsKey,
  isKeyClaimed,
  readSecretForm,
  requireSecretsKey,
} from "../../database/secrets/secret-state.ts";
import { SIGNING_SECRETS } from "../../identity/signing-secret.ts";
import { APP_SECRETS } from "../../identity/second-factor/second-factor-store.ts";
import type { EventLogger } from "../../kernel/event-logger.ts";
import { hasSecretsKey, useSecretsKeys } from "../../kernel/sealed-text.ts";
import { CALLBACK_SECRETS } from "../../merchant/callbacks/store.ts";

/** Every column of the database with a secret that is read again. All others have digests. */
export const SECRET_COLUMNS: readonly SecretColumns[] = [
  CALLBACK_SECRETS,
  WEBHOOK_SECRETS,
  APP_SECRETS,
  SIGNING_SECRETS,
  SANDBOX_SECRETS,
  METHOD_SECRETS,
  DEMO_SECRETS,
];

const KEY_BYTES = 48;
/** The file of a data folder with the master key that a start made itself. */
export const OWN_KEY_FILE = "secrets-key";

type KeySettings = Pick<Config, "secretsKeys" | "databaseUrl" | "dataDir" | "production">;

/** Makes the process read secrets by the keys of its settings, and by the one that a start has made beside the embedded database. */
export async function useKeysOf({ secretsKeys, databaseUrl, dataDir }: KeySettings): Promise<void> {
  const own = databaseUrl === null ? await readOwnKey(dataDir) : null;
  useSecretsKeys([...secretsKeys, ...(own === null ? [] : [own])]);
}

/**
 * Checks the master key of a start that serves. One with the embedded database makes itself a key where none is set. Encrypts what the
 * schema was made with. Errors: WrongSecretsKey.
 */
export async function prepareSecrets(
  { pool }: Pick<Database, "pool">,
  config: KeySettings,
  logger: Pick<EventLogger, "warn" | "error">,
): Promise<void> {
  const mayMakeKey = config.databaseUrl === null && !config.production;
  if (mayMakeKey && !hasSecretsKey() && !(await isKeyClaimed(pool))) {
    await putOwnKey(config.dataDir, randomBytes(KEY_BYTES).toString("base64"));
    await useKeysOf(config);
  }
  const { hasFormer, unreadable } = await claimSecretsKey(pool, SECRET_COLUMNS);
  if (unreadable.length > 0)
    logger.error(
      { event: "database.secrets.unreadable", places: unreadable },
      "secrets are encrypted under a key that SALDO_SECRETS_KEY does not have; keep the former key, and run saldo secrets rotate with it",
    );
  if (hasFormer)
    logger.warn(
      { event: "database.secrets.former" },
      "secrets are encrypted under a former key; run saldo secrets rotate",
    );
  // Only its own secrets, which no other version reads.
  if (hasSecretsKey() && (await readSecretForm(pool)) === "envelope")
    await rotateSecrets(pool, [SANDBOX_SECRETS], { form: "envelope", keepsState: true });
}

/**
 * The master key that belongs into a backup of the embedded database: the one that a start made beside it. Null: it is of the settings, or
 * there is none. Errors: those of reading it; WrongSecretsKey; the database has a key that is neither.
 */
export async function readKeyToBackUp({ pool }: Pick<Database, "pool">, config: KeySettings): Promise<string | null> {
  const own = (await readFile(join(config.dataDir, OWN_KEY_FILE), "utf8").catch(nullIfGone))?.trim() ?? null;
  if (own === null && config.secretsKeys.length === 0 && (await isKeyClaimed(pool)))
    throw new Error(
      `The key of the database's secrets is neither in SALDO_SECRETS_KEY nor in ${OWN_KEY_FILE} of SALDO_DATA_DIR.`,
    );
  await requireSecretsKey(pool, SECRET_COLUMNS);
  return own;
}

function nullIfGone(error: unknown): null {
  if ((error as NodeJS.ErrnoException).code === "ENOENT") return null;
  throw error;
}

/**
 * Checks that a restored database can be read: by the key of its backup, the one in the data folder that it is restored to, or those of
 * the settings. A backup from before the first key that a start made has none. Errors: WrongSecretsKey.
 */
export async function requireRestoredKey(
  { pool }: Pick<Database, "pool">,
  { secretsKeys, dataDir, restored }: Pick<Config, "secretsKeys" | "dataDir"> & { restored: string | null },
): Promise<void> {
  const own = restored ?? (await readOwnKey(dataDir));
  useSecretsKeys([...secretsKeys, ...(own === null ? [] : [own])]);
  await requireSecretsKey(pool, SECRET_COLUMNS);
}

/** Puts the master key of a restored database into its data folder. Errors: the folder has another one. */
export async function restoreOwnKey(dataDir: string, key: string): Promise<void> {
  await putOwnKey(dataDir, key);
  if ((await readOwnKey(dataDir)) === key) return;
  throw new Error(
    `${join(dataDir, OWN_KEY_FILE)} is not the key of the restored database. Move it away, and restore again.`,
  );
}

/** A key that a start made in a data folder, by default the master key. Null: there is none. */
export async function readOwnKey(dataDir: string, name = OWN_KEY_FILE): Promise<string | null> {
  try {
    return (await readFile(join(dataDir, name), "utf8")).trim() || null;
  } catch (error) {
    // A command of another user reads no secrets.
    if (["ENOENT", "EACCES"].includes((error as NodeJS.ErrnoException).code ?? "")) return null;
    throw error;
  }
}

/**
 * Puts a key, by default the master key, into a data folder that has none. Two that start at once take the key of the first. What was written only in part is
 * never taken for a key.
 */
export async function putOwnKey(dataDir: string, key: string, name = OWN_KEY_FILE): Promise<void> {
  await mkdir(dataDir, { recursive: true, mode: 0o711 });
  const draft = join(dataDir, `${name}.${randomUUID()}`);
  try {
    await using file = await open(draft, "wx", 0o600);
    await file.writeFile(`${key}\n`);
    await file.sync();
    await link(draft, join(dataDir, name));
    await using folder = await open(dataDir);
    await folder.sync();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
  } finally {
    await rm(draft, { force: true });
  }
}
