import { expect, it } from "vitest";
import { chooseSeed } from "../money/random.ts";
import { schedule, type FaultKind } from "./schedule.ts";
import { reportText } from "./report.ts";
import { runSoak } from "./soak.ts";

/** Faults after which no lease has to run out and no sweep has to run, which takes most of a minute. */
const QUICK_KINDS: readonly FaultKind[] = ["lose transactions", "restart gateway", "end backends", "lock accounts"];

const first = (seed: number, count: number) =>
  schedule({ seed, kinds: QUICK_KINDS, quietMs: 1_000 }).take(count).toArray();

it("plans the same faults for the same seed, each kind once in a round", () => {
  expect(first(7, 20)).toEqual(first(7, 20));
  expect(first(7, 20)).not.toEqual(first(8, 20));
  for (const round of [0, 1, 2]) {
    const kinds = first(7, 3 * QUICK_KINDS.length).slice(round * QUICK_KINDS.length, (round + 1) * QUICK_KINDS.length);
    expect(kinds.map(({ fault }) => fault.kind).toSorted()).toEqual(QUICK_KINDS.toSorted());
  }
});

it("reports no violation in a short time", async () => {
  const seed = chooseSeed();
  const progress: string[] = [];
  const report = await runSoak({
    seed,
    durationMs: 25_000,
    kinds: QUICK_KINDS,
    quietMs: 1_000,
    clients: 16,
    perSecond: 60,
    onProgress: (line) => progress.push(line),
  });
  const summary = [...progress, reportText(report)].join("\n");
  expect(report.violations, summary).toEqual([]);
  expect(Object.keys(report.faults).length, summary).toBeGreaterThanOrEqual(2);
  expect(report.requests["200"], summary).toBeGreaterThan(100);
  // Streams that need a second hold are among them.
  expect(report.beyondFirstSlab, summary).toBeGreaterThan(0);
  expect(report.transfers, summary).toBeGreaterThan(0);
  expect(report.topUps, summary).toBeGreaterThan(0);
  // Every answer was checked, and more: abandoned requests are billed too.
  expect(report.recordsChecked, summary).toBeGreaterThanOrEqual(report.requests["200"] ?? Infinity);
}, 240_000);
