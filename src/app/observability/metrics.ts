// The metrics of a process, read from memory when they are asked for. The alarms on them are in deploy/ALARMS.md.

import { collectDefaultMetrics, Counter, Gauge, Registry } from "prom-client";
import type { GatewayEventCount } from "./events.ts";
import type { ChatRequests } from "./requests.ts";
import type { GroupCommitLedger, LedgerStatistics } from "../../ledger/group-commit/group-commit.ts";
import type { PortRefusals } from "../../transport/grpc/port-refusals.ts";
import type { Database } from "../../database/database.ts";
import { FALLBACK_REASONS, type LaggingReads } from "../../database/lagging-reads.ts";
import type { StandbyWatch } from "../../database/standby-watch.ts";
import { type DatabaseRoom, HOT_TABLES } from "./database-room.ts";
import type { DatabaseFacts } from "./database-watch.ts";

export type MetricSources = {
  readonly ledger: Pick<GroupCommitLedger, "statistics">;
  /** What the gateway reported. */
  readonly events: () => Iterable<GatewayEventCount>;
  readonly requests: Pick<ChatRequests, "outcomes" | "durations">;
  readonly isStopped: () => boolean;
  readonly streams: StreamFacts;
  /** Seconds since the catalog that serves was read; null before the first reading. */
  readonly catalogAgeSeconds: () => number | null;
  /** What was seen of the database; null in a process that does not look. */
  readonly database: (() => DatabaseFacts | null) | null;
};

/** Streams in a state that is bounded, or better short. */
export type StreamFacts = {
  readonly drains: { readonly running: number; readonly most: number; readonly unanswered: number };
  readonly waiting: { readonly size: number };
};

type Series<Source> = Readonly<Record<string, readonly [help: string, read: (now: Source) => number]>>;
/** A value of null leaves the gauge without a series. */
export type OptionalSeries<Source> = Readonly<
  Record<string, readonly [help: string, read: (now: Source) => number | null]>
>;

const MICRO = 1_000_000;

/** Counts that only grow. */
const LEDGER_COUNTERS: Series<LedgerStatistics> = {
  groups_total: ["Statements that committed a group of holds or settlements", (now) => now.groups],
  members_total: ["Holds and settlements committed", (now) => now.members],
  replays_total: ["Groups that failed and ran again", (now) => now.replays],
  lost_connections_total: ["Connections of lanes that were lost", (now) => now.lostConnections],
  late_settlements_total: ["Settlements that came after a recovery of their request", (now) => now.late],
  misdated_requests_total: [
    "Requests that the database refused for the time of their id: a clock is wrong",
    (now) => now.misdated,
  ],
  owed_write_failures_total: [
    "Writes of owed settlements that the disk did not take; each is repeated",
    (now) => now.owedFailedWrites,
  ],
  uncollected_rupiah_total: [
    "Cost that no balance covered, booked as our loss",
    (now) => Number(now.uncollected) / MICRO,
  ],
};

const LEDGER_GAUGES: Series<LedgerStatistics> = {
  depth: ["Holds and settlements waiting for a group", (now) => now.depth],
  open_holds: ["Holds of this process", (now) => now.open],
  owed_settlements: ["Settlements the database has not taken yet", (now) => now.owed],
  owed_damaged_files: ["Files of owed settlements with lines that cannot be read", (now) => now.owedDamagedFiles],
};

const STREAM_GAUGES: Series<StreamFacts> = {
  drains: ["Answers without a client that are read on for their usage", (now) => now.drains.running],
  drains_limit: ["How many of them are read on at a time", (now) => now.drains.most],
  unanswered_departures: [
    "Requests whose client left before they were answered, within the time of a drain",
    (now) => now.drains.unanswered,
  ],
  waiting_streams: ["Streams that wait for more to be held", (now) => now.waiting.size],
};

const DATABASE_GAUGES: Series<DatabaseFacts> = {
  database_watch_age_seconds: ["Age of the database's figures", (now) => (performance.now() - now.seenAtMs) / 1_000],
  oldest_hold_seconds: ["Age of the oldest hold of any process", (now) => now.oldestHoldSeconds],
  lease_age_seconds: ["Age of the oldest lease of a process that is not declared dead", (now) => now.leaseAgeSeconds],
  oldest_snapshot_seconds: [
    "Age of the transaction that keeps the oldest dead rows",
    (now) => now.oldestSnapshotSeconds,
  ],
  unknown_payments: [
    "Notifications of payments within a week whose orders the books do not have",
    (now) => now.unknownPayments,
  ],
  default_partition_rows: ["Usage records outside every month's partition", (now) => now.defaultPartitionRows],
};

