// The findings of a soak, as text.

import type { LatencyLine } from "./latencies.ts";
import type { Growth } from "./meter.ts";

export type SoakReport = {
  readonly seed: number;
  readonly minutes: number;
  /** Applied faults, by kind; those whose moment never came are counted apart. */
  readonly faults: Readonly<Record<string, number>>;
  readonly requests: Readonly<Record<string, number>>;
  /** Usage records that the shadow auditor has explained. */
  readonly recordsChecked: number;
  /** How many of them charge more than was held for their stream at first, and how many a progress that recovery found. */
  readonly beyondFirstSlab: number;
  readonly recoveredWithProgress: number;
  /** Requests that were charged after their recovery. */
  readonly chargedLate: number;
  /** Transfers that a merchant ordered and top-ups that customers bought beside the requests. */
  readonly transfers: number;
  readonly topUps: number;
  /** Full and incremental audits in SQL, all of which found nothing unless there are violations. */
  readonly audits: number;
  readonly violations: readonly string[];
  /** Milliseconds to the head of an ordinary answer, by the current fault. */
  readonly latencies: readonly LatencyLine[];
  /** Of the gateway process that lived longest; null when none lived long enough for a trend. */
  readonly growth: Growth | null;
};

/** The report as text. */
export function reportText(report: SoakReport): string {
  const { faults, requests, growth } = report;
  const total = (counts: Readonly<Record<string, number>>) =>
    Object.values(counts).reduce((sum, each) => sum + each, 0);
  const list = (counts: Readonly<Record<string, number>>) =>
    Object.entries(counts)
      .toSorted(([, a], [, b]) => b - a)
      .map(([name, count]) => `  ${String(count).padStart(9)}  ${name}`);
  return [
    `Soak of ${report.minutes.toFixed(1)} minutes, seed ${report.seed}`,
    "",
    `Faults: ${total(faults)}`,
    ...list(faults),
    "",
    `Requests: ${total(requests)}`,
    ...list(requests),
    "",
    `Usage records explained: ${report.recordsChecked}; audits in SQL: ${report.audits}`,
    `  ${report.beyondFirstSlab} charge more than the first slab, ${report.recoveredWithProgress} what recovery found recorded, ${report.chargedLate} were charged after their recovery`,
    `${report.transfers} transfers and ${report.topUps} top-ups, each carried out once`,
    "",
    "To the head of an ordinary answer, in ms",
    ...report.latencies
      .toSorted((a, b) => b.count - a.count)
      .map(
        ({ phase, count, p50, p99 }) =>
          `  ${phase.padEnd(20)} ${String(count).padStart(9)}  p50 ${p50.toFixed(0).padStart(6)}  p99 ${p99.toFixed(0).padStart(6)}`,
      ),
    "",
    growth === null
      ? "No gateway lived long enough to show whether it grows."
      : `A gateway that lived ${growth.minutes.toFixed(1)} minutes: ${signed(growth.megabytesPerHour)} MB and ${signed(growth.handlesPerHour)} handles per hour ` +
        `over its last ${growth.slopeMinutes.toFixed(1)} minutes, whose sixths had at least ${listed(growth.lowMegabytes)} MB and ${listed(growth.lowHandles)} handles; at most ${growth.highestMegabytes.toFixed(0)} MB, at the end ${growth.lastHandles} handles.`,
    "",
    `Violations: ${report.violations.length}`,
    ...report.violations.map((violation) => `  ${violation}`),
  ].join("\n");
}

function signed(value: number): string {
  return `${value < 0 ? "-" : "+"}${Math.abs(value).toFixed(1)}`;
}

function listed(numbers: readonly number[]): string {
  return numbers.map((each) => each.toFixed(0)).join(", ");
}
