// Passwords: which are accepted, and how they are stored. Hashing costs memory and time on purpose, so the number of passwords that
// are hashed at once is bounded: a flood of sign-ins must not take the threads and the memory that requests need.

import { hash, verify } from "@node-rs/argon2";
import { ServiceBusy } from "../../kernel/errors.ts";
import { COMMON_WORDS } from "./common-words.ts";
import { isListedPassword } from "./listed-passwords.ts";

/** Most common passwords are shorter. */
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

/** Hashes a password. Errors: ServiceBusy when too many are being hashed. */
export function hashPassword(password: string): Promise<string> {
  return inTurn(() => hash(password, COST));
}

/** Whether a password is the one of a hash. Errors: ServiceBusy when too many are being hashed. */
export function verifyPassword({ hash: kept, password }: { hash: string; password: string }): Promise<boolean> {
  return inTurn(() => verify(kept, password));
}

async function inTurn<T>(work: () => Promise<T>): Promise<T> {
  if (running >= AT_ONCE) {
    if (waiting.length >= MOST_WAITING) throw new ServiceBusy(1);
    await new Promise<void>((resume) => waiting.push(resume));
  } else {
    running += 1;
  }
  try {
    return await work();
  } finally {
    // The place goes to the next waiting call, without being free in between.
    const next = waiting.shift();
    if (next === undefined) running -= 1;
    else next();
  }
}

const ROWS = [
  "01234567890123456789",
  "98765432109876543210",
  "abcdefghijklmnopqrstuvwxyz",
  "zyxwvutsrqponmlkjihgfedcba",
  "qwertyuiopasdfghjklzxcvbnm",
  "qwertyuiop[]asdfghjkl;'",
  "1qaz2wsx3edc4rfv5tgb6yhn7ujm8ik",
  "zaq12wsxcde34rfvbgt5",
  "1q2w3e4r5t6y7u8i9o0p",
  "q1w2e3r4t5y6u7i8o9p0",
  "qazwsxedcrfvtgbyhnujmikolp",
  "!qaz@wsx#edc$rfv%tgb",
];
/** A piece of a keyboard row of this length is a habit of fingers, not a choice. */
const ROW_PIECE = 4;
/** By E.164. */
const MOST_PHONE_DIGITS = 15;
/** More words than this are a sentence of the person's own. */
const MOST_COMMON_WORDS = 3;
const LOOKALIKES: Readonly<Record<string, string>> = {
  "0": "o",
  "1": "i",
  "3": "e",
  "4": "a",
  "5": "s",
  "7": "t",
  "8": "b",
  "@": "a",
  $: "s",
  "!": "i",
  "|": "l",
};

/** Whether a password is among those that are tried first. */
export function isCommonPassword(password: string, email: string): boolean {
  const lower = password.toLowerCase();
  if (isListedPassword(password)) return true;
  const own = ownWordsOf(email);
  if (new Set(lower).size < 5 || isRepeated(lower) || lower === email.toLowerCase()) return true;
  if (ROWS.some((row) => row.includes(lower)) || isDateOrPhone(lower)) return true;
  if (own.some((word) => word.length >= 4 && lower.includes(word) && lower.length - word.length < 6)) return true;
  // As it is written, with digits read as the letters that they look like, and with the digits at both ends left out first.
  const ends = lower.replace(/^[^a-z]+/, "").replace(/[^a-z]+$/, "");
  const parts = lower.split(/[^a-z0-9@$!|]+/).filter((part) => /[a-z]/.test(part));
  return [lower, unleet(lower), unleet(ends), unleet(parts.join(""))].some((text) =>
    isMadeOfCommonWords(text, new Set(own)),
  );
}

/** Digits alone, and no more than the number of a phone has. */
function isDateOrPhone(text: string): boolean {
  return /^[\d\s+./-]+$/.test(text) && text.replace(/\D/g, "").length <= MOST_PHONE_DIGITS;
}

/** The words of an address: its name, the parts of the name, and the parts of the domain. */
function ownWordsOf(email: string): string[] {
  const [name = "", domain = ""] = email.toLowerCase().split("@");
  return [name, ...name.split(/[^a-z0-9]+/), ...domain.split(".").slice(0, -1)].filter((word) => word !== "");
}

function unleet(text: string): string {
  return Array.from(text, (letter) => LOOKALIKES[letter] ?? letter).join("");
}

/** The same few characters over and over, such as `abc1abc1abc1`. */
function isRepeated(text: string): boolean {
  for (let length = 1; length <= text.length / 2; length += 1) {
    const part = text.slice(0, length);
    if (part.repeat(Math.ceil(text.length / length)).slice(0, text.length) === text) return true;
  }
  return false;
}

/** Whether all letters of a text are a few common words or pieces of keyboard rows; digits and signs between them add little. */
function isMadeOfCommonWords(text: string, own: ReadonlySet<string>): boolean {
  const letters = text.replace(/[^a-z]+/g, "");
  // Texts in other alphabets, and those with hardly a letter, are not checked here.
  if (letters.length < 3) return false;
  // The fewest words that end at each place.
  const fewest: number[] = [0, ...Array.from<number>({ length: letters.length }).fill(Number.POSITIVE_INFINITY)];
  for (let end = 1; end <= letters.length; end += 1) {
    for (let start = Math.max(0, end - MAX_WORD_LENGTH); start < end; start += 1) {
      const word = letters.slice(start, end);
      const count = (fewest[start] ?? 0) + 1;
      if (count < (fewest[end] ?? 0) && (COMMON_WORDS.has(word) || own.has(word) || isRowPiece(word))) {
        fewest[end] = count;
      }
    }
  }
  return (fewest[letters.length] ?? 0) <= MOST_COMMON_WORDS;
}

const MAX_WORD_LENGTH = 26;

function isRowPiece(word: string): boolean {
  return word.length >= ROW_PIECE && ROWS.some((row) => row.includes(word));
}
