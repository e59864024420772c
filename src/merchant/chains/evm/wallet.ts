// The wallet that pays on a chain: by its private key, by its address and a signer that has its key, or by its address alone where a
// process only watches what another pays.

import type { Address, Hex } from "viem";
import { privateKeyToAddress } from "viem/accounts";
import { createLocalSigner } from "../signers/local-signer.ts";
import type { Signer } from "../signers/signer.ts";
import { type SignerPace, WalletSigner } from "../signers/wallet-signer.ts";

export type Wallet = {
  readonly address: Address;
  /** Null: only the address is known here. */
  readonly signer: WalletSigner | null;
};

/** A signer outside this process, and how long it may take. */
export type OutsideSigner = { readonly signer: Signer; readonly pace: SignerPace };

const ADDRESS = /^0x[0-9a-fA-F]{40}$/;
/** A key in memory answers at once. */
const LOCAL_PACE: SignerPace = { timeoutMs: 10_000, pauseMs: 0 };

/** Whether a setting names a wallet by its address, so that this process does not have its key. */
export function isWatched(keyOrAddress: string): boolean {
  return ADDRESS.test(keyOrAddress);
}

/**
 * Opens the wallet of a private key or an address. With a signer it is the address: whatever the signer answers is compared with it.
 * Errors: what is neither, or a key where the address has to be.
 */
export function openWallet(keyOrAddress: string, network: string, outside: OutsideSigner | null = null): Wallet {
  if (isWatched(keyOrAddress)) {
    const address = keyOrAddress as Address;
    return { address, signer: outside === null ? null : new WalletSigner({ ...outside, wallet: address }) };
  }
  if (outside !== null) throw new Error(`the wallet of ${network} has a signer, so it must be given by its address`);
  try {
    const key = keyOrAddress as Hex;
    const signer = createLocalSigner(key);
    const address = privateKeyToAddress(key);
    return { address, signer: new WalletSigner({ signer, wallet: address, pace: LOCAL_PACE }) };
  } catch {
    // What went wrong may quote the key.
    throw new Error(`the private key of ${network} must be 0x and 64 hexadecimal digits`);
  }
}
