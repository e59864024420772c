// Secrets that the service gives out: gateway keys, merchant pairs, service tokens. 256 random bits cannot be guessed, so
// neither a pepper nor a slow hash is needed, and SHA-256 of the whole token is all that is ever stored. The checksum at
// the end detects a mistyped or made-up token without asking the database.

import { hash, randomBytes } from "node:crypto";
import { crc32 } from "node:zlib";

/** How a token begins; it shows what the token is for. The environment of a merchant pair is part of it. */
export type SecretTokenPrefix = "gw_" | "st_" | "mk_" | "sk_" | "mk_test_" | "sk_test_" | "ct_" | "cs_";

const ALPHABET = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const BASE = BigInt(ALPHABET.length);
const RANDOM_BYTES = 32;
// 62^43 is just above 2^256, and 62^6 above 2^32.
const BODY_LENGTH = 43;
const CHECKSUM_LENGTH = 6;
const BODY_AND_CHECKSUM = /^[0-9A-Za-z]{49}$/;

/** Makes a new token: prefix, 43 base62 characters of 256 random bits, 6 base62 characters of CRC-32 over both. */
export function newSecretToken(prefix: SecretTokenPrefix, random: (bytes: number) => Buffer = randomBytes): string {
  const body = base62(BigInt(`0x${random(RANDOM_BYTES).toString("hex")}`), BODY_LENGTH);
  return prefix + body + checksumOf(prefix + body);
}

/** Whether a text has the form of a token of this prefix, checksum included. It does not mean that we issued it. */
export function isSecretToken(text: string, prefix: SecretTokenPrefix): boolean {
  if (text.length !== prefix.length + BODY_LENGTH + CHECKSUM_LENGTH || !text.startsWith(prefix)) return false;
  if (!BODY_AND_CHECKSUM.test(text.slice(prefix.length))) return false;
  return text.slice(-CHECKSUM_LENGTH) === checksumOf(text.slice(0, -CHECKSUM_LENGTH));
}

/** The only form in which a token is stored: SHA-256 of all of it, 32 bytes. */
export function digestSecretToken(token: string): Buffer {
  return hash("sha256", token, "buffer");
}

function checksumOf(text: string): string {
  return base62(BigInt(crc32(text)), CHECKSUM_LENGTH);
}

function base62(value: bigint, length: number): string {
  let text = "";
  for (let rest = value; text.length < length; rest /= BASE) text = ALPHABET.charAt(Number(rest % BASE)) + text;
  return text;
}
