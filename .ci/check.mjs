// `npm run check`: everything that must be true of the sources before they are shared, short of the whole test suite. All
// of it runs even when something failed, so that one run shows every problem.
import process from "node:process";
import { checkLockFile, checkMachinePaths } from "./clean-tree.mjs";
import { run } from "./commands.mjs";
import { checkCommits } from "./commits.mjs";
import { checkBreaking, checkGenerated } from "./contracts.mjs";

/** A check that is one command and its exit code. */
function command(program, ...args) {
  return () => {
    const { ok, output } = run(program, args);
    return { problems: ok ? [] : [output] };
  };
}

const checks = [
  ["format", command("oxfmt", "--check")],
  ["lint", command("oxlint", "--type-aware", "--deny-warnings")],
  ["types", command("tsc", "-p", ".")],
  ["types: dashboard", command("tsc", "-p", "src/dashboard")],
  ["contracts: lint", command("buf", "lint")],
  ["contracts: format", command("buf", "format", "-d", "--exit-code", "--exclude-path", "proto/buf")],
  ["contracts: breaking", checkBreaking],
  ["contracts: generated", checkGenerated],
  ["architecture", command("vitest", "run", "--config", "test/vitest.config.ts", "test/architecture")],
  ["entities", command("vitest", "run", "--config", "test/vitest.config.ts", "test/database/entities.test.ts")],
  ["schema", command("vitest", "run", "--config", "test/vitest.config.ts", "test/database/schema.test.ts")],
  ["lock file", checkLockFile],
  ["advisories", command("node", ".ci/advisories.mjs")],
  ["machine paths", checkMachinePaths],
  ["commit subjects", checkCommits],
];

function perform([name, check]) {
  const startedAt = performance.now();
  const { problems, note } = attempt(check);
  const seconds = ((performance.now() - startedAt) / 1000).toFixed(1);
  const mark = problems.length === 0 ? "ok    " : "FAILED";
  console.log(`${mark} ${name.padEnd(22)} ${seconds.padStart(6)} s${note === undefined ? "" : `  (${note})`}`);
  for (const problem of problems) console.log(problem.trimEnd().replaceAll(/^/gm, "       "));
  return problems.length === 0;
}

function attempt(check) {
  try {
    return check();
  } catch (error) {
    return { problems: [String(error)] };
  }
}

const results = checks.map(perform);
const failed = results.filter((ok) => !ok).length;
console.log(failed === 0 ? "Every check passed." : `${failed} of ${checks.length} checks failed.`);
process.exitCode = failed === 0 ? 0 : 1;
