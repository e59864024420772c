// Recovery codes: what signs a person in whose phone is gone. Ten of them, fifty random bits each, good once.

import { randomInt } from "node:crypto";

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

/** A code as it was typed, in the form in which it was given out. */
export function readRecoveryCode(typed: string): string {
  const letters = typed.toLowerCase().replace(/[^a-z0-9]/g, "");
  return `${letters.slice(0, GROUP)}-${letters.slice(GROUP)}`;
}
