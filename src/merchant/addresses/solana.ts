// Addresses of Solana: a public key of 32 bytes in base58, without a checksum. The only check is whether the bytes are
// a point of the key curve: a wallet's always are, and only half of all wrong ones. See the room's README.

import { base58 } from "@scure/base";
import type { ReadAddress } from "./read-address.ts";

const FORM = /^[1-9A-HJ-NP-Za-km-z]{32,44}$/;
const KEY_BYTES = 32;

export const readSolanaAddress: ReadAddress = (address) => {
  if (!FORM.test(address)) return { problem: "it must be 32 to 44 characters of base58" };
  const key = base58.decode(address);
  if (key.length !== KEY_BYTES) return { problem: "it does not have the right length" };
  if (key.every((byte) => byte === 0)) return { problem: "it has no owner, so coins sent there are lost" };
  if (!isOnCurve(key)) return { problem: "it is not the address of a wallet, or a character is wrong" };
  return { normalized: address };
};

const P = 2n ** 255n - 19n;
/** The d of -x² + y² = 1 + d·x²·y²: -121665 / 121666. */
const D = modulo(-121665n * power(121666n, P - 2n));

/** Whether 32 bytes are a point of Ed25519's curve in its compressed form. */
export function isOnCurve(compressed: Uint8Array): boolean {
  const number = BigInt(`0x${Buffer.from(compressed.toReversed()).toString("hex")}`);
  const y = number & (2n ** 255n - 1n);
  if (y >= P) return false;
  const square = modulo(y * y);
  // x² = (y² - 1) / (d·y² + 1), whose denominator is never zero. By Euler, a square to the power of (P - 1) / 2 is 0 or 1.
  const xSquare = modulo((square - 1n) * power(modulo(D * square + 1n), P - 2n));
  if (xSquare === 0n) return number >> 255n === 0n;
  return power(xSquare, (P - 1n) / 2n) === 1n;
}

function modulo(value: bigint): bigint {
  return ((value % P) + P) % P;
}

function power(base: bigint, exponent: bigint): bigint {
  let result = 1n;
  let factor = base;
  for (let rest = exponent; rest > 0n; rest >>= 1n) {
    if ((rest & 1n) === 1n) result = modulo(result * factor);
    factor = modulo(factor * factor);
  }
  return result;
}
