// The metrics of a process, read when they are asked for. What to raise an alarm on is said beside each.

import type { Pool } from "pg";
import { collectDefaultMetrics, Counter, Gauge, Registry } from "prom-client";
import type { GroupCommitLedger, LedgerStatistics } from "./ledger/group-commit.ts";

export type MetricSources = {
  readonly ledger: Pick<GroupCommitLedger, "statistics">;
  readonly pool: Pick<Pool, "query">;
  /** How often the gateway reported each kind of event. */
  readonly events: ReadonlyMap<string, number>;
};

const MICRO = 1_000_000;
const OLDEST_HOLD = `
SELECT coalesce(extract(epoch FROM clock_timestamp() - min(placed_at)), 0)::float8 AS seconds FROM hold`;

/** Counts that only grow. */
const ledgerCounters = {
  groups_total: ["Statements that committed a group of holds or settlements", (now) => now.groups],
  members_total: ["Holds and settlements committed", (now) => now.members],
  replays_total: ["Groups that failed and ran again; alarm when it rises steadily", (now) => now.replays],
  lost_connections_total: ["Connections of lanes that were lost", (now) => now.lostConnections],
  uncollected_rupiah_total: [
    "Cost that no balance covered, booked as our loss; alarm when it rises",
    (now) => Number(now.uncollected) / MICRO,
  ],
} as const satisfies Record<string, readonly [string, (now: LedgerStatistics) => number]>;

const ledgerGauges = {
  depth: ["Holds and settlements waiting for a group; alarm above a few hundred", (now) => now.depth],
  open_holds: ["Holds of this process", (now) => now.open],
  owed_settlements: ["Settlements the database has not taken yet; alarm above 0", (now) => now.owed],
} as const satisfies Record<string, readonly [string, (now: LedgerStatistics) => number]>;

/** Makes the registry. */
export function createMetrics({ ledger, pool, events }: MetricSources): Registry {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  for (const [name, [help, read]] of Object.entries(ledgerCounters)) {
    const counter: Counter = new Counter({
      name: `saldo_ledger_${name}`,
      help,
      registers: [registry],
      collect() {
        counter.reset();
        counter.inc(read(ledger.statistics()));
      },
    });
  }
  for (const [name, [help, read]] of Object.entries(ledgerGauges)) {
    const gauge: Gauge = new Gauge({
      name: `saldo_ledger_${name}`,
      help,
      registers: [registry],
      collect: () => gauge.set(read(ledger.statistics())),
    });
  }
  const oldestHold = new Gauge({
    name: "saldo_oldest_hold_seconds",
    help: "Age of the oldest hold of any process; alarm above the longest request, 15 minutes",
    registers: [registry],
    async collect() {
      // Away: the metric keeps its last value, and /readyz tells.
      const { rows } = await pool.query<{ seconds: number }>(OLDEST_HOLD).catch(() => ({ rows: [] }));
      if (rows[0] !== undefined) oldestHold.set(rows[0].seconds);
    },
  });
  const reported = new Counter({
    name: "saldo_gateway_events_total",
    help: "What the gateway reported, by kind; alarm on settlement_failed, watch usage_clamped",
    labelNames: ["kind"],
    registers: [registry],
    collect() {
      reported.reset();
      for (const [kind, count] of events) reported.inc({ kind }, count);
    },
  });
  return registry;
}
