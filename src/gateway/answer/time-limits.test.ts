import { describe, expect, it } from "vitest";
import { type LimitFacts, timeLimitsOf } from "./time-limits.ts";
import type { OpenRoute } from "../upstreams/upstreams.ts";

const TIMEOUTS = { firstByteTimeoutMs: 120_000, idleTimeoutMs: 60_000 };
const route = (more: Partial<OpenRoute> = {}): OpenRoute => ({
  upstream: undefined as never,
  model: "m",
  timeouts: TIMEOUTS,
  ...more,
});
const PLAN = { choices: 1, thinksUnseen: false };
const limits = (more: Partial<LimitFacts> = {}) =>
  timeLimitsOf({
    route: route(),
    hasNext: false,
    stream: true,
    plan: { ...PLAN, outputBound: 16_384 },
    outputCap: null,
    remainingMs: 900_000,
    ...more,
  });
const HIDDEN = { ...PLAN, outputBound: 16_384, thinksUnseen: true };

describe("a stream", () => {
  it.each<[string, Partial<LimitFacts>, number, number]>([
    ["has the upstream's own limits where no other route is left", {}, 120_000, 60_000],
    [
      "waits a minute for its first byte where another route may be tried after that",
      { hasNext: true, route: route({ mayRepeatPaid: true }) },
      60_000,
      60_000,
    ],
    ["has the upstream's own limit where no other route may be tried after it", { hasNext: true }, 120_000, 60_000],
    [
      "waits no longer than the upstream's own limit",
      { hasNext: true, route: route({ timeouts: { firstByteTimeoutMs: 9_000, idleTimeoutMs: 8_000 } }) },
      9_000,
      8_000,
    ],
    ["has the limit of its route", { hasNext: true, route: route({ firstByteTimeoutMs: 7_000 }) }, 7_000, 60_000],
    ["has more patience with hidden output", { hasNext: true, plan: HIDDEN }, 300_000, 300_000],
    [
      "has the operator's patience with hidden output where that is shorter than usual",
      { plan: HIDDEN, route: route({ timeouts: { firstByteTimeoutMs: 20_000, idleTimeoutMs: 10_000 } }) },
      20_000,
      10_000,
    ],
    ["ends with the request", { remainingMs: 5_000 }, 5_000, 60_000],
  ])("%s", (_name, facts, firstByteMs, idleMs) => {
    expect(limits(facts)).toEqual({ firstByteMs, idleMs });
  });
});

describe("a whole answer", () => {
  it.each<[string, Partial<LimitFacts>, number]>([
    ["has time to write its bound at twenty tokens a second", { plan: { ...PLAN, outputBound: 2_000 } }, 220_000],
    ["has time for every choice", { plan: { ...PLAN, outputBound: 1_000, choices: 3 } }, 270_000],
    ["has time for the cap that was sent", { outputCap: 256 }, 132_800],
    [
      "begins from the limit of a route that another follows",
      { hasNext: true, outputCap: 20, route: route({ mayRepeatPaid: true }) },
      61_000,
    ],
    ["never has more than the request", {}, 900_000],
  ])("%s", (_name, facts, ms) => {
    expect(limits({ stream: false, ...facts })).toEqual({ firstByteMs: ms, idleMs: ms });
  });
});