const PROOF_GAUGES: OptionalSeries<Partial<DatabaseFacts>> = {
  sealed_age_seconds: ["Age of the last moment that a signed root covers", (now) => now.sealedAgeSeconds ?? null],
};

const ROOM_GAUGES: OptionalSeries<Partial<DatabaseRoom>> = {
  database_bytes: ["Size of the database", (now) => now.bytes ?? null],
  database_wal_bytes: [
    "Size of the write-ahead log on the server, where this login may see it",
    (now) => now.walBytes ?? null,
  ],
  database_slot_wal_bytes: [
    "The most log that one replication slot keeps on the server",
    (now) => now.slotWalBytes ?? null,
  ],
  database_lost_slots: ["Replication slots whose log the server has removed", (now) => now.lostSlots ?? null],
  database_wraparound_share: [
    "Share of the transaction ids used since the last freeze; at 1 nothing can be written",
    (now) => now.wraparoundShare ?? null,
  ],
  database_connections_share: [
    "Share of the server's connections that is in use",
    (now) => now.connectionsShare ?? null,
  ],
  data_disk_free_bytes: ["Free room on the disk of SALDO_DATA_DIR", (now) => now.diskFreeBytes ?? null],
  data_disk_free_share: ["Free share of the disk of SALDO_DATA_DIR", (now) => now.diskFreeShare ?? null],
};

/** Makes the registry. */
export function createMetrics(sources: MetricSources): Registry {
  const registry = createLedgerMetrics(sources);
  collectDefaultMetrics({ register: registry });
  return registry;
}

/** The same without those of the process: what several databases have each. */
export function createLedgerMetrics(sources: MetricSources): Registry {
  const { ledger, requests, isStopped, catalogAgeSeconds, database } = sources;
  const registry = new Registry();
  addCounters(registry, "saldo_ledger_", LEDGER_COUNTERS, () => ledger.statistics());
  addGauges(registry, "saldo_ledger_", LEDGER_GAUGES, () => ledger.statistics());
  addGauges(registry, "saldo_", STREAM_GAUGES, () => sources.streams);
  addGauges(registry, "saldo_", { admission_stopped: ["1 while the admission switch is off", Number] }, isStopped);
  addGauges(registry, "saldo_", { catalog_age_seconds: ["Age of the catalog that serves", Number] }, catalogAgeSeconds);
  addCounter(registry, {
    name: "saldo_chat_requests_total",
    help: "Chat requests that ended, by outcome: answered, client_left, stopped, or the code of the error",
    labelNames: ["outcome"],
    read: () => [...requests.outcomes].map(([outcome, count]) => [{ outcome }, count]),
  });
  registry.registerMetric(requests.durations);
  addCounter(registry, {
    name: "saldo_gateway_events_total",
    help: "What the gateway reported besides its answers, by kind and upstream",
    labelNames: ["kind", "upstream"],
    read: () => [...sources.events()].map(({ kind, upstream, count }) => [{ kind, upstream }, count]),
  });
  if (database !== null) addDatabase(registry, database);
  return registry;
}

/** Adds the count of lines of the log that were lost. */
export function addLogMetric(registry: Registry, linesLost: () => number): void {
  addCounter(registry, {
    name: "saldo_log_lines_lost_total",
    help: "Lines of the log that its disk or its reader did not take; alarm when it rises",
    labelNames: [],
    read: () => [[{}, linesLost()]],
  });
}

/** Adds the standbys that confirm commits, and whether a required one is missing. */
export function addStandbyMetrics(registry: Registry, watch: Pick<StandbyWatch, "standbys" | "isMissing">): void {
  const series: Series<typeof watch> = {
    sync_standbys: ["Standbys that confirm commits", (now) => now.standbys],
    sync_standby_missing: [
      "1 while SALDO_REQUIRE_SYNC_STANDBY=1 and no standby confirms commits: nothing is served",
      (now) => Number(now.isMissing),
    ],
  };
  addGauges(registry, "saldo_", series, () => watch);
}

/** Adds where reads that may lag went, and how old a standby's data is. Without a standby there is no series. */
export function addReadMetrics(registry: Registry, reads: LaggingReads): void {
  if (!reads.hasStandby) return;
  const series: OptionalSeries<LaggingReads> = {
    read_standby_used: ["1 while usage and exports are read from the standby", (now) => Number(now.problem === null)],
    read_standby_lag_seconds: ["Age of the standby's data; no series while it is unknown", (now) => now.lagSeconds],
  };
  addGauges(registry, "saldo_", series, () => reads);
  addCounter(registry, {
    name: "saldo_lagging_reads_total",
    help: "Statements of reads that may lag, by the server that answered",
    labelNames: ["server"],
    read: () => Object.entries(reads.counts).map(([server, count]) => [{ server }, count]),
  });
  addCounter(registry, {
    name: "saldo_read_fallbacks_total",
    help: "Reads that went to the primary although there is a standby, by reason",
    labelNames: ["reason"],
    read: () => FALLBACK_REASONS.map((reason) => [{ reason }, reads.fallbacks[reason]]),
  });
}

