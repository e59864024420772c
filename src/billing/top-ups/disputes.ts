// Disputes of payers that a provider tells of and cannot be asked about. They move no money: somebody has to look there, and adjust
// the account by hand when the bank has taken the payment back.

import type { Notification } from "../payments/payment-provider.ts";

const BEGINS = "The payer disputes the payment";

const PROBLEMS: Readonly<Record<NonNullable<Notification["dispute"]>, string | null>> = {
  open: `${BEGINS}. The provider asks for an answer in its dashboard. Nothing was taken back for it.`,
  lost: `${BEGINS}, and the bank has taken it back. Nothing was taken from the account for it.`,
  won: null,
};

/** The problem of a top-up after a dispute was told; what else is wrong with it stays. */
export function problemOfDispute(problem: string | null, dispute: NonNullable<Notification["dispute"]>): string | null {
  return problem === null || isDispute(problem) ? PROBLEMS[dispute] : problem;
}

/** Whether a problem is a dispute's. */
export function isDispute(problem: string | null): boolean {
  return problem?.startsWith(BEGINS) === true;
}
