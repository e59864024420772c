// Runs the script of the docs on each file of a folder, in one process, and prints what each file came to as a line of JSON.
import { readdirSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";

const [, , script, folder] = process.argv;
const results = {};
const write = process.stdout.write.bind(process.stdout);
for (const name of readdirSync(folder)) {
  process.argv[2] = join(folder, name);
  process.argv.length = 3;
  process.exitCode = 0;
  process.stdout.write = () => true;
  try {
    await import(`${script}?${name}`);
    results[name] = process.exitCode === 0;
  } catch {
    results[name] = false;
  }
}
process.exitCode = 0;
process.stdout.write = write;
process.stdout.write(JSON.stringify(results));
