// A request with everything that explains a price: tokens of every kind at long-context prices, corrected counts, and a
// late charge.

import type { Database } from "../../src/database/database.ts";
import { withTransaction } from "../../src/database/transactions.ts";
import { costOf } from "../../src/billing/cost.ts";
import { billingDay } from "../../src/kernel/clock.ts";
import { uuidv7 } from "../../src/kernel/ids.ts";
import { GroupCommitLedger } from "../../src/ledger/group-commit/group-commit.ts";
import type { PriceSnapshot, Settlement, TokenCounts } from "../../src/ledger/ledger.ts";
import { ProcessLease } from "../../src/ledger/process-lease.ts";
import { creditUsageByOperator } from "../setup/operator-credit.ts";

export const RICH_PRICES: PriceSnapshot = {
  input: 40_000_000_000n,
  output: 120_000_000_000n,
  cacheHit: 4_000_000_000n,
  other: {
    cacheWrite: 50_000_000_000n,
    cacheWrite1h: 80_000_000_000n,
    audioInput: 160_000_000_000n,
    imageOutput: 480_000_000_000n,
    perRequest: 12_500_000n,
    longContext: [
      {
        above: 20_000,
        input: 80_000_000_000n,
        output: 180_000_000_000n,
        cacheHit: 8_000_000_000n,
        cacheWrite: 100_000_000_000n,
      },
    ],
  },
};
export const RICH_COUNTS: TokenCounts = {
  inputTokensUncached: 12_040,
  inputTokensCached: 7_168,
  outputTokens: 512,
  otherTokens: { cacheWrite: 2_048, cacheWrite1h: 1_024, audioInput: 300, imageInput: 1_105, imageOutput: 1_290 },
};
export const RICH_RULES = ["output_above_bound", "cached_assumed", "a_rule_of_tomorrow"];
const KEY = `SELECT id FROM api_key WHERE account_id = $1 ORDER BY id LIMIT 1`;

type Counted = Pick<Settlement, "basis" | "metering" | "clamped"> & { readonly counts: TokenCounts };

const RICH: Counted = {
  counts: RICH_COUNTS,
  metering: { rules: RICH_RULES, reported: { ...RICH_COUNTS, outputTokens: 4_096 } },
  basis: "exact",
  clamped: true,
};

/** A request whose answer was cut off: the upstream reported no counts, so all of them are ours. */
export const CUT_REQUEST: Counted = {
  counts: { inputTokensUncached: 312, inputTokensCached: 256, outputTokens: 148 },
  metering: { rules: ["input_estimated", "cached_assumed", "output_estimated", "output_withheld"] },
  basis: "estimated",
  clamped: false,
};

/** Bills the request, gives a part of it back, and returns its id. */
export async function billRichRequest(database: Database, accountId: string, counted = RICH): Promise<string> {
  const { counts, ...known } = counted;
  await using stack = new AsyncDisposableStack();
  const lease = await ProcessLease.take(database);
  stack.defer(() => lease.resign());
  const ledger = new GroupCommitLedger({ database, owner: () => lease.owner(), lanes: 1 });
  stack.defer(() => ledger.close());
  await ledger.open();
  const keyId = (await database.pool.query<{ id: string }>(KEY, [accountId])).rows[0]?.id ?? "";
  const requestId = uuidv7();
  const cost = costOf(counts, RICH_PRICES);
  const order = {
    accountId,
    keyId,
    requestId,
    amount: cost,
    leastAmount: 0n,
    model: "demo/large",
    prices: RICH_PRICES,
  };
  const { outcome } = await ledger.admit(order);
  if (outcome !== "granted") throw new Error(`the request was ${outcome}`);
  await ledger.settle({
    accountId,
    requestId,
    cost,
    ...counts,
    ...known,
    unbilledCost: 7_000_000n,
    billingDay: billingDay(Date.now()),
    upstream: "demo",
    upstreamModel: "large",
    upstreamRequestId: null,
    upstreamCost: null,
    streamed: true,
    durationMs: 4_200,
    firstByteMs: 310,
    delivered: true,
  });
  const note = { requestId, amount: 1_000_000n, note: "test", name: null };
  await withTransaction(database, (client) => creditUsageByOperator(client, note));
  return requestId;
}
