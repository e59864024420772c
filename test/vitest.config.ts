import { defineConfig } from "vitest/config";
import { LongestFirst } from "./setup/longest-first.ts";

export default defineConfig({
  test: {
    root: new URL("..", import.meta.url).pathname,
    include: ["src/**/*.test.ts", "test/**/*.test.ts"],
    globalSetup: ["test/setup/global-setup.ts"],
    setupFiles: ["test/setup/fresh-process.ts", "test/setup/answers/check-answers.ts"],
    // Two cores are shared by the tests, their PostgreSQL servers and child processes. Half of the time of two files is spent
    // waiting, so a third one fits in.
    maxWorkers: 3,
    // A file's own process loads everything again, which takes longer than most files. What files share they must leave as it was.
    isolate: false,
    // What is waited for comes at once, but not on a machine that is busy.
    expect: { poll: { timeout: 30_000 } },
    sequence: { sequencer: LongestFirst },
    // Twice as long as one step of a browser, so that a failure names the step.
    testTimeout: 120_000,
    hookTimeout: 120_000,
  },
});
