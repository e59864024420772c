// Opaque text of a provider as a thought signature. The member is base64 in Google's contract, and some of its clients decode it, so
// our text is encoded as a whole.

import type { Opaque } from "../conversation.ts";
import { opaqueText, readOpaqueText } from "../opaque-text.ts";

/** What it belongs to. Gemini CLI does not send thoughts back, so that of the thought before a call is put on the call. */
export type SignatureKind = "call" | "thought";

const SIGNATURE = /^saldo:(call|thought):(.+)$/s;
/** What each signature of ours begins with. */
const OWN_BEGIN = Buffer.from("saldo:").toString("base64");

/**
 * The signature of a call whose provider wants nothing back. Google's models demand one on the first call of a turn, and see from this
 * one that another service made the call.
 */
export const UNSIGNED_CALL = Buffer.from("saldo:unsigned").toString("base64");

/** Google documents it for calls whose signature is lost, or that another provider's model has made. */
export const NO_SIGNATURE = "skip_thought_signature_validator";

/** Whether a signature is one that we hand out: Google cannot read it. */
export function isOwnSignature(signature: unknown): signature is string {
  return typeof signature === "string" && signature.startsWith(OWN_BEGIN);
}

/** The signature for what an upstream made. */
export function writeSignature(kind: SignatureKind, opaque: Opaque): string {
  return Buffer.from(`saldo:${kind}:${opaqueText(opaque)}`).toString("base64");
}

/** What is in a signature of ours; null: it is another's, which no upstream here takes. */
export function readSignature(signature: unknown): { readonly kind: SignatureKind; readonly opaque: Opaque } | null {
  if (typeof signature !== "string") return null;
  const [, kind, text = ""] = SIGNATURE.exec(Buffer.from(signature, "base64").toString("utf8")) ?? [];
  const opaque = readOpaqueText(text);
  return opaque === null ? null : { kind: kind === "call" ? "call" : "thought", opaque };
}
