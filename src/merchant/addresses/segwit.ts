// Addresses of a witness program (BIP-173 and BIP-350): bech32 for version 0, bech32m for the versions after it.

import { bech32, bech32m } from "@scure/base";

/** The contents of such an address. */
export type WitnessProgram = { readonly version: number; readonly program: Uint8Array };

const MAX_VERSION = 16;
const PROGRAM_BYTES = { min: 2, max: 40 };
/** A key's hash and a script's hash. */
const VERSION_0_BYTES: readonly number[] = [20, 32];

/** Reads an address of the given prefix by the standards; null when it is invalid. */
export function readWitnessProgram(address: string, prefix: string): WitnessProgram | null {
  for (const coder of [bech32, bech32m]) {
    // The library refuses mixed case, other characters and a wrong checksum.
    const decoded = coder.decodeUnsafe(address);
    if (decoded === undefined || decoded.prefix !== prefix) continue;
    const [version, ...words] = decoded.words;
    const program = coder.fromWordsUnsafe(words);
    if (version === undefined || version > MAX_VERSION || !(program instanceof Uint8Array)) return null;
    if (program.length < PROGRAM_BYTES.min || program.length > PROGRAM_BYTES.max) return null;
    if (version === 0 && !VERSION_0_BYTES.includes(program.length)) return null;
    return (version === 0) === (coder === bech32) ? { version, program } : null;
  }
  return null;
}
