// `npm run planted-bugs`: plants each bug in a copy of the checkout, one by one, and expects the tests to notice. Words behind
// `--` choose the bugs whose names contain one of them. Ends with 1 when a bug survives or no longer applies.

import { availableParallelism } from "node:os";
import process from "node:process";
import { PLANTED_BUGS } from "./bugs/bugs.ts";
import type { PlantedBug } from "./planted-bug.ts";
import { hasNoticed, type TestRun, Workshop } from "./workshop.ts";

const words = process.argv.slice(2);
const chosen = PLANTED_BUGS.filter(({ name }) => words.length === 0 || words.some((word) => name.includes(word)));
// Without a file of tests, all of them would run.
if (chosen.length === 0) {
  process.stderr.write(`No planted bug has one of these words in its name: ${words.join(", ")}\n`);
  process.exit(1);
}
// One test file keeps about one core busy.
const workshops = Array.from({ length: availableParallelism() }, () => Workshop.open());
let survivors = 0;

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}

function tell(mark: string, name: string, startedAt: number): void {
  const seconds = ((performance.now() - startedAt) / 1000).toFixed(0);
  print(`${mark.padEnd(9)} ${seconds.padStart(4)} s  ${name}`);
}

function tellWhy({ passed, failed, output }: TestRun): void {
  survivors += 1;
  print(`  ${passed} passed; failed: ${failed.join("; ") || "none"}`);
  if (passed + failed.length === 0) print(output.slice(-2_000));
}

/** Plants one bug after the other, until no workshop has one left to plant. */
async function plantAll(workshop: Workshop, bugs: Iterable<PlantedBug>): Promise<void> {
  for (const bug of bugs) {
    const plantedAt = performance.now();
    try {
      const run = await workshop.runWith(bug);
      const noticed = hasNoticed(bug, run);
      tell(noticed ? "noticed" : "SURVIVED", bug.name, plantedAt);
      if (!noticed) tellWhy(run);
    } catch (error) {
      survivors += 1;
      tell("LOST", `${bug.name}: ${String(error)}`, plantedAt);
    }
  }
}

try {
  // Tests that fail by themselves would notice anything.
  const startedAt = performance.now();
  const sound = await workshops[0]?.run([...new Set(chosen.map(({ noticedBy }) => noticedBy.file))]);
  const isSound = sound !== undefined && sound.passed > 0 && sound.failed.length === 0;
  tell(isSound ? "green" : "RED", "no bug", startedAt);
  if (isSound) {
    const left = chosen.values();
    await Promise.all(workshops.map((workshop) => plantAll(workshop, left)));
  } else if (sound !== undefined) {
    tellWhy(sound);
  }
  print(`${chosen.length} bugs, ${survivors} not noticed.`);
} finally {
  for (const workshop of workshops) workshop.close();
}
process.exitCode = survivors === 0 ? 0 : 1;
