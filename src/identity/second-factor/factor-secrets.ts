// The secrets that apps share with this service, encrypted under SALDO_AUTH_SECRET. The secret can be changed: the first encrypts, all decrypt,
// and rows under another one are encrypted again. Recovery codes that were stored encrypted become hashes in the same step.

import { hkdfSync } from "node:crypto";
import type { Pool } from "pg";
import { hashRecoveryCodes } from "./recovery-codes.ts";
import { SecretUnreadable } from "../../kernel/sealed-text.ts";
import {
  type FactorRow,
  openFactor,
  readFactor,
  readOutdatedFactors,
  replaceFactorSecrets,
  type StoredFactor,
} from "./second-factor-store.ts";

/** A secret with the number by which what it has encrypted names it. */
export type NumberedSecret = { readonly version: number; readonly value: string };

export type FactorSecrets = {
  /** The secrets as better-auth takes them, the one that encrypts first. */
  readonly numbered: readonly NumberedSecret[];
  encrypt(text: string): Promise<string>;
  /** Errors: FactorUnreadable. */
  decrypt(stored: string): Promise<string>;
  /** A stored factor in the current form. Errors: FactorUnreadable, ServiceBusy. */
  renewed(pool: Pool, factor: StoredFactor): Promise<StoredFactor>;
};

/** A second factor is encrypted under a secret that this process does not have. */
export class FactorUnreadable extends Error {}

/** better-auth takes a while to load, and most starts need nothing encrypted again. */
const cipher = () => import("better-auth/crypto");

const VERSION_BYTES = 4;
const ROWS_AT_ONCE = 100;

/** The secrets of a process: the first encrypts, all decrypt. */
export function createFactorSecrets(secrets: readonly string[]): FactorSecrets {
  const numbered = secrets.map((value) => ({ version: versionOf(value), value }));
  const [first] = numbered;
  const keys = new Map(numbered.map(({ version, value }) => [version, value]));
  const key = { keys, currentVersion: first?.version ?? 0 };
  const isCurrent = (stored: string): boolean => stored.startsWith(`$ba$${key.currentVersion}$`);
  const encrypt = async (data: string): Promise<string> => (await cipher()).symmetricEncrypt({ key, data });

  async function decrypt(data: string): Promise<string> {
    const { symmetricDecrypt } = await cipher();
    // A text from before secrets had numbers names none, so each is tried: a wrong one is noticed.
    const candidates = data.startsWith("$ba$") ? [key] : secrets;
    for (const candidate of candidates) {
      try {
        return await symmetricDecrypt({ key: candidate, data });
      } catch {
        // The next one, or none.
      }
    }
    throw new FactorUnreadable("A second factor is encrypted under a secret that is not in SALDO_AUTH_SECRET.");
  }

  return {
    numbered,
    encrypt,
    decrypt,
    async renewed(pool, factor) {
      const { secret, backupCodes } = factor;
      const isHashed = backupCodes.startsWith("[");
      if (isCurrent(secret) && isHashed) return factor;
      const now = {
        ...factor,
        secret: isCurrent(secret) ? secret : await encrypt(await decrypt(secret)),
        backupCodes: isHashed
          ? backupCodes
          : await hashRecoveryCodes(JSON.parse(await decrypt(backupCodes)) as string[]),
      };
      if (await replaceFactorSecrets(pool, factor, now)) return now;
      // Another process was first, and its hashes are others.
      return (await readFactor(pool, factor.personId)) ?? now;
    },
  };
}

/** Renews the stored factors of all people. `onUnreadable` is called for each factor that no secret opens. */
export async function renewAllFactors(
  pool: Pool,
  secrets: FactorSecrets,
  onUnreadable: (personId: string) => void,
): Promise<void> {
  const [current] = secrets.numbered;
  let after: string | null = null;
  do {
    const rows: FactorRow[] = await readOutdatedFactors(pool, {
      current: `$ba$${current?.version}$`,
      after,
      limit: ROWS_AT_ONCE,
    });
    for (const factor of rows) {
      try {
        await secrets.renewed(pool, openFactor(factor));
      } catch (error) {
        if (!(error instanceof FactorUnreadable || error instanceof SecretUnreadable)) throw error;
        onUnreadable(factor.personId);
      }
    }
    after = rows.at(-1)?.personId ?? null;
  } while (after !== null);
}

/** A number that reveals nothing of the secret, and is the same on every node. */
function versionOf(secret: string): number {
  return Buffer.from(hkdfSync("sha256", secret, "", "saldo auth secret id", VERSION_BYTES)).readUInt32BE() >>> 1;
}
