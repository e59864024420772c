// Our goals for speed, as comparisons inside one run.

import type { Results, Sample } from "./rounds.ts";
import { mean, median } from "./statistics.ts";
import type { TargetName } from "./target.ts";

export type GoalResult = {
  readonly goal: string;
  readonly measured: number;
  readonly bound: number;
  /** Whether the bound is a minimum; otherwise it is a maximum. */
  readonly least: boolean;
  readonly passed: boolean;
};

type Goal = {
  readonly goal: string;
  readonly bound: number;
  readonly least: boolean;
  readonly measure: (results: Results) => number | null;
};

const GOALS: readonly Goal[] = [
  {
    goal: "requests/s at 32 connections, × fastify-parse",
    bound: 0.35,
    least: true,
    measure: (results) => ratio(results, "32", "fastify-parse", (sample) => sample.perSecond),
  },
  {
    goal: "requests/s at 256 connections, × fastify-parse",
    bound: 0.5,
    least: true,
    measure: (results) => ratio(results, "256", "fastify-parse", (sample) => sample.perSecond),
  },
  {
    goal: "ms added to the p50 at 1 connection",
    bound: 1.2,
    least: false,
    measure: (results) => addedP50(results, "1", "ours"),
  },
  {
    goal: "CPU of 1 000 chunks at 1 000 streams, × raw",
    bound: 1.4,
    least: false,
    measure: (results) => ratio(results, "streams", "raw", totalCpuMs),
  },
  {
    goal: "peak MB, the 400 KB bodies aside",
    bound: 250,
    least: false,
    measure: (results) => {
      const peaks = ["1", "32", "256", "streams"].map((point) =>
        median(samplesOf(results, point, "ours").map((sample) => sample.peakMb)),
      );
      const known = peaks.filter((peak) => peak !== null);
      return known.length === 0 ? null : Math.max(...known);
    },
  },
  {
    goal: "CPU of a 400 KB request, × raw",
    bound: 2,
    least: false,
    measure: (results) => ratio(results, "body", "raw", totalCpuMs),
  },
  ...(
    [
      ["agent", "CPU of an agent's 100 KB request as chat, × fastify-parse", 2.2],
      ["messages", "CPU of an agent's 100 KB request passed through, × fastify-parse", 2.2],
      ["responses", "CPU of an agent's 100 KB request of Responses passed through, × fastify-parse", 2.2],
      ["translated", "CPU of an agent's 100 KB request translated, × fastify-parse", 3],
    ] as const
  ).map(([point, goal, bound]) => ({
    goal,
    bound,
    least: false,
    measure: (results: Results) => ratio(results, point, "fastify-parse", totalCpuMs),
  })),
  ...(
    [
      ["messages-streams", "CPU of 1 000 events passed through at 1 000 streams, × raw", 1.4],
      ["responses-streams", "CPU of 1 000 events of Responses passed through at 1 000 streams, × raw", 1.4],
      ["translated-streams", "CPU of 1 000 events translated at 1 000 streams, × raw", 2],
    ] as const
  ).map(([point, goal, bound]) => ({
    goal,
    bound,
    least: false,
    measure: (results: Results) => ratio(results, point, "raw", totalCpuMs),
  })),
  {
    goal: "requests/s of two workers at 256 connections, × one process",
    bound: 1.6,
    least: true,
    measure: (results) => ratio(results, "workers", "ours", (sample) => sample.perSecond, "two-workers"),
  },
  // Two equal processes differ by several percent, so those with traces are held against the mean of both without.
  ...(
    [
      [
        "ours",
        "CPU of a request without traces, × a second such process (what the measure itself differs by)",
        1.01,
        ["untraced"],
      ],
      ["traced-1", "CPU of a request with 1 % traced, × without traces", 1.02, ["ours", "untraced"]],
      ["traced-all", "CPU of a request with all traced, × without traces", 1.5, ["ours", "untraced"]],
    ] as const
  ).map(([target, goal, bound, references]) => ({
    goal,
    bound,
    least: false,
    measure: (results: Results) => ratio(results, "traces", references, gatewayCpuMs, target),
  })),
  // One process with three sets of keys, on as many accounts each.
  ...(
    [
      ["ours", "CPU of a request without budgets, × with other such keys (what the measure itself differs by)", 1.02],
      ["key-budgets", "CPU of a request with a budget on each key, × without", 1.05],
      ["budgeted", "CPU of a request with budgets of key and member, × without", 1.05],
    ] as const
  ).map(([target, goal, bound]) => ({
    goal,
    bound,
    least: false,
    measure: (results: Results) => ratio(results, "budgets", "unlimited", totalCpuMs, target),
  })),
  {
    goal: "CPU of a request with two cells, × with one",
    bound: 1.05,
    least: false,
    measure: (results) => ratio(results, "cells", "ours", totalCpuMs, "two-cells"),
  },
  {
    goal: "requests/s on one hot account, × many accounts",
    bound: 1,
    least: true,
    measure: (results) => betweenPoints(results, "hot", "256", (sample) => sample.perSecond),
  },
  {
    goal: "CPU of a request with 2 000 000 usage records, × without",
    bound: 1.15,
    least: false,
    measure: (results) => betweenPoints(results, "grown", "256", totalCpuMs),
  },
  {
    goal: "requests/s with a full audit beside, × without",
    bound: 0.85,
    least: true,
    measure: (results) => betweenPoints(results, "audited", "grown", (sample) => sample.perSecond),
  },
];

