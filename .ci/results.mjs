// The results of a test run, as `results-reporter.mjs` writes them: for each file how many tests passed and failed.
import { existsSync, readFileSync } from "node:fs";

/** The tests that drive a browser. Chromium, and the pace of a busy machine, fail one of them now and then. */
const BROWSER_TESTS = /^test\/dashboard\/[^/]+\.test\.ts$/;
/** Those among them that hold a rule about money or security: what fails there once is looked into. */
export const NO_SECOND_TRY = new Set(
  ["calculator", "cross-site", "hostile-text", "other-accounts", "session"].map(
    (name) => `test/dashboard/${name}.test.ts`,
  ),
);
/** More of them do not fail by chance. */
const MOST_FILES = 3;

/** The results that were written to a file; none when the run ended before it wrote them. */
export function readResults(path) {
  return existsSync(path) ? JSON.parse(readFileSync(path, "utf8")) : [];
}

/** The files to run once more: all that failed, if they are few and each of them may have failed by chance. */
export function filesForSecondTry(results) {
  const names = results.filter(({ failed }) => failed > 0).map(({ name }) => name);
  const mayTryAgain = names.every((name) => BROWSER_TESTS.test(name) && !NO_SECOND_TRY.has(name));
  return mayTryAgain && names.length <= MOST_FILES ? names : [];
}

/** The results of both runs: of a file that was run twice, those of the second. */
export function mergeResults(first, second) {
  const again = new Map(second.map((file) => [file.name, file]));
  return first.map((file) => again.get(file.name) ?? file);
}

/** How many tests passed and failed in all files. */
export function countTests(results) {
  const sum = (name) => results.reduce((total, file) => total + file[name], 0);
  return { passed: sum("passed"), failed: sum("failed") };
}
