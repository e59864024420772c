// npm run soak -- [--hours H | --minutes M] [--seed N] [--rate R] [--quiet SECONDS] [--only "kill gateway,kill postgres"] [--json]
// Exits with 1 when anything was violated. How to read the report: README.md in this folder.

import { parseArgs } from "node:util";
import { removeAbandonedDataDirs } from "../setup/own-server.ts";
import { reportText } from "./report.ts";
import { FAULT_KINDS } from "./schedule.ts";
import { runSoak } from "./soak.ts";

const { values: flags } = parseArgs({
  options: {
    hours: { type: "string" },
    minutes: { type: "string" },
    seed: { type: "string" },
    rate: { type: "string", default: "120" },
    quiet: { type: "string", default: "8" },
    only: { type: "string" },
    json: { type: "boolean", default: false },
  },
});

const DEFAULT_MINUTES = "5";
const CLIENTS = 32;

await removeAbandonedDataDirs();
const report = await runSoak({
  seed: flags.seed === undefined ? Date.now() % 1_000_000 : positive("seed", flags.seed),
  durationMs:
    flags.hours === undefined
      ? positive("minutes", flags.minutes ?? DEFAULT_MINUTES) * 60_000
      : positive("hours", flags.hours) * 3_600_000,
  kinds: chosenKinds(flags.only),
  quietMs: positive("quiet", flags.quiet) * 1_000,
  clients: CLIENTS,
  perSecond: positive("rate", flags.rate),
  onProgress: (line) => void process.stderr.write(`${line}\n`),
});
process.stdout.write(`${flags.json ? JSON.stringify(report) : reportText(report)}\n`);
process.exitCode = report.violations.length === 0 ? 0 : 1;

function positive(name: string, text: string): number {
  const value = Number(text);
  if (!(value > 0)) throw new Error(`--${name} takes a number above zero`);
  return value;
}

function chosenKinds(only: string | undefined): typeof FAULT_KINDS {
  if (only === undefined) return FAULT_KINDS;
  const wanted = only.split(",").map((name) => name.trim());
  const unknown = wanted.find((name) => !FAULT_KINDS.some((kind) => kind === name));
  if (unknown !== undefined) throw new Error(`${unknown} is not one of ${FAULT_KINDS.join(", ")}`);
  return FAULT_KINDS.filter((kind) => wanted.includes(kind));
}