/** Adds the server that is the primary, where there are several. */
export function addPrimaryMetric(registry: Registry, { primary }: Pick<Database, "primary">): void {
  const gauge: Gauge<"server"> = new Gauge({
    name: "saldo_database_primary",
    help: "1 for the server of DATABASE_URL that new connections go to; no series where it names one server only",
    labelNames: ["server"],
    registers: [registry],
    collect() {
      gauge.reset();
      const server = primary();
      if (server !== null) gauge.set({ server: `${server.host}:${server.port}` }, 1);
    },
  });
}

/** What the gRPC port refused before it was a call. */
export function addPortMetric(registry: Registry, { counts }: Pick<PortRefusals, "counts">): void {
  addCounter(registry, {
    name: "saldo_grpc_refused_total",
    help: "What the gRPC port refused before it was a call, by reason",
    labelNames: ["reason"],
    read: () => [...counts].map(([reason, count]) => [{ reason }, count]),
  });
}

function addDatabase(registry: Registry, facts: () => DatabaseFacts | null): void {
  addGauges(registry, "saldo_", DATABASE_GAUGES, facts);
  addGauges(registry, "saldo_", ROOM_GAUGES, () => facts()?.room ?? {});
  addGauges(registry, "saldo_", PROOF_GAUGES, () => facts() ?? {});
  addDeadRows(registry, facts);
  const kinds = ["incremental", "full"] as const;
  const add = (
    name: string,
    help: string,
    read: (now: DatabaseFacts, kind: (typeof kinds)[number]) => number,
  ): void => {
    const gauge: Gauge<"audit"> = new Gauge({
      name,
      help,
      labelNames: ["audit"],
      registers: [registry],
      collect() {
        const now = facts();
        if (now !== null) for (const kind of kinds) gauge.set({ audit: kind }, read(now, kind));
      },
    });
  };
  // Before the first audit has ended nothing was looked at for as long as this process lives.
  add(
    "saldo_audit_lag_seconds",
    "Seconds since the start of the last audit that ended",
    ({ audits, seenAtMs }, kind) => {
      const { lagSeconds } = audits[kind];
      return lagSeconds === null ? performance.now() / 1_000 : lagSeconds + (performance.now() - seenAtMs) / 1_000;
    },
  );
  add("saldo_audit_violations", "Violations that the last audit found", ({ audits }, kind) => audits[kind].violations);
}

function addDeadRows(registry: Registry, facts: () => DatabaseFacts | null): void {
  const gauge: Gauge<"table"> = new Gauge({
    name: "saldo_database_dead_rows",
    help: "Rows of a hot table that are dead and not removed yet",
    labelNames: ["table"],
    registers: [registry],
    collect() {
      const deadRows = facts()?.room.deadRows;
      if (deadRows !== undefined) for (const table of HOT_TABLES) gauge.set({ table }, deadRows[table]);
    },
  });
}

function addCounters<Source>(registry: Registry, prefix: string, series: Series<Source>, source: () => Source): void {
  for (const [name, [help, read]] of Object.entries(series)) {
    addCounter(registry, { name: prefix + name, help, labelNames: [], read: () => [[{}, read(source())]] });
  }
}

/** A source without a value, null, leaves a gauge as it is. */
export function addGauges<Source>(
  registry: Registry,
  prefix: string,
  series: OptionalSeries<Source>,
  source: () => Source | null,
): void {
  for (const [name, [help, read]] of Object.entries(series)) {
    const gauge: Gauge = new Gauge({
      name: prefix + name,
      help,
      registers: [registry],
      collect() {
        const now = source();
        if (now === null) return;
        const value = read(now);
        if (value === null) gauge.remove(); // reset would leave a 0, which alarms
        else gauge.set(value);
      },
    });
  }
}

/** A counter whose values are kept elsewhere. */
export function addCounter<Label extends string>(
  registry: Registry,
  {
    name,
    help,
    labelNames,
    read,
  }: {
    name: string;
    help: string;
    labelNames: Label[];
    read: () => [Partial<Record<Label, string>>, number][];
  },
): void {
  const counter: Counter<Label> = new Counter({
    name,
    help,
    labelNames,
    registers: [registry],
    collect() {
      counter.reset();
      for (const [labels, count] of read()) counter.inc(labels, count);
    },
  });
}
