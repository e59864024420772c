// Base58 with four bytes of a double SHA-256 as checksum: the older addresses of Bitcoin and Litecoin, and those of Tron.

import { hash } from "node:crypto";
import { createBase58check } from "@scure/base";

const coder = createBase58check((data) => hash("sha256", data, "buffer"));
const ALPHABET = /^[1-9A-HJ-NP-Za-km-z]+$/;
const HASH_BYTES = 20;

/** The version and the 20 bytes of an address, or its problem. */
export function readBase58check(
  address: string,
): { readonly version: number; readonly hash: Uint8Array } | { readonly problem: string } {
  if (!ALPHABET.test(address)) return { problem: "it has a character that such an address never has" };
  let bytes: Uint8Array;
  try {
    bytes = coder.decode(address);
  } catch {
    // The library's messages are for programmers; each of them means this.
    return { problem: "its checksum does not match, so a character is wrong or missing" };
  }
  const [version] = bytes;
  if (version === undefined || bytes.length !== 1 + HASH_BYTES) return { problem: "it does not have the right length" };
  return { version, hash: bytes.subarray(1) };
}
