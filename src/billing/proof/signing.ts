// Signatures of the roots. The key is outside the database, so that its owner cannot sign another past.

import { createHash, createPrivateKey, createPublicKey, hkdfSync, type KeyObject, sign, verify } from "node:crypto";

/** A key that signs. */
export type ProofKey = {
  /** The beginning of the SHA-256 of the public key, in hexadecimal. */
  readonly id: string;
  /** SPKI in DER, as Base64. */
  readonly publicKey: string;
  sign(text: string): string;
};

export type RootSignature = {
  readonly key: string;
  readonly public_key: string;
  readonly signature: string;
};

const SEED_BYTES = 32;
/** An Ed25519 key in PKCS #8, before its 32 bytes. */
const PKCS8_START = Buffer.from("302e020100300506032b657004220420", "hex");
const ID_DIGITS = 16;

/** The Ed25519 key of a secret of any form. */
export function proofKey(secret: string): ProofKey {
  const seed = Buffer.from(hkdfSync("sha256", secret, "", "saldo proof key", SEED_BYTES));
  const key = createPrivateKey({ key: Buffer.concat([PKCS8_START, seed]), format: "der", type: "pkcs8" });
  const spki = createPublicKey(key).export({ format: "der", type: "spki" });
  return {
    id: keyIdOf(spki),
    publicKey: spki.toString("base64"),
    sign: (text) => sign(null, Buffer.from(text), key).toString("base64"),
  };
}

/** Signs a text by every key: a new key and the one before it sign together while keys change. */
export function signByAll(keys: readonly ProofKey[], text: string): RootSignature[] {
  return keys.map((key) => ({ key: key.id, public_key: key.publicKey, signature: key.sign(text) }));
}

/** The signatures of a text that are right. What is no list of signatures has none. */
export function rightSignatures(text: string, signatures: unknown): RootSignature[] {
  if (!Array.isArray(signatures)) return [];
  return (signatures as RootSignature[]).filter((signature) => isSignatureRight(text, signature));
}

/** Whether a list of signatures has some, and all are right. */
export function areSignaturesRight(text: string, signatures: unknown): boolean {
  const right = rightSignatures(text, signatures);
  return right.length > 0 && right.length === (signatures as unknown[]).length;
}

/** Whether a signature is of its text, and its key has the id that it names. */
export function isSignatureRight(text: string, given: RootSignature): boolean {
  const { key, public_key, signature } = given ?? {};
  if (typeof public_key !== "string" || typeof signature !== "string") return false;
  const spki = Buffer.from(public_key, "base64");
  const publicKey = readPublicKey(spki);
  if (publicKey?.asymmetricKeyType !== "ed25519" || keyIdOf(spki) !== key) return false;
  const bytes = Buffer.from(signature, "base64");
  // Base64 can write one signature in several ways.
  if (bytes.toString("base64") !== signature || spki.toString("base64") !== public_key) return false;
  return verify(null, Buffer.from(text), publicKey, bytes);
}

function readPublicKey(spki: Buffer): KeyObject | null {
  try {
    return createPublicKey({ key: spki, format: "der", type: "spki" });
  } catch {
    return null;
  }
}

function keyIdOf(spki: Buffer): string {
  return createHash("sha256").update(spki).digest("hex").slice(0, ID_DIGITS);
}
