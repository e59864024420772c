// The port to whatever has the key of a wallet: the process itself, a token (PKCS#11) or a key service of a cloud. A signer only
// answers; what it answers is proven by `wallet-signer.ts` before anything of it is used.

import type { Hex } from "viem";

/** The two numbers of an ECDSA signature over secp256k1. `s` may be high, and which of several keys has made it is open. */
export type SignatureNumbers = { readonly r: bigint; readonly s: bigint };

/** A signature that a chain accepts: `s` is low, and `v`, which is 0 or 1, leads to the wallet's address. */
export type WalletSignature = SignatureNumbers & { readonly v: 0 | 1 };

/** The signer does not sign now: it is away, slow, throttles, refuses, or its answer cannot be read. A later try may succeed. */
export class SignerFailure extends Error {
  override readonly name: string = "SignerFailure";
}

/** The signer has another key than the wallet's. Nothing that it has signed is used. */
export class WrongSigner extends Error {
  override readonly name: string = "WrongSigner";
}

export interface Signer {
  /** `local`, `pkcs11`, `aws-kms` or `google-kms`. */
  readonly kind: string;

  /** The address of its key. Errors: any; each counts as a failure that may pass. */
  address(signal: AbortSignal): Promise<string>;

  /** Signs 32 bytes, which it does not hash again. Errors: any; each counts as a failure that may pass. */
  sign(digest: Hex, signal: AbortSignal): Promise<SignatureNumbers>;
}
