// A random history of an account over some months, written as rows: most of it around the ends of months. And what the ledger's own view
// has of a month, summed here and not by the code that is tested.

import type { Pool } from "pg";
import { billingDay, startOfBillingPeriod } from "../../src/kernel/clock.ts";
import { uuidv7 } from "../../src/kernel/ids.ts";
import { systemAccounts } from "../../src/ledger/system-accounts.ts";
import type { Chance } from "../money/usage-setup.ts";

export const MONTHS = 3;
export const MODELS = ["acme/large", "acme/small:free", "=cmd|' /C calc'!A0"] as const;
const CREDITS = ["top_up", "operator_credit", "credit_note", "welcome_credit"] as const;
const DEBITS = ["top_up_refunded", "late_usage", "receivable_collected"] as const;

const POSTING = `
INSERT INTO posting (account_id, id, group_id, asset, debit, credit, amount, reason, reference, posted_at)
VALUES ($1, $2, $2, 'IDR/6', $3, $4, $5, $6, $7, $8)`;
const USAGE = `
INSERT INTO usage_record (account_id, request_id, key_id, model, input_tokens_uncached, input_tokens_cached, output_tokens, other_tokens,
  input_price, output_price, cost, charge, basis, billing_day, streamed, duration_ms, upstream, settled_at)
VALUES ($1, $2, $2, $3, $4, $5, $6, $7::jsonb, 1, 1, $8::bigint, $8::bigint, 'exact', $9, false, 1, 'local', $10)`;

/** The first moments of the last months, the oldest first, and that of the next one. */
export function monthStarts(nowMs: number): number[] {
  return Array.from({ length: MONTHS + 1 }, (_, index) => startOfBillingPeriod("month", nowMs, index - MONTHS + 1));
}

/** Writes so many requests and half as many postings. `leastCharge`: what a request costs that is free otherwise. */
export async function writeHistory(
  pool: Pool,
  accountId: string,
  { chance, events, nowMs, leastCharge = 0n }: { chance: Chance; events: number; nowMs: number; leastCharge?: bigint },
): Promise<void> {
  const { whole, one } = chance;
  const starts = monthStarts(nowMs);
  const moment = (): number => {
    const near = one(starts) + one([0, -1, 1, whole(240_000) - 120_000, whole(40 * 86_400_000) - 20 * 86_400_000]);
    return Math.min(Math.max(near, starts[0] ?? 0), nowMs - 1);
  };
  const post = async (atMs: number, amount: bigint, reason: string, isCredit: boolean) => {
    const id = uuidv7(atMs);
    const sides = isCredit ? [systemAccounts.promotions, accountId] : [accountId, systemAccounts.promotions];
    await pool.query(POSTING, [accountId, id, ...sides, amount, reason, `test:${id}`, new Date(atMs)]);
  };
  // Enough for everything behind it.
  await post((starts[0] ?? 0) - 86_400_000, 10n ** 15n, "top_up", true);
  for (let event = 0; event < events; event += 1) {
    const atMs = moment();
    const settledMs = Math.min(atMs + one([0, 1, whole(60_000), 60_001 + whole(300_000)]), nowMs);
    const charge = one([leastCharge, BigInt(1 + whole(10 ** 9))]);
    const other = one([null, JSON.stringify({ cache_write: String(whole(50)), image_output: String(whole(9)) })]);
    const counts = [whole(5_000), whole(5_000), whole(5_000), other];
    const rest = [charge, billingDay(atMs), one([new Date(settledMs), new Date(settledMs), null])];
    await pool.query(USAGE, [accountId, uuidv7(atMs), one(MODELS), ...counts, ...rest]);
    if (event % 2 === 0) continue;
    const isCredit = whole(2) === 0;
    await post(moment(), BigInt(1 + whole(10 ** 9)), isCredit ? one(CREDITS) : one(DEBITS), isCredit);
  }
  await pool.query(
    "UPDATE account SET posted = (SELECT sum(amount) FROM ledger_entries WHERE account_id = $1) WHERE id = $1",
    [accountId],
  );
}

export type ExpectedMonth = {
  readonly opening: bigint;
  readonly closing: bigint;
  readonly sums: ReadonlyMap<string, bigint>;
  readonly usage: ReadonlyMap<string, { readonly requests: bigint; readonly tokens: bigint; readonly charge: bigint }>;
};

/** What the ledger's rows have of a month. */
export async function expectedMonth(
  pool: Pool,
  accountId: string,
  { fromMs, untilMs }: { fromMs: number; untilMs: number },
): Promise<ExpectedMonth> {
  const { rows } = await pool.query<{ amount: string; reason: string; at: Date }>(
    "SELECT amount::text AS amount, reason, posted_at AS at FROM ledger_entries WHERE account_id = $1",
    [accountId],
  );
  const lines = rows.map(({ amount, reason, at }) => ({ amount: BigInt(amount), reason, atMs: at.getTime() }));
  const sumOf = (some: typeof lines): bigint => some.reduce((sum, { amount }) => sum + amount, 0n);
  const within = lines.filter(({ atMs }) => atMs >= fromMs && atMs < untilMs);
  const byReason = Map.groupBy(within, ({ reason }) => reason);
  const requests = await pool.query<{ model: string; tokens: string; charge: string; at: Date }>(
    `SELECT model, charge::text AS charge, settled_time(request_id, settled_at) AS at,
       (input_tokens_uncached::bigint + input_tokens_cached + output_tokens + coalesce((other_tokens ->> 'cache_write')::int, 0)
        + coalesce((other_tokens ->> 'image_output')::int, 0))::text AS tokens
     FROM usage_record WHERE account_id = $1`,
    [accountId],
  );
  const settled = requests.rows.filter(({ at }) => at.getTime() >= fromMs && at.getTime() < untilMs);
  const byModel = Map.groupBy(settled, ({ model }) => model);
  return {
    opening: sumOf(lines.filter(({ atMs }) => atMs < fromMs)),
    closing: sumOf(lines.filter(({ atMs }) => atMs < untilMs)),
    sums: new Map([...byReason].map(([reason, some]) => [reason, sumOf(some)])),
    usage: new Map(
      [...byModel].map(([model, some]) => [
        model,
        {
          requests: BigInt(some.length),
          tokens: some.reduce((sum, { tokens }) => sum + BigInt(tokens), 0n),
          charge: some.reduce((sum, { charge }) => sum + BigInt(charge), 0n),
        },
      ]),
    ),
  };
}
