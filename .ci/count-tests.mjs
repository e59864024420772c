// Prints `N passed, N failed` of a test run and of its second try, if there was one. Fails unless something passed and nothing
// failed.
import process from "node:process";
import { countTests, mergeResults, readResults } from "./results.mjs";

const [first = "", second = ""] = process.argv.slice(2);
const { passed, failed } = countTests(mergeResults(readResults(first), readResults(second)));
console.log(`${passed} passed, ${failed} failed`);
process.exitCode = passed > 0 && failed === 0 ? 0 : 1;
