// How far a top-up has come, and which of two answers about it is the later one.

import { type TopUp, TopUpState } from "#gen/saldo/billing/v1/top_up_pb.ts";

const WAITING = 0;
const DECIDED = 2;
const PAID = 3;
const GIVEN_BACK = 4;

/** A top-up never goes back to a stage before; what stands in the same one may follow one another in any order. */
const STAGES: Readonly<Record<number, number>> = {
  [TopUpState.UNSPECIFIED]: WAITING,
  [TopUpState.CREATED]: WAITING,
  [TopUpState.PENDING]: 1,
  // Money that comes after all may be looked at by the provider, and then refused.
  [TopUpState.REVIEW]: DECIDED,
  [TopUpState.EXPIRED]: DECIDED,
  [TopUpState.FAILED]: DECIDED,
  [TopUpState.CANCELED]: DECIDED,
  [TopUpState.PAID]: PAID,
  [TopUpState.REFUNDED]: GIVEN_BACK,
  [TopUpState.PARTIALLY_REFUNDED]: GIVEN_BACK,
  [TopUpState.CHARGED_BACK]: GIVEN_BACK,
} satisfies Record<TopUpState, number>;

function stageOf(state: TopUpState): number {
  return STAGES[state] ?? WAITING;
}

/** Whether the money has arrived, or came and went. */
export function isSettled(state: TopUpState): boolean {
  return stageOf(state) >= PAID;
}

/** Whether the payer can still be expected to pay at the provider's page. */
export function isPayable(state: TopUpState): boolean {
  return state === TopUpState.CREATED || state === TopUpState.PENDING;
}

/** Whether the money is still expected. What was not paid in time may be paid late all the same, but nobody waits for it. */
export function isAwaited(state: TopUpState): boolean {
  return stageOf(state) < DECIDED || state === TopUpState.REVIEW;
}

/** A top-up as one answer had it, and when that answer came. */
export type Answer = { readonly topUp: TopUp; readonly atMs: number };

/**
 * The later of two answers. They travel on different ways, so that one which was given earlier may come later: the one that is
 * further on is right whenever it came.
 */
export function laterOf(one: Answer | null, other: Answer | null): TopUp | null {
  if (one === null || other === null) return (one ?? other)?.topUp ?? null;
  const further = stageOf(one.topUp.state) - stageOf(other.topUp.state);
  return further > 0 || (further === 0 && one.atMs >= other.atMs) ? one.topUp : other.topUp;
}
