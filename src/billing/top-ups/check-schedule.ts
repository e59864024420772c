// When to ask a provider about an order again without a notification: often while the payer is paying, then less and
// less, and not for ever.

import { DAY_MS } from "../../kernel/clock.ts";
import { isCredited } from "./states.ts";
import type { TopUp, TopUpState } from "./top-up.ts";

const SECOND_MS = 1_000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;

/** The first look, from the moment the order was stored. */
export const FIRST_CHECK_MS = 4 * SECOND_MS;
/** For how long a payer is likely to look at the page and wait. */
const FRESH_MS = 10 * MINUTE_MS;
const FRESH_STEP_MS = 8 * SECOND_MS;
const LONGEST_STEP_MS = 30 * MINUTE_MS;
/** When an order without a payment, or with an unfinished one, is given up: this long after its end. */
const GIVE_UP_AFTER_MS = { unknown: 2 * MINUTE_MS, pending: 7 * DAY_MS } as const;
/** Looks for a payment that comes late, from the last change on. */
const LATE_LOOKS_MS = [HOUR_MS, DAY_MS, 7 * DAY_MS, 30 * DAY_MS];
/**
 * More looks at what was paid. A refund or a chargeback whose notification was lost shows only when the provider is asked, and a
 * bank may take a card's payment back four months later, longer where it was for something delivered later.
 */
const LOOKS_AT_PAID_MS = [...LATE_LOOKS_MS, 60 * DAY_MS, 90 * DAY_MS, 120 * DAY_MS, 150 * DAY_MS, 180 * DAY_MS];
/** A method that could not be saved is tried again after a quarter of the time since the payment, and given up after a week. */
const SAVING_STEP_MS = { least: 5 * SECOND_MS, most: LONGEST_STEP_MS } as const;
const SAVING_FOR_MS = 7 * DAY_MS;
/** A provider that does not answer is asked again after this time, doubling. */
const AWAY_STEP_MS = { first: 5 * SECOND_MS, most: 30 * MINUTE_MS } as const;

const WAITING: ReadonlySet<TopUpState> = new Set(["created", "pending", "review"]);

/** When to ask about a top-up again, in milliseconds of Unix time; null: never again by ourselves. */
export function nextCheck(
  {
    state,
    amount,
    givenBack,
    createdAt,
    changedAt,
    methodDueAt = null,
  }: Pick<TopUp, "state" | "amount" | "givenBack" | "createdAt" | "changedAt"> & Partial<Pick<TopUp, "methodDueAt">>,
  nowMs: number,
): number | null {
  const dueForMs = methodDueAt === null ? SAVING_FOR_MS : nowMs - methodDueAt.getTime();
  if (dueForMs < SAVING_FOR_MS)
    return nowMs + Math.min(Math.max(dueForMs / 4, SAVING_STEP_MS.least), SAVING_STEP_MS.most);
  // After a partial refund the rest may follow; a chargeback may be won.
  if (givenBack >= amount && state !== "charged_back") return null;
  if (!WAITING.has(state)) {
    const looks = isCredited(state) ? LOOKS_AT_PAID_MS : LATE_LOOKS_MS;
    return looks.map((each) => changedAt.getTime() + each).find((each) => each > nowMs) ?? null;
  }
  const ageMs = nowMs - createdAt.getTime();
  return nowMs + (ageMs < FRESH_MS ? FRESH_STEP_MS : Math.min(ageMs / 4, LONGEST_STEP_MS));
}

/** Whether an unpaid order is over by our own clock. */
export function hasRunOut(
  { state, expiresAt }: Pick<TopUp, "state" | "expiresAt">,
  reported: string,
  nowMs: number,
): boolean {
  if (state !== "created" && state !== "pending") return false;
  if (reported !== "unknown" && reported !== "pending") return false;
  return nowMs > expiresAt.getTime() + GIVE_UP_AFTER_MS[reported];
}

/** How long to wait for a provider after so many failures. */
export function pauseAfterFailure(failures: number): number {
  return Math.min(AWAY_STEP_MS.first * 2 ** Math.min(failures - 1, 20), AWAY_STEP_MS.most);
}
