// Addresses of Ethereum and chains of its kind: 20 bytes in hex, with a checksum in the case of the letters (EIP-55).

import { createRequire } from "node:module";
import type * as ViemUtils from "viem/utils";
import type { ReadAddress } from "./read-address.ts";

const FORM = /^0x[0-9a-fA-F]{40}$/;
/** The zero address, the built-in contracts and a well-known burn address are below this: coins sent there are lost. */
const FIRST_PAYABLE = 0x10000n;

// viem takes longer to load than all other modules at the start, so the first EVM address loads it.
const load = createRequire(import.meta.url);
let viem: typeof ViemUtils | undefined;

/** All-lowercase and all-uppercase letters carry no checksum and are accepted; a mixed-case checksum must match. */
export const readEvmAddress: ReadAddress = (address) => {
  if (!FORM.test(address)) return { problem: "it must be 0x and 40 hexadecimal digits" };
  if (BigInt(address) < FIRST_PAYABLE) return { problem: "it has no owner, so coins sent there are lost" };
  const digits = address.slice(2);
  viem ??= load("viem/utils") as typeof ViemUtils;
  const normalized = viem.getAddress(`0x${digits.toLowerCase()}`);
  const isMixed = digits !== digits.toLowerCase() && digits !== digits.toUpperCase();
  if (isMixed && address !== normalized) {
    return { problem: "its capitals do not match its checksum, so a character is wrong" };
  }
  return { normalized };
};
