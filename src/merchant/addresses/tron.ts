// Addresses of Tron: an Ethereum-like hash of 20 bytes behind the version 0x41, in base58check.

import type { ReadAddress } from "./read-address.ts";
import { readBase58check } from "./base58check.ts";

const VERSION = 0x41;

export const readTronAddress: ReadAddress = (address) => {
  if (/^(0x)?41[0-9a-f]{40}$/i.test(address)) return { problem: "write it in its form that begins with T" };
  const read = readBase58check(address);
  if ("problem" in read) return read;
  if (read.version !== VERSION) return { problem: "it is one of another network" };
  if (read.hash.every((byte) => byte === 0)) return { problem: "it has no owner, so coins sent there are lost" };
  return { normalized: address };
};
