// Runs around every test file: a test fails if an answer of the service differed from openapi/openapi.json.

import { afterAll, afterEach } from "vitest";
import { allowNoProblems, takeProblems, watchThisProcess } from "./problems.ts";

watchThisProcess();
afterEach(check);
afterAll(() => {
  allowNoProblems();
  // What ended after its test.
  check();
});

function check(): void {
  const problems = takeProblems();
  if (problems.length > 0) throw new Error(`Answers that openapi.json does not describe:\n${problems.join("\n")}`);
}
