// Addresses of Bitcoin and of Litecoin, which has the same forms with other prefixes. Main networks only.

import type { ReadAddress } from "./read-address.ts";
import { readBase58check } from "./base58check.ts";
import { readWitnessProgram } from "./segwit.ts";

/** Pay to a key's hash, and pay to a script's hash. */
type Prefixes = { readonly versions: readonly number[]; readonly witness: string };

const TAPROOT_BYTES = 32;

export const readBitcoinAddress = readerOf({ versions: [0x00, 0x05], witness: "bc" });

/** Litecoin's scripts have Bitcoin's prefix, 3, in their older form: the address alone does not show the coin. */
export const readLitecoinAddress = readerOf({ versions: [0x30, 0x32, 0x05], witness: "ltc" });

function readerOf({ versions, witness }: Prefixes): ReadAddress {
  return (address) => {
    if (address.toLowerCase().startsWith(`${witness}1`)) return readWitnessAddress(address, witness);
    const read = readBase58check(address);
    if ("problem" in read) return read;
    return versions.includes(read.version) ? { normalized: address } : { problem: "it is one of another network" };
  };
}

function readWitnessAddress(address: string, prefix: string): ReturnType<ReadAddress> {
  if (address !== address.toLowerCase() && address !== address.toUpperCase()) {
    return { problem: "small letters and capitals are mixed in it" };
  }
  const read = readWitnessProgram(address, prefix);
  if (read === null)
    return { problem: "its checksum or its length does not match, so a character is wrong or missing" };
  // Future versions, and other lengths of version 1, can be spent by any person until the network has rules for them.
  if (read.version > 1 || (read.version === 1 && read.program.length !== TAPROOT_BYTES)) {
    return { problem: "the network has no rules yet for who owns what is sent to an address of this version" };
  }
  return { normalized: address.toLowerCase() };
}
