import { defineConfig } from "vitest/config";

/** One trial after the other, with one image: `npm run packaging-test`. */
export default defineConfig({
  test: {
    root: new URL("../..", import.meta.url).pathname,
    include: ["test/packaging/trials/*.ts"],
    globalSetup: ["test/packaging/set-up.ts"],
    fileParallelism: false,
    expect: { poll: { timeout: 60_000, interval: 200 } },
    // Most of it is unpacking, compiling and starting, on machines that may be busy.
    testTimeout: 180_000,
    hookTimeout: 600_000,
  },
});
