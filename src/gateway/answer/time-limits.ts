// How long an upstream may be silent before its attempt is given up.

import { DEFAULT_TIMEOUTS_MS } from "../../catalog/upstream-file.ts";
import type { HoldPlan } from "../admission/hold.ts";
import type { OpenRoute } from "../upstreams/upstreams.ts";

/** A stream that another route could answer waits no longer than this for its first byte. */
const WITH_NEXT_ROUTE_MS = 60_000;
/** Models that think without output are silent for minutes. */
const HIDDEN_OUTPUT_MS = 300_000;
/** A whole answer of so many tokens a second is slow but alive. */
const SLOWEST_TOKENS_PER_SECOND = 20;

export type TimeLimits = {
  /** Until the first byte of the answer's head. */
  readonly firstByteMs: number;
  /** Between two bytes behind it. */
  readonly idleMs: number;
};

export type LimitFacts = {
  readonly route: OpenRoute;
  /** Whether another route is left to try. */
  readonly hasNext: boolean;
  readonly stream: boolean;
  readonly plan: Pick<HoldPlan, "outputBound" | "choices" | "thinksUnseen">;
  /** The cap that was sent in place of the plan's bound, null where none was. */
  readonly outputCap: number | null;
  /** What is left of the request's maximum duration. */
  readonly remainingMs: number;
  /** Absent: `SLOWEST_TOKENS_PER_SECOND`. */
  readonly slowestTokensPerSecond?: number | undefined;
};

/** The limits of one attempt. */
export function timeLimitsOf(facts: LimitFacts): TimeLimits {
  const { route, stream, plan, outputCap, remainingMs } = facts;
  const firstByteMs = Math.min(firstByteLimitOf(facts), remainingMs);
  if (stream) return { firstByteMs, idleMs: idleLimitOf(facts) };
  // An answer that is not streamed is silent until its last token is written, and may be silent after its head too.
  const perSecond = facts.slowestTokensPerSecond ?? SLOWEST_TOKENS_PER_SECOND;
  const writingMs = ((outputCap ?? plan.outputBound) * plan.choices * 1_000) / perSecond;
  const wholeMs = Math.max(1, Math.min(Math.ceil(firstByteMs + writingMs), remainingMs));
  return { firstByteMs: wholeMs, idleMs: Math.max(wholeMs, Math.min(route.timeouts.idleTimeoutMs, remainingMs)) };
}

function firstByteLimitOf({ route, hasNext, plan }: LimitFacts): number {
  if (route.firstByteTimeoutMs !== undefined) return route.firstByteTimeoutMs;
  const own = route.timeouts.firstByteTimeoutMs;
  if (plan.thinksUnseen) return patient(own, DEFAULT_TIMEOUTS_MS.firstByte);
  // Without `may_repeat_paid` no other route would be tried after the silence.
  return hasNext && route.mayRepeatPaid === true ? Math.min(own, WITH_NEXT_ROUTE_MS) : own;
}

function idleLimitOf({ route, plan }: LimitFacts): number {
  const own = route.timeouts.idleTimeoutMs;
  return plan.thinksUnseen ? patient(own, DEFAULT_TIMEOUTS_MS.idle) : own;
}

/** A limit below the default was chosen by the operator, for this upstream. */
function patient(own: number, byDefault: number): number {
  return own < byDefault ? own : Math.max(own, HIDDEN_OUTPUT_MS);
}
