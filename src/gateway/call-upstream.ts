// One call and, if it failed in a way that cannot have cost anything, one more on the next route. Nobody behind this knows
// that there were two.

import { type DomainError, UpstreamBusy, ValidationError } from "../kernel/errors.ts";
import { retryAfterSeconds } from "../keys/limited-keys.ts";
import type { UpstreamFailure } from "./upstreams/chat-upstream.ts";
import type { OpenRoute } from "./upstreams/upstreams.ts";

const DEFAULT_RETRY_AFTER_SECONDS = 5;

/** An attempt from which nothing reached the client. */
export type FailedAttempt = { readonly kind: "failed"; readonly failure: UpstreamFailure };

/**
 * Tries the first route, then once more the next one, or the same where there is no other. `attempt` resolves with its
 * outcome, or with a FailedAttempt. Errors: UpstreamBusy; ValidationError when the upstream refuses the request.
 */
export async function withOneRetry<T extends { readonly kind: string }>(
  routes: readonly OpenRoute[],
  attempt: (route: OpenRoute, number: number) => Promise<T | FailedAttempt>,
): Promise<T> {
  const [first, next = first] = routes;
  if (first === undefined || next === undefined) throw new UpstreamBusy();
  const outcome = await attempt(first, 1);
  if (!isFailed(outcome)) return outcome;
  if (outcome.failure.kind !== "unbilled") throw errorOf(outcome.failure);
  const second = await attempt(next, 2);
  if (isFailed(second)) throw errorOf(second.failure);
  return second;
}

/** What a caller is told of a failed call. */
export function errorOf(failure: UpstreamFailure): DomainError {
  const cause = new Error(failure.reason, { cause: failure.cause });
  if (failure.kind === "refused") {
    const message = failure.message ?? "The upstream refused the request";
    return new ValidationError([{ field: "", rule: "upstream", message }], { cause });
  }
  const seconds = failure.retryAfterSeconds ?? DEFAULT_RETRY_AFTER_SECONDS;
  return new UpstreamBusy(retryAfterSeconds(seconds * 1_000), { cause });
}

function isFailed(outcome: { readonly kind: string }): outcome is FailedAttempt {
  return outcome.kind === "failed";
}
