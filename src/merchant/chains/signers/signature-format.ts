// The formats in which signers answer: signatures in DER or as two numbers behind each other, and public keys as SPKI.

import { createPublicKey } from "node:crypto";
import { type Hex, toHex } from "viem";
import { publicKeyToAddress } from "viem/accounts";
import type { SignatureNumbers } from "./signer.ts";

const NUMBER_BYTES = 32;
const SEQUENCE = 0x30;
const INTEGER = 0x02;

/** Reads r and s of 32 bytes each. Errors: another length. */
export function parsePlainSignature(bytes: Uint8Array): SignatureNumbers {
  if (bytes.length !== 2 * NUMBER_BYTES) throw new Error(`a signature has 64 bytes, and not ${bytes.length}`);
  return { r: numberOf(bytes.subarray(0, NUMBER_BYTES)), s: numberOf(bytes.subarray(NUMBER_BYTES)) };
}

/**
 * Reads a signature in DER: a sequence of two integers. One byte of zero leads where the highest bit is set, and only there; a small
 * number has fewer than 32 bytes. Errors: anything else.
 */
export function parseDerSignature(bytes: Uint8Array): SignatureNumbers {
  const body = content(bytes, 0, SEQUENCE);
  if (body.end !== bytes.length) throw new Error("there are bytes behind the signature");
  const r = content(bytes, body.start, INTEGER);
  const s = content(bytes, r.end, INTEGER);
  if (s.end !== body.end) throw new Error("there are bytes behind the signature's numbers");
  return { r: integer(bytes.subarray(r.start, r.end)), s: integer(bytes.subarray(s.start, s.end)) };
}

/** The address of a public key in SPKI (DER). Errors: a key of another curve. */
export function addressOfPublicKey(spki: Uint8Array): string {
  const { crv, x, y } = createPublicKey({ key: Buffer.from(spki), format: "der", type: "spki" }).export({
    format: "jwk",
  });
  if (crv !== "secp256k1" || x === undefined || y === undefined)
    throw new Error("the signer's key is not one of secp256k1");
  const point = [x, y].map((part) =>
    Buffer.from(part, "base64url")
      .toString("hex")
      .padStart(2 * NUMBER_BYTES, "0"),
  );
  return publicKeyToAddress(`0x04${point.join("")}` as Hex);
}

/** Where the content of an element is. Only lengths below 128 are read: a signature over secp256k1 has 72 bytes at most. */
function content(bytes: Uint8Array, at: number, tag: number): { readonly start: number; readonly end: number } {
  const [found, length] = [bytes[at], bytes[at + 1]];
  if (found !== tag || length === undefined || length === 0 || length >= 0x80)
    throw new Error("this is no signature in DER");
  const start = at + 2;
  if (start + length > bytes.length) throw new Error("the signature is incomplete");
  return { start, end: start + length };
}

function integer(bytes: Uint8Array): bigint {
  const [first = 0, second = 0] = bytes;
  if (first >= 0x80) throw new Error("a number of the signature is negative");
  if (first === 0 && bytes.length > 1 && second < 0x80)
    throw new Error("a number of the signature has a zero too many");
  return numberOf(bytes);
}

function numberOf(bytes: Uint8Array): bigint {
  return BigInt(toHex(bytes));
}
