// Runs the script of the docs on each file of a folder, in one process, and prints what each file came to as a line of JSON.
import { readdirSync } from "node:fs";
import { join } from "node:path";

const [, , script, folder] = process.argv;
const results = {};
const { log } = console;
for (const name of readdirSync(folder)) {
  process.argv[2] = join(folder, name);
  process.argv.length = 3;
  process.exitCode = 0;
  console.log = () => {};
  try {
    await import(`${script}?${name}`);
    results[name] = process.exitCode === 0;
  } catch {
    results[name] = false;
  }
}
process.exitCode = 0;
log(JSON.stringify(results));
