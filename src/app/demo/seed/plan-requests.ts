// What a made-up month of requests looks like: busy on working days, quiet at night, mostly the small model, much of it cached.
// A plan is nothing but values: the same chance and the same moment give the same plan.

import { billingDay, DAY_MS, startOfBillingDay } from "../../../kernel/clock.ts";
import type { RequestFailure, UsageBasis } from "../../../ledger/ledger.ts";
import type { TokenCounts } from "../../../billing/cost.ts";

/** Numbers from 0 to below 1. */
export type Chance = () => number;

/** One request that is to be made up. */
export type PlannedRequest = {
  /** A UUIDv7 of the moment it came. */
  readonly requestId: string;
  readonly atMs: number;
  /** Which of the keys, and of the models, in the order they were given. */
  readonly key: number;
  readonly model: number;
  readonly counts: TokenCounts;
  readonly basis: UsageBasis;
  /** Why it failed. Null: it did not. */
  readonly failure: RequestFailure | null;
  readonly streamed: boolean;
  readonly durationMs: number;
  readonly firstByteMs: number | null;
};

/** How much a kind of caller sends and gets, in tokens, and how often it is the caller. */
type Caller = {
  readonly weight: number;
  readonly key: number;
  readonly model: number;
  readonly input: number;
  readonly output: number;
  readonly cached: number;
};

/** Keys: a laptop, production, a build that is no longer used. Models: small, large, vision, echo. */
const CALLERS: readonly Caller[] = [
  { weight: 46, key: 1, model: 0, input: 6_000, output: 500, cached: 0.55 },
  { weight: 14, key: 0, model: 1, input: 24_000, output: 900, cached: 0.8 },
  { weight: 16, key: 0, model: 0, input: 9_000, output: 700, cached: 0.7 },
  { weight: 10, key: 1, model: 2, input: 3_500, output: 350, cached: 0.1 },
  { weight: 9, key: 2, model: 0, input: 2_500, output: 250, cached: 0.3 },
  { weight: 5, key: 2, model: 3, input: 400, output: 120, cached: 0 },
];

const HOUR_MS = 3_600_000;
const REQUESTS_OF_A_DAY = 125;
/** Sunday to Saturday. */
const OF_WEEKDAY = [0.2, 1, 1.05, 1.1, 1.05, 0.9, 0.3];
/** From midnight in Jakarta on. */
const OF_HOUR = [1, 1, 0, 0, 0, 1, 2, 4, 8, 12, 13, 11, 6, 9, 13, 13, 11, 8, 5, 4, 5, 4, 3, 2];
/** What is newer belongs to requests that run. */
const SETTLED_FOR_MS = 30 * 60_000;
const NOTHING: TokenCounts = { inputTokensUncached: 0, inputTokensCached: 0, outputTokens: 0 };

/** A generator that a seed repeats. */
export function seededChance(seed: number): Chance {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Plans the requests of so many days up to now, oldest first. */
export function planRequests(chance: Chance, { nowMs, days }: { nowMs: number; days: number }): PlannedRequest[] {
  const untilMs = nowMs - SETTLED_FOR_MS;
  const today = startOfBillingDay(billingDay(nowMs));
  const moments: number[] = [];
  for (let day = days - 1; day >= 0; day -= 1) {
    const startMs = today - day * DAY_MS;
    const growth = 0.75 + 0.5 * (1 - day / days);
    const weekday = new Date(`${billingDay(startMs)}T00:00:00Z`).getUTCDay();
    const count = Math.round(REQUESTS_OF_A_DAY * (OF_WEEKDAY[weekday] ?? 1) * growth * (0.85 + 0.3 * chance()));
    for (let i = 0; i < count; i += 1) {
      const hour = chosen(chance, OF_HOUR);
      moments.push(startMs + hour * HOUR_MS + Math.floor(chance() * HOUR_MS));
    }
  }
  return moments
    .filter((atMs) => atMs < untilMs)
    .toSorted((one, other) => one - other)
    .map((atMs) => planRequest(chance, atMs));
}

function planRequest(chance: Chance, atMs: number): PlannedRequest {
  const caller =
    CALLERS[
      chosen(
        chance,
        CALLERS.map(({ weight }) => weight),
      )
    ] ?? CALLERS[0];
  const { key = 0, model = 0, input = 0, output = 0, cached = 0 } = caller ?? {};
  const basis = basisOf(chance());
  const streamed = basis === "drained" || chance() < 0.75;
  // Sizes are spread over some ten times, as prompts are.
  const size = 0.3 + 2.4 * chance() ** 2;
  const inputTokens = Math.round(input * size);
  const inputTokensCached = basis === "exact" && chance() < 0.8 ? Math.round(inputTokens * cached * chance()) : 0;
  const outputTokens = Math.max(1, Math.round(output * (0.2 + 1.6 * chance())));
  const firstByteMs = Math.round(180 + inputTokens / 25 + 400 * chance());
  const counts = { inputTokensUncached: inputTokens - inputTokensCached, inputTokensCached, outputTokens };
  return {
    requestId: idOf(chance, atMs),
    atMs,
    key,
    model,
    counts: basis === "free" ? NOTHING : counts,
    basis,
    failure: failureOf(basis, chance()),
    streamed,
    durationMs: firstByteMs + Math.round(outputTokens * (9 + 6 * chance())),
    firstByteMs: basis === "free" ? null : firstByteMs,
  };
}

/** Nearly every answer is counted by its upstream; some clients leave, some upstreams do not count, some answer nothing. */
function basisOf(part: number): UsageBasis {
  if (part < 0.93) return "exact";
  if (part < 0.96) return "drained";
  return part < 0.98 ? "estimated" : "free";
}

/** A request without an answer failed; one that was only drained was left by its client. */
function failureOf(basis: UsageBasis, part: number): RequestFailure | null {
  if (basis === "drained") return { code: "client_left", inStream: true };
  if (basis !== "free") return null;
  const code = part < 0.5 ? "upstream_busy" : part < 0.8 ? "context_length_exceeded" : "validation_error";
  return { code, inStream: false };
}

/** An index, in proportion to its weight. */
function chosen(chance: Chance, weights: readonly number[]): number {
  let left = chance() * weights.reduce((sum, weight) => sum + weight, 0);
  const index = weights.findIndex((weight) => (left -= weight) < 0);
  return index === -1 ? weights.length - 1 : index;
}

/** A UUIDv7 whose random part is chance's. */
function idOf(chance: Chance, atMs: number): string {
  const time = Math.floor(atMs).toString(16).padStart(12, "0");
  const digits = (count: number): string =>
    Math.floor(chance() * 16 ** count)
      .toString(16)
      .padStart(count, "0");
  const variant = "89ab".charAt(Math.floor(chance() * 4));
  return `${time.slice(0, 8)}-${time.slice(8)}-7${digits(3)}-${variant}${digits(3)}-${digits(6)}${digits(6)}`;
}
