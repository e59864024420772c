// One call and, where it may be repeated, one more on the next route. A caller sees one answer or one error.

import type { Clock } from "../../kernel/clock.ts";
import { type DomainError, ServiceBusy, UpstreamBusy, ValidationError } from "../../kernel/errors.ts";
import { retryAfterSeconds } from "../../keys/limited-keys.ts";
import type { UpstreamFailure } from "../upstreams/chat-upstream.ts";
import type { OpenRoute } from "../upstreams/upstreams.ts";

const DEFAULT_RETRY_AFTER_SECONDS = 5;

/** An attempt that failed before any part of an answer reached the client. */
export type FailedAttempt = { readonly kind: "failed"; readonly failure: UpstreamFailure };

/** The facts that decide on a second attempt. */
export type RetryFacts = {
  readonly routes: readonly OpenRoute[];
  readonly deadlineMs: number;
  readonly clock: Clock;
};

/**
 * Tries the first route, then once more the next one, or the same route where there is no other. `attempt` resolves with its
 * outcome, or with a FailedAttempt. Errors: UpstreamBusy; ValidationError when the upstream refuses the request.
 */
export async function withOneRetry<T extends { readonly kind: string }>(
  { routes, deadlineMs, clock }: RetryFacts,
  attempt: (route: OpenRoute, number: number) => Promise<T | FailedAttempt>,
): Promise<T> {
  const [first, next = first] = routes;
  if (first === undefined || next === undefined) throw new UpstreamBusy();
  const outcome = await attempt(first, 1);
  if (!isFailed(outcome)) return outcome;
  const isInTime = clock.now() < deadlineMs;
  if (!isInTime || !mayBeRepeated(outcome.failure, first, next)) throw errorOf(outcome.failure);
  const second = await attempt(next, 2);
  if (isFailed(second)) throw errorOf(second.failure);
  return second;
}

/**
 * A call that cannot have been charged is repeated. One that may have been is repeated only where the route allows it, at the
 * operator's cost. A silent upstream is not called again.
 */
function mayBeRepeated({ kind, timedOut }: UpstreamFailure, first: OpenRoute, next: OpenRoute): boolean {
  if (kind !== "perhaps_billed") return kind === "unbilled";
  return first.mayRepeatPaid === true && !(timedOut === true && next === first);
}

/** The error that a caller gets for a failed call. */
export function errorOf(failure: UpstreamFailure): DomainError {
  const cause = new Error(failure.reason, { cause: failure.cause });
  if (failure.kind === "refused") {
    const message = failure.message ?? "The upstream refused the request";
    const { refusedFor } = failure;
    const reason = refusedFor === undefined ? {} : { reason: refusedFor };
    return new ValidationError([{ field: "", rule: "upstream", message }], { cause, ...reason });
  }
  const seconds = failure.retryAfterSeconds ?? DEFAULT_RETRY_AFTER_SECONDS;
  const Busy = failure.isOurs === true ? ServiceBusy : UpstreamBusy;
  return new Busy(retryAfterSeconds(seconds * 1_000), { cause });
}

function isFailed(outcome: { readonly kind: string }): outcome is FailedAttempt {
  return outcome.kind === "failed";
}
