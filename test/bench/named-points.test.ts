// `npm run bench -- --points traces,budgets,cells`, far too short to judge by: that it runs, bills what it asks, exports what it traces and
// counts what has a budget.

import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, it } from "vitest";

const run = promisify(execFile);
/** The first gateway runs in any case, so it is the one without traces. */
const TARGETS = {
  traces: ["ours", "traced-all"],
  budgets: ["ours", "unlimited", "key-budgets", "budgeted"],
  cells: ["ours", "two-cells"],
};
const SHORT = [
  "--rounds",
  "1",
  "--seconds",
  "0.2",
  "--accounts",
  "1",
  "--warm-up",
  "1",
  "--connections",
  "1",
  "--quick",
];

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "saldo-bench-points-"));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

it(
  "compares without and with traces, budgets and cells in turns, and finds the books in order",
  { timeout: 240_000 },
  async () => {
    const out = join(folder, "result.json");
    const bench = new URL("main.ts", import.meta.url).pathname;
    const args = [
      bench,
      "--points",
      Object.keys(TARGETS).join(","),
      "--only",
      Object.values(TARGETS).join(","),
      ...SHORT,
      "--out",
      out,
    ];
    // A load on a busy machine may end without an answer, which is a problem of the machine. The books, the budgets and the export never are.
    await run(process.execPath, args, { env: { PATH: process.env["PATH"], HOME: process.env["HOME"] } }).catch(
      () => {},
    );
    type Result = { readonly points: Record<string, Record<string, unknown>>; readonly problems: readonly string[] };
    const { points, problems } = JSON.parse(await readFile(out, "utf8")) as Result;
    for (const [point, targets] of Object.entries(TARGETS)) expect(Object.keys(points[point] ?? {})).toEqual(targets);
    expect(problems.filter((problem) => !problem.includes("nothing was answered"))).toEqual([]);
  },
);
