// The signer of one wallet, as its chain uses it: with a bound on every answer, and a proof of each signature. A signature is
// used only when `s` is low and the sender that a chain would compute from it is the wallet.

import { type Address, hashMessage, type Hex, isAddress, isAddressEqual, recoverAddress, toHex } from "viem";
import { type Signer, type SignatureNumbers, SignerFailure, type WalletSignature, WrongSigner } from "./signer.ts";

/** The order of secp256k1. Of s and ORDER - s, which are both right, chains accept the lower one. */
const ORDER = 0xffff_ffff_ffff_ffff_ffff_ffff_ffff_fffe_baae_dce6_af48_a03b_bfd2_5e8c_d036_4141n;
const HIGHEST_S = ORDER / 2n;
/** How long a proof is believed. */
const PROVEN_FOR_MS = 300_000;
/** Text that no chain takes for a transaction. */
const PROBE = hashMessage("Saldo: does the signer of this wallet sign?");

/** Times of a wallet's signer. */
export type SignerPace = {
  /** A signer that takes longer counts as away. */
  readonly timeoutMs: number;
  /** A signer that failed is left alone so long: many payments may wait for it, and each would wait for its own timeout. */
  readonly pauseMs: number;
};

/** What keeps a signer from signing, and since when by `performance.now()`. */
export type SignerTrouble = { readonly sinceMs: number; readonly error: SignerFailure | WrongSigner };

export class WalletSigner {
  readonly #signer: Signer;
  readonly #wallet: Address;
  readonly #pace: SignerPace;
  readonly #now: () => number;
  #provenAtMs = Number.NEGATIVE_INFINITY;
  #trouble: (SignerTrouble & { readonly latestMs: number }) | null = null;

  constructor(options: { signer: Signer; wallet: Address; pace: SignerPace; now?: () => number }) {
    this.#signer = options.signer;
    this.#wallet = options.wallet;
    this.#pace = options.pace;
    this.#now = options.now ?? (() => performance.now());
  }

  /** What keeps it from signing. Null: it has proven itself, or was not asked yet. */
  get trouble(): SignerTrouble | null {
    return this.#trouble;
  }

  /**
   * Proves that it has the wallet's key and signs with it, unless it did a short while ago. Errors: SignerFailure; WrongSigner, where it
   * has another key.
   */
  async check(): Promise<void> {
    if (this.#trouble === null && this.#now() - this.#provenAtMs < PROVEN_FOR_MS) return;
    const address = await this.#ask((signal) => this.#signer.address(signal));
    if (!isAddress(address, { strict: false }) || !isAddressEqual(address, this.#wallet))
      throw this.#failed(
        new WrongSigner(`the ${this.#signer.kind} signer has the key of ${address}, and not of ${this.#wallet}`),
      );
    await this.sign(PROBE);
  }

  /** Signs for the wallet. Errors: SignerFailure; WrongSigner, where another key has signed. */
  async sign(digest: Hex): Promise<WalletSignature> {
    const { kind } = this.#signer;
    const { r, s } = await this.#ask((signal) => this.#signer.sign(digest, signal));
    if (!isWithinOrder(r) || !isWithinOrder(s))
      throw this.#failed(new SignerFailure(`the ${kind} signer answers no signature`));
    const signature = await this.#proven(digest, { r, s: lowS(s) });
    if (signature === null)
      throw this.#failed(
        new WrongSigner(`the ${kind} signer has signed with another key than that of ${this.#wallet}`),
      );
    this.#trouble = null;
    this.#provenAtMs = this.#now();
    return signature;
  }

  /** The signature as it leads to the wallet. Null: it leads elsewhere. */
  async #proven(digest: Hex, numbers: SignatureNumbers): Promise<WalletSignature | null> {
    for (const v of [0, 1] as const) {
      const sender = await senderOf(digest, { ...numbers, v });
      if (sender !== null && isAddressEqual(sender, this.#wallet)) return { ...numbers, v };
    }
    return null;
  }

  /** Errors: SignerFailure, whatever it was, so that no trouble of a signer ends a transfer. */
  async #ask<Answer>(ask: (signal: AbortSignal) => Promise<Answer>): Promise<Answer> {
    const { timeoutMs, pauseMs } = this.#pace;
    if (this.#trouble !== null && this.#now() - this.#trouble.latestMs < pauseMs) throw this.#trouble.error;
    const signal = AbortSignal.timeout(timeoutMs);
    const late = Promise.withResolvers<never>();
    const stop = (): void => late.reject(new Error(`no answer within ${timeoutMs} ms`));
    signal.addEventListener("abort", stop, { once: true });
    try {
      // A signer that ignores the signal counts as late as well.
      return await Promise.race([ask(signal), late.promise]);
    } catch (cause) {
      const why = cause instanceof Error ? cause.message : String(cause);
      throw this.#failed(new SignerFailure(`the ${this.#signer.kind} signer does not sign: ${why}`, { cause }));
    } finally {
      signal.removeEventListener("abort", stop);
    }
  }

  #failed<Failure extends SignerFailure | WrongSigner>(error: Failure): Failure {
    const now = this.#now();
    this.#trouble = { sinceMs: this.#trouble?.sinceMs ?? now, latestMs: now, error };
    return error;
  }
}

function lowS(s: bigint): bigint {
  return s > HIGHEST_S ? ORDER - s : s;
}

function isWithinOrder(number: bigint): boolean {
  return number > 0n && number < ORDER;
}

/** Null: no key can have made it. */
async function senderOf(digest: Hex, { r, s, v }: WalletSignature): Promise<Address | null> {
  const signature = { r: toHex(r, { size: 32 }), s: toHex(s, { size: 32 }), yParity: v };
  return recoverAddress({ hash: digest, signature }).catch(() => null);
}