/** Compares the results with every goal for which the run has numbers. */
export function checkGoals(results: Results): GoalResult[] {
  return GOALS.flatMap(({ goal, bound, least, measure }) => {
    const measured = measure(results);
    if (measured === null) return [];
    return [{ goal, measured, bound, least, passed: least ? measured >= bound : measured <= bound }];
  });
}

/** CPU of the gateway alone: a trace costs the database nothing. */
function gatewayCpuMs(sample: Sample): number | null {
  return sample.gatewayCpuMs;
}

/** CPU of the gateway and its database together: both are the price of billing. */
export function totalCpuMs(sample: Sample): number | null {
  return sample.gatewayCpuMs === null ? null : sample.gatewayCpuMs + (sample.databaseCpuMs ?? 0);
}

/** The median over the rounds of a target's p50 less that of the direct call in the same round. */
export function addedP50(results: Results, point: string, target: TargetName): number | null {
  const direct = samplesOf(results, point, "direct");
  return median(
    samplesOf(results, point, target).map(({ p50Ms }, round) => {
      const without = direct[round]?.p50Ms ?? null;
      return p50Ms === null || without === null ? null : p50Ms - without;
    }),
  );
}

/** The median over the rounds of a target's value divided by that of a reference in the same round, or the mean of several. */
export function ratio(
  results: Results,
  point: string,
  reference: TargetName | readonly TargetName[],
  value: (sample: Sample) => number | null,
  target: TargetName = "ours",
): number | null {
  const names = typeof reference === "string" ? [reference] : reference;
  const references = names.map((name) => samplesOf(results, point, name));
  return median(
    samplesOf(results, point, target).map((sample, round) => {
      const above = value(sample);
      const below = mean(references.map((samples) => (samples[round] === undefined ? null : value(samples[round]))));
      return above === null || below === null || below === 0 ? null : above / below;
    }),
  );
}

/** The median of ours at one load point, divided by that at another. */
function betweenPoints(
  results: Results,
  point: string,
  reference: string,
  value: (sample: Sample) => number | null,
): number | null {
  const [above, below] = [point, reference].map((name) => median(samplesOf(results, name, "ours").map(value)));
  return above === undefined || above === null || below === undefined || below === null ? null : above / below;
}

/** The samples of one target at one load point; empty when it was not loaded there. */
export function samplesOf(results: Results, point: string, target: TargetName): readonly Sample[] {
  return results.get(point)?.get(target) ?? [];
}
