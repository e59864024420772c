// Late usage: a settlement finds that recovery wrote the usage record. While this process was paused, another process declared it
// dead and charged the recorded progress of the request. The rest of the cost is a posting of its own, under the reference
// `late:<request id>`. The database function post_late_usage decides it under the account's lock. A request has one such posting:
// a replay reads the first one.

import { setTimeout as sleep } from "node:timers/promises";
import { type Database } from "../database/database.ts";
import { isDatabaseAway, waitForLocks, withRetry, withTransaction } from "../database/transactions.ts";
import { InvariantError } from "../kernel/invariant.ts";
import { textsOf } from "./group-commit/columns.ts";
import type { SettledUsage, Settlement } from "./ledger.ts";
import { settlementParameters } from "./group-commit/settlement.ts";

const POST_LATE = `
SELECT outcome, charge FROM
  post_late_usage($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21)`;

/** A free request releases its `Idempotency-Key`; its record has the basis `recovered`, which keeps the key. */
const FREE_NAME = `DELETE FROM idempotency_key WHERE account_id = $1::uuid AND request_id = $2::uuid`;

/** Whether nothing was charged, and no part of an answer was delivered. */
function wasFree({ basis }: Settlement, row: { outcome: string | null; charge: bigint } | undefined): boolean {
  return row?.charge === 0n && (row.outcome === "refused" || basis === "free");
}

/** How long a lost connection is retried, and the pause between two tries. */
const PATIENCE_MS = 60_000;
const PAUSE_MS = 250;

/**
 * A lost reply may be that of a commit: only another call, which reads the result of the first, finds out. The lost commit may still be on
 * its way and keep the account locked, so from then on no failure of a call ends the search.
 */
async function untilAnswered<Row>(post: () => Promise<Row>): Promise<Row> {
  let isOpen = false;
  for (const until = performance.now() + PATIENCE_MS; ;) {
    try {
      return await post();
    } catch (error) {
      isOpen ||= isDatabaseAway(error);
      if (!isOpen || performance.now() > until) throw error;
      await sleep(PAUSE_MS);
    }
  }
}

/**
 * Posts the cost of a request beyond the charge of recovery. For a delivered answer the balance pays what it can, and the
 * operator bears the rest; an undelivered answer is posted in full or not at all. Errors: those of the database.
 */
export async function postLateUsage(
  database: Pick<Database, "pool">,
  settlement: Settlement,
): Promise<Required<SettledUsage>> {
  const values = [...textsOf(settlementParameters(settlement)), String(!settlement.delivered)];
  const post = (): Promise<{ outcome: string | null; charge: bigint } | undefined> =>
    withRetry(() =>
      withTransaction(database, async (client) => {
        await waitForLocks(client);
        const { rows } = await client.query<{ outcome: string | null; charge: bigint }>(POST_LATE, values);
        if (wasFree(settlement, rows[0])) await client.query(FREE_NAME, [settlement.accountId, settlement.requestId]);
        return rows[0];
      }),
    );
  const row = await untilAnswered(post);
  if (row?.outcome !== "posted" && row?.outcome !== "refused") {
    throw new InvariantError(`late usage is of a request that was recovered: ${settlement.requestId}`);
  }
  return { cost: settlement.cost, charge: row.charge, late: row.outcome };
}
