// What requests brought in and what they cost us. Read by the hour, by longer times where there is little, and gently, because it
// may cover a year of usage beside a serving system; a request belongs to the day it was billed on, and so do the credit notes on
// it.

import { uuidv7Floor } from "../../kernel/ids.ts";
import { DAY_MS, startOfBillingDay } from "../../kernel/clock.ts";
import type { ReadSource } from "../../database/lagging-reads.ts";
import { createLook, type Look } from "../../database/throttled-reader.ts";
import { ValidationError } from "../../kernel/errors.ts";
import { readArchiveMark } from "../../ledger/archived-usage.ts";
import { systemAccounts } from "../../ledger/system-accounts.ts";

/** What the lines of a report are about. */
export const MARGIN_GROUPS = ["model", "upstream", "account"] as const;
export type MarginGroup = (typeof MARGIN_GROUPS)[number];

/** One line; money is micro-rupiah. */
export type MarginLine = {
  readonly requests: number;
  /** What customers were charged, also after the record was written; credit notes not taken off. */
  readonly revenue: bigint;
  /** What was given back by credit notes. */
  readonly credited: bigint;
  /** What upstreams cost, of the requests whose cost is known. */
  readonly upstreamCost: bigint;
  /** revenue - credited - upstreamCost */
  readonly margin: bigint;
  /** What a charge left of its cost because the balance did not reach. */
  readonly uncollected: bigint;
  /** Cost at customers' prices that was never billed: tokens reported above what was billed, attempts that were given up. */
  readonly unbilled: bigint;
  /** Requests that were answered and whose upstream cost is unknown: the margin is too high by that. */
  readonly withoutCost: number;
};

export type MarginReport = {
  /** By the name of the model or upstream, empty where none answered, or the id of the account; the smallest margin first. */
  readonly lines: ReadonlyMap<string, MarginLine>;
  readonly total: MarginLine;
};

export type MarginQuery = {
  /** Billing days `YYYY-MM-DD`, both included. */
  readonly from: string;
  readonly to: string;
  readonly by: MarginGroup;
};

const HOUR_MS = 3_600_000;
/** The part of its time that the database works for a report. */
const SHARE = 0.2;
/** No look reads more requests than this, unless an hour has more. */
const MOST_AT_ONCE = 10_000;

const KEYS = {
  model: "u.model",
  upstream: "coalesce(u.upstream, '')",
  account: "u.account_id::text",
} as const satisfies Record<MarginGroup, string>;

/** How many requests there are in a range, as far as they are no more than a look may read. */
const AHEAD = `
SELECT count(*)::int AS requests FROM (
  SELECT FROM usage_record WHERE request_id >= $1::uuid AND request_id < $2::uuid LIMIT $3::int) ahead`;

const usageOf = (key: string): string => `
SELECT ${key} AS key, count(*)::int AS requests, sum(u.charge) AS revenue, sum(u.cost - u.charge) AS uncollected,
       sum(u.unbilled_cost) AS unbilled, coalesce(sum(u.upstream_cost), 0) AS "upstreamCost",
       count(*) FILTER (WHERE u.upstream_cost IS NULL AND u.basis <> 'free')::int AS "withoutCost"
FROM usage_record u WHERE u.request_id >= $1::uuid AND u.request_id < $2::uuid GROUP BY 1`;

// A note is written after its request, so its id is larger.
const creditedOf = (key: string): string => `
SELECT ${key} AS key, sum(p.amount) AS credited
FROM posting p JOIN usage_record u ON u.account_id = p.account_id AND u.request_id = p.group_id
WHERE p.debit = '${systemAccounts.revenue}' AND p.reason = 'credit_note' AND p.id >= $1::uuid
  AND p.group_id >= $1::uuid AND p.group_id < $2::uuid GROUP BY 1`;

// What requests came to whose record recovery had written before: the record has neither all of the charge nor the cost.
const lateOf = (key: string): string => `
SELECT ${key} AS key, sum(l.charge) AS revenue, sum(greatest(0, l.cost - u.cost) - l.charge) AS uncollected,
       sum(l.unbilled_cost) AS unbilled, coalesce(sum(l.upstream_cost), 0) AS "upstreamCost",
       -count(l.upstream_cost) FILTER (WHERE u.upstream_cost IS NULL)::int AS "withoutCost", 0 AS requests
FROM late_usage l JOIN usage_record u ON u.account_id = l.account_id AND u.request_id = l.request_id
WHERE l.request_id >= $1::uuid AND l.request_id < $2::uuid GROUP BY 1`;

