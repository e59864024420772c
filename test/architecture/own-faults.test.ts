// `upstream_busy` in the log and the metrics blames an upstream. These modules ask none, so their busy error is ServiceBusy.

import { glob, readFile } from "node:fs/promises";
import { expect, test } from "vitest";

const src = new URL("../../src/", import.meta.url).pathname;
const WITHOUT_UPSTREAMS = ["catalog", "database", "keys", "ledger", "transport"];
/** It lists an example of each error. */
const EXAMPLES = "transport/openapi/error-examples.ts";

test("a module that asks no upstream makes no error of a busy one", async () => {
  const [making, read]: [string[], string[]] = [[], []];
  for await (const path of glob(`{${WITHOUT_UPSTREAMS.join(",")}}/**/*.ts`, { cwd: src })) {
    if (path.endsWith(".test.ts")) continue;
    read.push(path);
    if ((await readFile(src + path, "utf8")).includes("new UpstreamBusy(")) making.push(path);
  }
  expect(read.length).toBeGreaterThan(100);
  expect(making).toEqual([EXAMPLES]);
});
