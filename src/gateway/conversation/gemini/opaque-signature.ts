// Opaque text of a provider as a thought signature. The member is base64 in Google's contract, and some of its clients decode it, so
// our text is encoded as a whole.

import type { Opaque } from "../conversation.ts";
import { opaqueText, readOpaqueText } from "../opaque-text.ts";

/** What it belongs to. Gemini CLI does not send thoughts back, so that of the thought before a call is put on the call. */
export type SignatureKind = "call" | "thought";

const SIGNATURE = /^saldo:(call|thought):(.+)$/s;

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
