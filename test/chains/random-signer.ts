// A signer as hardware is one: each signature has a random k, so that signing twice gives two, and every second s is high.

import { createECDH } from "node:crypto";
import type { Hex } from "viem";
import { generatePrivateKey, privateKeyToAddress } from "viem/accounts";
import type { SignatureNumbers, Signer } from "../../src/merchant/chains/signers/signer.ts";
import type { OutsideSigner } from "../../src/merchant/chains/evm/wallet.ts";

const ORDER = 0xffff_ffff_ffff_ffff_ffff_ffff_ffff_fffe_baae_dce6_af48_a03b_bfd2_5e8c_d036_4141n;
const SPKI_HEAD = "3056301006072a8648ce3d020106052b8104000a034200";

/** Signs with a random k. */
export function signAtRandom(digest: Hex, privateKey: Hex, isHigh = Math.random() < 0.5): SignatureNumbers {
  const k = BigInt(generatePrivateKey());
  const r = BigInt(`0x${pointOf(k).subarray(1, 33).toString("hex")}`) % ORDER;
  const s = (inverse(k) * (BigInt(digest) + r * BigInt(privateKey))) % ORDER;
  return { r, s: s > ORDER / 2n === isHigh ? s : ORDER - s };
}

/** The point of a private number, uncompressed. */
function pointOf(number: bigint): Buffer {
  const curve = createECDH("secp256k1");
  curve.setPrivateKey(Buffer.from(number.toString(16).padStart(64, "0"), "hex"));
  return curve.getPublicKey();
}

/** By Fermat: the order is a prime. */
function inverse(number: bigint): bigint {
  let [result, square] = [1n, number];
  for (let rest = ORDER - 2n; rest > 0n; rest >>= 1n) {
    if ((rest & 1n) === 1n) result = (result * square) % ORDER;
    square = (square * square) % ORDER;
  }
  return result;
}

/** A signature in DER, with each number as short as DER requires. */
export function derOf({ r, s }: SignatureNumbers): Buffer {
  const body = Buffer.concat([r, s].map(integerOf));
  return Buffer.concat([Buffer.from([0x30, body.length]), body]);
}

function integerOf(number: bigint): Buffer {
  const digits = number.toString(16);
  const bytes = Buffer.from(digits.padStart(digits.length + (digits.length % 2), "0"), "hex");
  const content = (bytes[0] ?? 0) >= 0x80 ? Buffer.concat([Buffer.from([0]), bytes]) : bytes;
  return Buffer.concat([Buffer.from([0x02, content.length]), content]);
}

/** The public key of a private one, in SPKI. */
export function publicKeyOf(privateKey: Hex): Buffer {
  return Buffer.concat([Buffer.from(SPKI_HEAD, "hex"), pointOf(BigInt(privateKey))]);
}

export class RandomSigner implements Signer {
  readonly kind = "fake";
  /** The key; another one can take its place at any time. */
  privateKey: Hex;
  /** What keeps it from answering. Null: nothing. */
  trouble: Error | null = null;
  /** The digests that it has signed. */
  readonly signed: Hex[] = [];
  asked = 0;

  constructor(privateKey: Hex) {
    this.privateKey = privateKey;
  }

  /** As the settings of a chain have it. It is asked again at once when it has failed. */
  get outside(): OutsideSigner {
    return { signer: this, pace: { timeoutMs: 5_000, pauseMs: 0 } };
  }

  async address(): Promise<string> {
    this.asked += 1;
    if (this.trouble !== null) throw this.trouble;
    return privateKeyToAddress(this.privateKey);
  }

  async sign(digest: Hex): Promise<SignatureNumbers> {
    this.asked += 1;
    if (this.trouble !== null) throw this.trouble;
    this.signed.push(digest);
    return signAtRandom(digest, this.privateKey);
  }
}
