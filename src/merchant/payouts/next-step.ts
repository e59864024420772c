// The next step of a payout, from its stored state and the chain's report. Pure, so that every rule that keeps a
// payment from going out twice, or from being given back while it may still go out, can be tried on plain values.

import type { MinedTransaction, NonceHolder, SeenTransaction } from "../chains/payout-chain.ts";
import type { Attempt, AttemptKind, OpenPayout } from "./payout.ts";

/** An attempt and what the chain knows of it. */
export type SeenAttempt = { readonly attempt: Attempt; readonly seen: SeenTransaction };

export type PayoutSight = {
  readonly payout: OpenPayout;
  /** Every attempt, oldest first. */
  readonly attempts: readonly SeenAttempt[];
  /** The transaction that has used up the nonce, where none of the attempts is mined. */
  readonly holder: NonceHolder | null;
  /** Whether it is the wallet's next transaction on the chain: only that one can be stuck by itself. */
  readonly isNext: boolean;
};

export type StepPolicy = {
  /** After this time without being mined the next attempt offers more. */
  readonly stuckAfterMs: number;
  /** After this time in which the network never accepted an attempt, the nonce is filled. */
  readonly giveUpAfterMs: number;
};

export type Step =
  | { readonly kind: "wait" }
  // The new attempt has to outbid one other, if any; where nothing can be signed another may be due for a second broadcast.
  | {
      readonly kind: "sign";
      readonly as: AttemptKind;
      readonly replaced: Attempt | null;
      readonly otherwise: Attempt | null;
    }
  | { readonly kind: "broadcast"; readonly attempt: Attempt }
  | { readonly kind: "note mined"; readonly attempt: Attempt; readonly mined: MinedTransaction }
  | { readonly kind: "settle"; readonly attempt: Attempt; readonly mined: MinedTransaction }
  // The token kept a part: neither paid nor to be given back, until a person decides.
  | { readonly kind: "ask about short"; readonly attempt: Attempt; readonly mined: MinedTransaction }
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
    if (seen.status !== "mined") continue;
    if (seen.isFinal && seen.isShort === true && !payout.isShortAccepted) {
      return { kind: "ask about short", attempt, mined: seen };
    }
    return { kind: seen.isFinal ? "settle" : "note mined", attempt, mined: seen };
  }
  if (holder !== null) {
    // Ours after all: it was mined between two questions, and the next round sees it.
    if (attempts.some(({ attempt }) => attempt.hash === holder.hash)) return { kind: "wait" };
    return { kind: holder.isFinal ? "displace" : "stop signing", foreignHash: holder.hash };
  }
  const newest = attempts.at(-1);
  const replaced = toOutbid(attempts, kind);
  if (newest?.attempt.kind !== kind) return { kind: "sign", as: kind, replaced, otherwise: null };
  if (sight.isNext && hasBeenRefused(sight, policy)) return { kind: "give up" };
  // An attempt that the network has never accepted is not outbid but broadcast again, until it is given up; a filler never is.
  const canBeOutbid = kind === "filler" || attempts.some(({ attempt }) => attempt.wasSeen);
  const isStuck = sight.isNext && canBeOutbid && newest.attempt.ageMs >= policy.stuckAfterMs;
  const missing = newest.seen.status === "unknown" ? newest.attempt : null;
  if (isStuck && attempts.length < MAX_ATTEMPTS) return { kind: "sign", as: kind, replaced, otherwise: missing };
  return missing === null ? { kind: "wait" } : { kind: "broadcast", attempt: missing };
}

/**
 * The attempt with the highest offer among those that a new one has to outbid. A payment that the network has never taken is
 * none of them for what fills its nonce: it may have been refused for its offer, and a raise could be beyond what is allowed.
 */
function toOutbid(attempts: readonly SeenAttempt[], kind: AttemptKind): Attempt | null {
  const rivals = attempts.filter(
    ({ attempt, seen }) => attempt.kind === kind || attempt.wasSeen || seen.status !== "unknown",
  );
  return rivals.reduce<Attempt | null>(
    (most, { attempt }) => (most === null || attempt.fee.most >= most.fee.most ? attempt : most),
    null,
  );
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
