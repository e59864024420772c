import type { Conversation } from "./conversation.ts";

/** The upstream of the last answer whose provider wants something back. Null: none does. */
export function lastOrigin({ turns }: Conversation): string | null {
  for (const { parts } of turns.toReversed()) {
    for (const part of parts.toReversed()) {
      const opaque = part.kind === "reasoning" || part.kind === "call" ? (part.opaque ?? null) : null;
      if (opaque !== null) return opaque.origin;
    }
  }
  return null;
}
