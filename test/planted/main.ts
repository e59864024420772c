// `npm run planted-bugs`: plants each bug in a copy of the checkout, one by one, and expects the tests to notice. Words behind
// `--` choose the bugs whose names contain one of them. Ends with 1 when a bug survives or no longer applies.

import process from "node:process";
import { PLANTED_BUGS } from "./bugs/bugs.ts";
import { hasNoticed, type TestRun, Workshop } from "./workshop.ts";

const words = process.argv.slice(2);
const chosen = PLANTED_BUGS.filter(({ name }) => words.length === 0 || words.some((word) => name.includes(word)));
const workshop = Workshop.open();
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

try {
  // Tests that fail by themselves would notice anything.
  const startedAt = performance.now();
  const sound = await workshop.run([...new Set(chosen.map(({ noticedBy }) => noticedBy.file))]);
  const isSound = sound.passed > 0 && sound.failed.length === 0;
  tell(isSound ? "green" : "RED", "no bug", startedAt);
  if (!isSound) tellWhy(sound);
  for (const bug of isSound ? chosen : []) {
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
  print(`${chosen.length} bugs, ${survivors} not noticed.`);
} finally {
  workshop.close();
}
process.exitCode = survivors === 0 ? 0 : 1;
