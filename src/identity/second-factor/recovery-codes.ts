// Recovery codes sign in a person whose phone is lost. There are ten, of fifty random bits each, and each works once. They are stored
// as hashes like those of passwords: fifty bits are too few for a fast hash.

import { randomInt } from "node:crypto";
import { hashPassword, verifyPassword } from "../passwords/passwords.ts";

const AMOUNT = 10;
const GROUP = 5;
/** Without letters and digits that look alike. */
const ALPHABET = "abcdefghjkmnpqrstuvwxyz23456789";

/** A new set of codes, such as `k3m9x-7bq2t`. */
export function newRecoveryCodes(): string[] {
  return Array.from({ length: AMOUNT }, () => `${group()}-${group()}`);
}

function group(): string {
  return Array.from({ length: GROUP }, () => ALPHABET[randomInt(ALPHABET.length)]).join("");
}

/** A typed code in the form in which it was given out. */
export function readRecoveryCode(typed: string): string {
  const letters = typed.toLowerCase().replace(/[^a-z0-9]/g, "");
  return `${letters.slice(0, GROUP)}-${letters.slice(GROUP)}`;
}

/** The form in which a set is stored: a list of hashes. Errors: ServiceBusy when too many passwords are being hashed. */
export async function hashRecoveryCodes(codes: readonly string[]): Promise<string> {
  const hashes: string[] = [];
  // One after another: a set takes one place for hashing passwords, not ten.
  for (const code of codes) hashes.push(await hashPassword(code));
  return JSON.stringify(hashes);
}

/** How many codes of a stored set are left. */
export function countRecoveryCodes(stored: string): number {
  return (JSON.parse(stored) as string[]).length;
}

/** The hash of a code in a stored set. Null: the code is not in the set. Errors: ServiceBusy. */
export async function hashOfRecoveryCode(stored: string, code: string): Promise<string | null> {
  for (const hash of JSON.parse(stored) as string[]) if (await verifyPassword({ hash, password: code })) return hash;
  return null;
}
