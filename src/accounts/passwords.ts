// Passwords: what is taken as one, and how it is kept. Hashing is made to cost memory and time, so how many are hashed at once
// is bounded: a flood of sign-ins must not take the threads and the memory that requests need.

import { hash, verify } from "@node-rs/argon2";
import { UpstreamBusy } from "../kernel/errors.ts";

/** Long enough that the lists of common passwords hardly reach it. */
export const MIN_PASSWORD_LENGTH = 12;
export const MAX_PASSWORD_LENGTH = 128;

// The package exports the name as a const enum, which is gone when types are stripped.
const ARGON2ID = 2;
/** OWASP's second choice for argon2id. A hash takes some tens of milliseconds of one core. */
const COST = { algorithm: ARGON2ID, memoryCost: 19_456, timeCost: 2, parallelism: 1 } as const;
const AT_ONCE = 2;
const MOST_WAITING = 64;

let running = 0;
const waiting: (() => void)[] = [];

/** Hashes a password. Errors: UpstreamBusy when too many are being hashed. */
export function hashPassword(password: string): Promise<string> {
  return inTurn(() => hash(password, COST));
}

/** Whether a password is the one of a hash. Errors: UpstreamBusy when too many are being hashed. */
export function verifyPassword({ hash: kept, password }: { hash: string; password: string }): Promise<boolean> {
  return inTurn(() => verify(kept, password));
}

async function inTurn<T>(work: () => Promise<T>): Promise<T> {
  if (running >= AT_ONCE) {
    if (waiting.length >= MOST_WAITING) throw new UpstreamBusy(1);
    await new Promise<void>((resume) => waiting.push(resume));
  } else {
    running += 1;
  }
  try {
    return await work();
  } finally {
    // The place goes on to whoever waits, without being free in between.
    const next = waiting.shift();
    if (next === undefined) running -= 1;
    else next();
  }
}

// What of the usual lists is long enough, in lower case. Repetitions and rows of keys are found by their form.
const COMMON: ReadonlySet<string> = new Set(
  [
    "password1234 password12345 password123456 passwordpassword mypassword123 administrator letmein12345 welcome12345",
    "iloveyou1234 qwerty123456 1q2w3e4r5t6y qazwsxedcrfv 1qaz2wsx3edc zaq12wsxcde3 abcd1234abcd",
    "bismillah123 indonesia123 sayangkamu123 rahasia12345 katasandi123",
  ].flatMap((line) => line.split(" ")),
);
const ROWS = [
  "01234567890123456789",
  "98765432109876543210",
  "abcdefghijklmnopqrstuvwxyz",
  "qwertyuiopasdfghjklzxcvbnm",
  "qwertyuiop[]asdfghjkl;'",
];

/** Whether a password is among those that are tried first. */
export function isCommonPassword(password: string, email: string): boolean {
  const lower = password.toLowerCase();
  const name = email.toLowerCase().split("@", 1)[0] ?? "";
  if (COMMON.has(lower) || new Set(lower).size < 4 || lower === email.toLowerCase()) return true;
  if (name.length >= 4 && lower.includes(name) && lower.length - name.length < 6) return true;
  return ROWS.some((row) => row.includes(lower));
}
