// What to do next with a payout, from what is stored and what the chain has just said. Pure, so that every rule that keeps a
// payment from going out twice, or from being given back while it may still go out, can be tried on plain values.

import type { MinedTransaction, NonceHolder, SeenTransaction } from "../chains/payout-chain.ts";
import type { Attempt, AttemptKind, OpenPayout } from "./payout.ts";

/** An attempt and what the chain knows of it. */
export type SeenAttempt = { readonly attempt: Attempt; readonly seen: SeenTransaction };

export type PayoutSight = {
  readonly payout: OpenPayout;
  /** Every attempt, oldest first. */
  readonly attempts: readonly SeenAttempt[];
  /** Who has used up the nonce, where none of the attempts is mined. */
  readonly holder: NonceHolder | null;
  /** Whether it is the wallet's next transaction on the chain: only that one can be stuck by itself. */
  readonly isNext: boolean;
};

export type StepPolicy = {
  /** After so long without being mined the next attempt offers more. */
  readonly stuckAfterMs: number;
  /** After so long in which the network never took an attempt, the nonce is filled. */
  readonly giveUpAfterMs: number;
};

export type Step =
  | { readonly kind: "wait" }
  | { readonly kind: "sign"; readonly as: AttemptKind; readonly replaced: Attempt | null }
  | { readonly kind: "broadcast"; readonly attempt: Attempt }
  | { readonly kind: "note mined"; readonly attempt: Attempt; readonly mined: MinedTransaction }
  | { readonly kind: "settle"; readonly attempt: Attempt; readonly mined: MinedTransaction }
  | { readonly kind: "give up" }
  | { readonly kind: "stop signing"; readonly foreignHash: string }
  | { readonly kind: "displace"; readonly foreignHash: string };

/** Attempts of one payout. Behind so many it waits, and the alarm for stuck payouts rings. */
export const MAX_ATTEMPTS = 24;

/** Decides. Unknown proves nothing: only a final transaction with the payout's nonce ends it. */
export function nextStep(sight: PayoutSight, policy: StepPolicy): Step {
  const { payout, attempts, holder } = sight;
  const kind: AttemptKind = payout.fillingReason === null ? "payment" : "filler";
  for (const { attempt, seen } of attempts) {
    if (seen.status === "mined") return { kind: seen.isFinal ? "settle" : "note mined", attempt, mined: seen };
  }
  if (holder !== null) {
    // Ours after all: it was mined between two questions, and the next round sees it.
    if (attempts.some(({ attempt }) => attempt.hash === holder.hash)) return { kind: "wait" };
    return { kind: holder.isFinal ? "displace" : "stop signing", foreignHash: holder.hash };
  }
  const newest = attempts.at(-1);
  if (newest === undefined) return { kind: "sign", as: kind, replaced: null };
  if (newest.attempt.kind !== kind) return { kind: "sign", as: kind, replaced: newest.attempt };
  if (sight.isNext && hasBeenRefused(sight, policy)) return { kind: "give up" };
  // What the network has never taken is not outbid but handed over again, until it is given up; a filler has no such end.
  const canBeOutbid = kind === "filler" || attempts.some(({ attempt }) => attempt.wasSeen);
  const isStuck = sight.isNext && canBeOutbid && newest.attempt.ageMs >= policy.stuckAfterMs;
  if (isStuck && attempts.length < MAX_ATTEMPTS) return { kind: "sign", as: kind, replaced: newest.attempt };
  return newest.seen.status === "unknown" ? { kind: "broadcast", attempt: newest.attempt } : { kind: "wait" };
}

/** Whether the network has never taken any attempt, for so long that it never will. */
function hasBeenRefused({ payout, attempts }: PayoutSight, { giveUpAfterMs }: StepPolicy): boolean {
  const ageMs = attempts[0]?.attempt.ageMs ?? 0;
  return (
    payout.fillingReason === null &&
    ageMs >= giveUpAfterMs &&
    attempts.every(({ attempt, seen }) => !attempt.wasSeen && seen.status === "unknown")
  );
}
