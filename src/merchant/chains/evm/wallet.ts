// The wallet that pays on a chain: by its private key, or by its address alone where a process only watches what another pays.

import type { Address, Hex } from "viem";
import { type PrivateKeyAccount, privateKeyToAccount } from "viem/accounts";

export type Wallet = {
  readonly address: Address;
  /** Null: only the address is known here. */
  readonly signTransaction: PrivateKeyAccount["signTransaction"] | null;
};

const ADDRESS = /^0x[0-9a-fA-F]{40}$/;

/** Whether a setting names a wallet by its address, so that this process does not pay out of it. */
export function isWatched(keyOrAddress: string): boolean {
  return ADDRESS.test(keyOrAddress);
}

/** Opens the wallet of a private key or an address. Errors: what is neither. */
export function openWallet(keyOrAddress: string, network: string): Wallet {
  if (isWatched(keyOrAddress)) return { address: keyOrAddress as Address, signTransaction: null };
  try {
    return privateKeyToAccount(keyOrAddress as Hex);
  } catch {
    // What went wrong may quote the key.
    throw new Error(`the private key of ${network} must be 0x and 64 hexadecimal digits`);
  }
}
