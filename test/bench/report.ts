// The tables that a run prints. Every number is the median over the rounds; ratios are taken within a round first.

import { addedP50, ratio, samplesOf, type GoalResult } from "./goals.ts";
import type { LoadPoint, Results, Sample } from "./rounds.ts";
import { median } from "./statistics.ts";
import type { TargetName } from "./target.ts";

type Column = {
  readonly head: string;
  readonly value: (target: TargetName) => number | null;
  readonly digits: number;
};

/** Prints one table per load point. */
export function printTables(results: Results, points: readonly LoadPoint[]): void {
  for (const point of points) {
    const ofPoint = results.get(point.name);
    if (ofPoint === undefined) continue;
    console.log(`\n${point.title}\n`);
    const columns = point.stream === null ? requestColumns(results, point.name) : streamColumns(results, point.name);
    const rows = [...ofPoint.keys()].map((target) => [
      target,
      ...columns.map(({ value, digits }) => format(value(target), digits)),
    ]);
    printTable([["", ...columns.map(({ head }) => head)], ...rows]);
  }
}

/** Prints the goals and their results. */
export function printGoals(goals: readonly GoalResult[]): void {
  if (goals.length === 0) return;
  console.log("\nGoals\n");
  const rows = goals.map(({ goal, measured, bound, least, passed }) => [
    goal,
    `${least ? "≥" : "≤"} ${bound}`,
    format(measured, 2),
    passed ? "PASS" : "FAIL",
  ]);
  printTable([["", "goal", "measured", ""], ...rows]);
}

function requestColumns(results: Results, point: string): Column[] {
  const { of, versus } = readers(results, point);
  return [
    { head: "requests/s", value: of((sample) => sample.perSecond), digits: 0 },
    { head: "× fastify-parse", value: versus("fastify-parse", (sample) => sample.perSecond), digits: 2 },
    { head: "p50 ms", value: of((sample) => sample.p50Ms), digits: 2 },
    { head: "added p50", value: (target) => addedP50(results, point, target), digits: 2 },
    { head: "p99 ms", value: of((sample) => sample.p99Ms), digits: 2 },
    { head: "CPU ms/request", value: of((sample) => sample.gatewayCpuMs), digits: 3 },
    { head: "× raw", value: versus("raw", (sample) => sample.gatewayCpuMs), digits: 2 },
    { head: "database", value: of((sample) => sample.databaseCpuMs), digits: 3 },
    { head: "load", value: of((sample) => sample.loadCpuMs), digits: 3 },
    { head: "peak MB", value: of((sample) => sample.peakMb), digits: 0 },
  ];
}

function streamColumns(results: Results, point: string): Column[] {
  const { of, versus } = readers(results, point);
  return [
    { head: "1 000 chunks/s", value: of((sample) => sample.perSecond), digits: 1 },
    { head: "first byte p50 ms", value: of((sample) => sample.p50Ms), digits: 1 },
    { head: "p99 ms", value: of((sample) => sample.p99Ms), digits: 1 },
    { head: "CPU ms/1 000 chunks", value: of((sample) => sample.gatewayCpuMs), digits: 1 },
    { head: "× raw", value: versus("raw", (sample) => sample.gatewayCpuMs), digits: 2 },
    { head: "database", value: of((sample) => sample.databaseCpuMs), digits: 1 },
    { head: "load", value: of((sample) => sample.loadCpuMs), digits: 1 },
    { head: "peak MB", value: of((sample) => sample.peakMb), digits: 0 },
  ];
}

type Reader = (sample: Sample) => number | null;

function readers(results: Results, point: string) {
  return {
    of: (read: Reader) => (target: TargetName) => median(samplesOf(results, point, target).map(read)),
    versus: (reference: TargetName, read: Reader) => (target: TargetName) =>
      ratio(results, point, reference, read, target),
  };
}

function format(value: number | null, digits: number): string {
  return value === null
    ? "–"
    : value.toLocaleString("en", { minimumFractionDigits: digits, maximumFractionDigits: digits });
}

// Markdown, so that a table can be pasted as it is.
function printTable(rows: readonly (readonly string[])[]): void {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  const line = (row: readonly string[]): string => {
    const cells = row.map((cell, column) =>
      column === 0 ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0),
    );
    return `| ${cells.join(" | ")} |`;
  };
  const [head = [], ...rest] = rows;
  const rule = widths.map((width, column) => (column === 0 ? "-".repeat(width) : `${"-".repeat(width - 1)}:`));
  for (const row of [head, rule, ...rest]) console.log(line(row));
}
