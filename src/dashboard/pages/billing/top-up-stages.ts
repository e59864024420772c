// The stages of a top-up, and which of two answers about it is the later one.

import { type TopUp, TopUpState } from "#gen/saldo/billing/v1/top_up_pb.ts";

const WAITING = 0;
const DECIDED = 2;
const PAID = 3;
const GIVEN_BACK = 4;

/** A top-up never returns to an earlier stage; states within one stage may follow each other in any order. */
const STAGES: Readonly<Record<number, number>> = {
  [TopUpState.UNSPECIFIED]: WAITING,
  [TopUpState.CREATED]: WAITING,
  [TopUpState.PENDING]: 1,
  // Money that arrives late may be reviewed by the provider, and then refused.
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

/** Whether the payer can still pay at the provider's page. */
export function isPayable(state: TopUpState): boolean {
  return state === TopUpState.CREATED || state === TopUpState.PENDING;
}

/**
 * Whether the money is still expected. A payment after its time limit may arrive, but the page does not wait for it.
 */
export function isAwaited(state: TopUpState): boolean {
  return stageOf(state) < DECIDED || state === TopUpState.REVIEW;
}

/** A top-up from one answer, and when that answer was made. */
export type Answer = { readonly topUp: TopUp; readonly atMs: number };

/**
 * The later of two answers. They arrive in different ways, so an older one may arrive later: the one with the later
 * stage is right whenever it arrived.
 */
export function laterOf(one: Answer | null, other: Answer | null): TopUp | null {
  if (one === null || other === null) return (one ?? other)?.topUp ?? null;
  const further = stageOf(one.topUp.state) - stageOf(other.topUp.state);
  return further > 0 || (further === 0 && one.atMs >= other.atMs) ? one.topUp : other.topUp;
}
