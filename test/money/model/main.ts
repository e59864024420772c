// `npm run ledger-model -- --seeds 100000 --seed 7`: walks of the ledger model, in the given number. A failure prints a seed, a
// path and a replay path; `--replay "SEED PATH REPLAYPATH"` runs that walk again.

import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";

const { values } = parseArgs({
  options: { seeds: { type: "string" }, seed: { type: "string" }, replay: { type: "string" } },
});
const root = fileURLToPath(new URL("../../..", import.meta.url));
const asked = {
  ...(values.seeds === undefined ? {} : { SALDO_MODEL_SEEDS: values.seeds }),
  ...(values.seed === undefined ? {} : { SALDO_TEST_SEED: values.seed }),
  ...(values.replay === undefined ? {} : { SALDO_MODEL_REPLAY: values.replay }),
};
const vitest = ["vitest", "run", "--config", "test/vitest.config.ts", "test/money/model/ledger-model"];
const { status } = spawnSync("npx", ["--no", ...vitest], {
  cwd: root,
  stdio: "inherit",
  env: { ...process.env, ...asked },
});
process.exitCode = status ?? 1;