type UsageRow = {
  key: string;
  requests: number;
  revenue: string;
  uncollected: string;
  unbilled: string;
  upstreamCost: string;
  withoutCost: number;
};

const NOTHING: MarginLine = {
  requests: 0,
  revenue: 0n,
  credited: 0n,
  upstreamCost: 0n,
  margin: 0n,
  uncollected: 0n,
  unbilled: 0n,
  withoutCost: 0,
};

/** Errors: ValidationError, as roll-ups do not have what upstreams cost. */
async function requireMonthsAtHand(look: Look, startMs: number): Promise<void> {
  const { month, id } = await readArchiveMark(look);
  if (uuidv7Floor(startMs) >= id) return;
  const message = `must not be before ${month}-02: requests of earlier months are in the archive`;
  throw new ValidationError([{ field: "from", rule: "margin.archived", message }]);
}

/** Reports the margin of some days. Errors: ValidationError when they reach into the archive. */
export async function reportMargin(
  source: ReadSource,
  { from, to, by }: MarginQuery,
  mostAtOnce = MOST_AT_ONCE,
): Promise<MarginReport> {
  const lines = new Map<string, MarginLine>();
  const add = (key: string, part: Partial<MarginLine>): void =>
    void lines.set(key, sum(lines.get(key) ?? NOTHING, { ...NOTHING, ...part }));
  const [startMs, endMs] = [startOfBillingDay(from), startOfBillingDay(to) + DAY_MS];
  const look = createLook(source, { share: SHARE });
  await requireMonthsAtHand(look, startMs);
  // An hour of requests is a range of ids of every account: its index is the one of the time of requests.
  const lookByTime = createLook(source, { share: SHARE, byKey: false });
  let spanMs = HOUR_MS;
  for (let fromMs = startMs; fromMs < endMs;) {
    const range = (untilMs: number) => [uuidv7Floor(fromMs), uuidv7Floor(untilMs)];
    // What is behind a quiet time may be a busy one: a long span is counted, as far as it matters, before it is read.
    if (spanMs > HOUR_MS) {
      const values = [...range(Math.min(fromMs + spanMs, endMs)), mostAtOnce + 1];
      const [ahead] = await lookByTime<{ requests: number }>(AHEAD, values);
      if (ahead === undefined || ahead.requests > mostAtOnce) spanMs = HOUR_MS;
    }
    const untilMs = Math.min(fromMs + spanMs, endMs);
    const rows = await lookByTime<UsageRow>(usageOf(KEYS[by]), range(untilMs));
    const requestsSeen = rows.reduce((seen, { requests }) => seen + requests, 0);
    // An operator may wait for a month in which little happened: most of its hours would be spent on asking and pausing.
    spanMs = requestsSeen * 2 <= mostAtOnce ? Math.min(2 * spanMs, DAY_MS) : HOUR_MS;
    fromMs = untilMs;
    for (const row of rows) {
      add(row.key, fromRow(row));
    }
  }
  const range = [uuidv7Floor(startMs), uuidv7Floor(endMs)];
  for (const { key, credited } of await look<{ key: string; credited: string }>(creditedOf(KEYS[by]), range)) {
    add(key, { credited: BigInt(credited) });
  }
  for (const row of await look<UsageRow>(lateOf(KEYS[by]), range)) add(row.key, fromRow(row));
  // A report may take hours, and a month be archived meanwhile.
  await requireMonthsAtHand(look, startMs);
  const total = [...lines.values()].reduce(sum, NOTHING);
  return { lines: new Map([...lines].toSorted(([, a], [, b]) => (a.margin < b.margin ? -1 : 1))), total };
}

function fromRow(row: UsageRow): Partial<MarginLine> {
  return {
    requests: row.requests,
    withoutCost: row.withoutCost,
    revenue: BigInt(row.revenue),
    uncollected: BigInt(row.uncollected),
    unbilled: BigInt(row.unbilled),
    upstreamCost: BigInt(row.upstreamCost),
  };
}

function sum(a: MarginLine, b: MarginLine): MarginLine {
  const revenue = a.revenue + b.revenue;
  const credited = a.credited + b.credited;
  const upstreamCost = a.upstreamCost + b.upstreamCost;
  return {
    requests: a.requests + b.requests,
    revenue,
    credited,
    upstreamCost,
    margin: revenue - credited - upstreamCost,
    uncollected: a.uncollected + b.uncollected,
    unbilled: a.unbilled + b.unbilled,
    withoutCost: a.withoutCost + b.withoutCost,
  };
}
