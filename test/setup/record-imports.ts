// Preloaded into a process by `--import`: when it ends, the file named by SALDO_TEST_IMPORTS holds the URL of every module it
// has loaded, one a line.

import { writeFileSync } from "node:fs";
import { registerHooks } from "node:module";

const loaded = new Set<string>();
registerHooks({
  load(url, context, nextLoad) {
    loaded.add(url);
    return nextLoad(url, context);
  },
});
process.on("exit", () => writeFileSync(process.env["SALDO_TEST_IMPORTS"] ?? "", [...loaded].join("\n")));
