// An engine as a process of its own, which a test lets die: it works in rounds until it reaches its failpoint or is killed. What
// it needs is one JSON object, its only word.

import process from "node:process";
import { setTimeout as sleep } from "node:timers/promises";
import { openDatabase } from "../../../src/database/database.ts";
import { armFailpoint } from "../../../src/app/compose/arm-failpoint.ts";
import type { Failpoint } from "../../../src/kernel/failpoint.ts";
import { createEvmChain, type EvmSettings } from "../../../src/merchant/chains/evm/evm-chain.ts";
import { BooksGuard } from "../../../src/merchant/payouts/books-guard.ts";
import { SignedJournal } from "../../../src/merchant/payouts/signed-journal.ts";
import { PayoutEngine, type PayoutPolicy } from "../../../src/merchant/payouts/payout-engine.ts";

/** What such a process is started with. */
export type EngineOrder = {
  readonly databaseUrl: string;
  readonly chain: EvmSettings;
  readonly policy: PayoutPolicy;
  readonly dieAt: Failpoint;
  /** The folder of its journal. */
  readonly journal: string;
};

const BETWEEN_ROUNDS_MS = 20;

if (process.argv[1] === import.meta.filename) {
  const order = JSON.parse(process.argv[2] ?? "") as EngineOrder;
  armFailpoint({ name: order.dieAt, nth: 1 }, () => process.kill(process.pid, "SIGKILL"));
  const { pool } = await openDatabase({ url: order.databaseUrl, dataDir: "" });
  const engine = new PayoutEngine({
    pool,
    chain: createEvmChain(order.chain),
    serves: { environment: "production", network: "ethereum" },
    policy: order.policy,
    report: ({ kind }) => process.stderr.write(`${kind}\n`),
    guard: new BooksGuard({ pool, journal: new SignedJournal(order.journal), requiresStandby: true }),
  });
  for (;;) {
    await engine.round();
    await sleep(BETWEEN_ROUNDS_MS);
  }
}
