// Prints `N passed, N failed` of a vitest JSON report, and fails unless something passed and nothing failed. A test file
// that could not even be loaded counts as one failed test; a report that is not there, as no test at all.
import { existsSync, readFileSync } from "node:fs";
import process from "node:process";

const [path = ""] = process.argv.slice(2);
const report = existsSync(path) ? JSON.parse(readFileSync(path, "utf8")) : { testResults: [] };

const results = report.testResults.flatMap(({ status, assertionResults }) =>
  status === "failed" && !assertionResults.some((test) => test.status === "failed")
    ? [...assertionResults, { status: "failed" }]
    : assertionResults,
);
const passed = results.filter(({ status }) => status === "passed").length;
const failed = results.filter(({ status }) => status === "failed").length;
console.log(`${passed} passed, ${failed} failed`);
process.exitCode = passed > 0 && failed === 0 ? 0 : 1;
