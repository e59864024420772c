import process from "node:process";
import { defineConfig } from "vitest/config";

/** `npm run failover-drill`: one drill of many minutes. */
export default defineConfig({
  test: {
    root: new URL("../..", import.meta.url).pathname,
    include: [process.env["DRILL_FILE"] ?? "test/failover/drill.ts"],
    testTimeout: 4 * 3_600_000,
    hookTimeout: 900_000,
    disableConsoleIntercept: true,
  },
});
