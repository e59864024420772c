// `npm run bench -- --points traces`, far too short to judge by: that it runs, bills what it asks, and exports what it traces.

import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, it } from "vitest";

const run = promisify(execFile);
const TARGETS = ["untraced", "traced-all"];
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
  folder = await mkdtemp(join(tmpdir(), "saldo-traces-"));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

it(
  "compares processes without and with traces in turns, and finds their books in order",
  { timeout: 240_000 },
  async () => {
    const out = join(folder, "result.json");
    const bench = new URL("main.ts", import.meta.url).pathname;
    const args = [bench, "--points", "traces", "--only", TARGETS.join(","), ...SHORT, "--out", out];
    // A load on a busy machine may end without an answer, which is a problem of the machine. The books and the export never are.
    await run(process.execPath, args, { env: { PATH: process.env["PATH"], HOME: process.env["HOME"] } }).catch(
      () => {},
    );
    type Result = { readonly points: Record<string, Record<string, unknown>>; readonly problems: readonly string[] };
    const { points, problems } = JSON.parse(await readFile(out, "utf8")) as Result;
    expect(Object.keys(points["traces"] ?? {})).toEqual(TARGETS);
    expect(problems.filter((problem) => !problem.includes("nothing was answered"))).toEqual([]);
  },
);
