// The states of a top-up as a table. Reports come late, twice and in any order, and two processes may ask the provider at the
// same time, so a report does not contain what was "before": it is an observation, and the table defines what it can still change.

import type { TopUpState } from "./top-up.ts";

/** What a provider can report of a payment: every state but the one that only we know. */
export type ReportedState = Exclude<TopUpState, "created">;

const CREDITED = ["paid", "partially_refunded", "refunded", "charged_back"] as const satisfies TopUpState[];
const credited: ReadonlySet<TopUpState> = new Set(CREDITED);

/** Whether a top-up in this state has been credited. */
export function isCredited(state: TopUpState): boolean {
  return credited.has(state);
}

/** A payment that was given back has been one: it is credited first, and then taken back. */
const gaveBack = {
  partially_refunded: ["paid", "partially_refunded"],
  refunded: ["paid", "refunded"],
  charged_back: ["paid", "charged_back"],
} as const;

/** For each reason of closing: money that comes after all is credited, and money that a provider checks is waited for. */
const closed = { paid: ["paid"], review: ["review"], ...gaveBack } as const;

const TRANSITIONS: Readonly<Record<TopUpState, Partial<Readonly<Record<ReportedState, readonly ReportedState[]>>>>> = {
  created: { pending: ["pending"], expired: ["expired"], failed: ["failed"], canceled: ["canceled"], ...closed },
  pending: { expired: ["expired"], failed: ["failed"], canceled: ["canceled"], ...closed },
  // "Pending" was seen before the provider began to look.
  review: { expired: ["expired"], failed: ["failed"], canceled: ["canceled"], paid: ["paid"], ...gaveBack },
  expired: closed,
  failed: closed,
  canceled: closed,
  paid: { partially_refunded: ["partially_refunded"], refunded: ["refunded"], charged_back: ["charged_back"] },
  partially_refunded: {
    partially_refunded: ["partially_refunded"],
    refunded: ["refunded"],
    charged_back: ["charged_back"],
  },
  refunded: {},
  // A part first, and then more, by the bank or by the provider. What is no more than before changes nothing (apply-payment.ts).
  charged_back: {
    partially_refunded: ["partially_refunded"],
    refunded: ["refunded"],
    charged_back: ["charged_back"],
  },
};

const UNPAID: ReadonlySet<string> = new Set<ReportedState>(["expired", "failed", "canceled"]);

/** Whether a report means that nothing was paid in the end. */
export function isUnpaid(reported: string): boolean {
  return UNPAID.has(reported);
}

/** The states a top-up goes through when a provider reports one, in order; none: the report changes nothing. */
export function statesAfter(state: TopUpState, reported: ReportedState): readonly ReportedState[] {
  return TRANSITIONS[state][reported] ?? [];
}
