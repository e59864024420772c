// A reporter of Vitest: writes the results of a run to the file that SALDO_TEST_RESULTS names. A file that could not be loaded
// and an error outside of every test count as one failed test each.
import { writeFileSync } from "node:fs";
import process from "node:process";

export default class ResultsReporter {
  onTestRunEnd(modules, unhandledErrors) {
    const files = modules.map((file) => {
      const states = [...file.children.allTests()].map((test) => test.result().state);
      const count = (state) => states.filter((each) => each === state).length;
      const failed = file.ok() ? count("failed") : Math.max(count("failed"), 1);
      return { name: file.relativeModuleId, passed: count("passed"), failed };
    });
    const outside = unhandledErrors.length;
    const results = outside === 0 ? files : [...files, { name: "outside of tests", passed: 0, failed: outside }];
    writeFileSync(process.env.SALDO_TEST_RESULTS, JSON.stringify(results));
  }
}
