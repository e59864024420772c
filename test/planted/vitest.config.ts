import { defineConfig } from "vitest/config";

/** For tests that need no server. */
export default defineConfig({
  test: {
    root: new URL("../..", import.meta.url).pathname,
    include: ["src/**/*.test.ts"],
    // A property takes two seconds, and several times as long on a busy machine.
    testTimeout: 30_000,
  },
});
