import { describe, expect, it } from "vitest";
import { Registry } from "prom-client";
import { createMetrics, type MetricSources } from "../observability/metrics.ts";
import { addPayoutMetrics, createPayoutTroubles } from "./payouts.ts";
import { watchRequests } from "../observability/requests.ts";
import type { ChatCall, ChatOutcome, ChatSink, Gateway } from "../../gateway/chat.ts";
import { ModelNotFound, ServiceBusy, UpstreamBusy } from "../../kernel/errors.ts";
import type { DatabaseFacts } from "../observability/database-watch.ts";

const call = { receivedAtMs: Date.now() } as ChatCall;
const sink = {} as ChatSink;
/** A gateway that answers, or fails with what it is given. */
function gatewayOf(outcome: Error | ChatOutcome = "answered"): Gateway {
  return {
    async answerChat() {
      if (outcome instanceof Error) throw outcome;
      return outcome;
    },
  };
}
const STREAMS = { drains: { running: 3, most: 9, unanswered: 2 }, waiting: { size: 4 } };
const LEDGER = {
  groups: 2,
  members: 7,
  replays: 3,
  lostConnections: 4,
  depth: 5,
  open: 6,
  owed: 1,
  uncollected: 2_500_000n,
  late: 8,
  misdated: 11,
  owedFailedWrites: 9,
  owedDamagedFiles: 10,
};

const OPEN = { isStopped: () => false, withExemplars: false };

function registryOf(sources: Partial<MetricSources> = {}): Registry {
  return createMetrics({
    ledger: { statistics: () => LEDGER },
    events: () => [],
    requests: watchRequests(gatewayOf(), OPEN),
    isStopped: () => false,
    streams: STREAMS,
    catalogAgeSeconds: () => null,
    database: null,
    ...sources,
  });
}

async function scrape(sources: Partial<MetricSources> = {}): Promise<Map<string, number>> {
  return seriesOf(registryOf(sources));
}

/** What a scrape shows of ours, by its name and labels. */
async function seriesOf(registry: Registry): Promise<Map<string, number>> {
  const lines = (await registry.metrics()).split("\n").filter((line) => line.startsWith("saldo_"));
  return new Map(
    lines.map((line) => [line.slice(0, line.lastIndexOf(" ")), Number(line.slice(line.lastIndexOf(" ") + 1))]),
  );
}

describe("the metrics of a process", () => {
  it("show what the ledger has done and what waits, also at the second scrape", async () => {
    const registry = registryOf();
    await registry.metrics();
    const text = await registry.metrics();
    for (const line of [
      "saldo_drains 3",
      "saldo_drains_limit 9",
      "saldo_unanswered_departures 2",
      "saldo_waiting_streams 4",
      "saldo_ledger_groups_total 2",
      "saldo_ledger_members_total 7",
      "saldo_ledger_replays_total 3",
      "saldo_ledger_lost_connections_total 4",
      "saldo_ledger_depth 5",
      "saldo_ledger_open_holds 6",
      "saldo_ledger_owed_settlements 1",
      "saldo_ledger_owed_write_failures_total 9",
      "saldo_ledger_owed_damaged_files 10",
      "saldo_ledger_late_settlements_total 8",
      "saldo_ledger_misdated_requests_total 11",
      "saldo_ledger_uncollected_rupiah_total 2.5",
    ]) {
      expect(text.split("\n")).toContain(line);
    }
  });

  it("show the state of the database, and nothing of it in a process that does not read it", async () => {
    const audits = {
      incremental: { lagSeconds: 30, violations: 0 },
      full: { lagSeconds: null, violations: 2 },
    };
    const facts: DatabaseFacts = {
      seenAtMs: performance.now() - 5_000,
      oldestHoldSeconds: 11,
      leaseAgeSeconds: 12,
      oldestSnapshotSeconds: 13,
      defaultPartitionRows: 14,
      sealedAgeSeconds: 25,
      unknownPayments: 26,
      audits,
      room: {
        bytes: 15,
        walBytes: null,
        slotWalBytes: 16,
        lostSlots: 27,
        wraparoundShare: 0.17,
        connectionsShare: 0.18,
        deadRows: { account: 19, api_key: 20, hold: 21, process: 22 },
        diskFreeBytes: 23,
        diskFreeShare: 0.24,
      },
    };
    const seen = await scrape({ database: () => facts });
    expect(seen.get("saldo_database_bytes")).toBe(15);
    expect(seen.get("saldo_database_slot_wal_bytes")).toBe(16);
    expect(seen.get("saldo_database_lost_slots")).toBe(27);
    expect(seen.get("saldo_database_wraparound_share")).toBe(0.17);
    expect(seen.get("saldo_database_connections_share")).toBe(0.18);
    expect(seen.get('saldo_database_dead_rows{table="account"}')).toBe(19);
    expect(seen.get('saldo_database_dead_rows{table="hold"}')).toBe(21);
    expect(seen.get("saldo_data_disk_free_bytes")).toBe(23);
    expect(seen.get("saldo_data_disk_free_share")).toBe(0.24);
    // What this login may not see, or what was not read yet, has no series: a 0 would alarm.
    expect(seen.has("saldo_database_wal_bytes")).toBe(false);
    expect(
      [...(await scrape({ database: () => null })).keys()].filter((name) => /disk|share|bytes/.test(name)),
    ).toEqual([]);
    expect(seen.get("saldo_oldest_hold_seconds")).toBe(11);
    expect(seen.get("saldo_lease_age_seconds")).toBe(12);
    expect(seen.get("saldo_oldest_snapshot_seconds")).toBe(13);
    expect(seen.get("saldo_default_partition_rows")).toBe(14);
    expect(seen.get("saldo_sealed_age_seconds")).toBe(25);
    // Books without a root have no age: a 0 would hide it once nothing is sealed any more.
    const unsealed = await scrape({ database: () => ({ ...facts, sealedAgeSeconds: null }) });
    expect(unsealed.has("saldo_sealed_age_seconds")).toBe(false);
    // What was seen five seconds ago has grown older since.
    expect(seen.get("saldo_database_watch_age_seconds")).toBeGreaterThanOrEqual(5);
    expect(seen.get('saldo_audit_lag_seconds{audit="incremental"}')).toBeGreaterThanOrEqual(35);
    expect(seen.get('saldo_audit_lag_seconds{audit="full"}')).toBeGreaterThan(0);
    expect(seen.get('saldo_audit_violations{audit="incremental"}')).toBe(0);
    expect(seen.get('saldo_audit_violations{audit="full"}')).toBe(2);
    const names = [...(await scrape()).keys()];
    expect(names.filter((name) => /oldest|lease|partition|audit|watch/.test(name))).toEqual([]);
  });

  it("count requests by how they ended, and time them all", async () => {
    const stops = { are: false };
    const returned = ["answered", "answered", "client_left", "upstream_busy", "service_busy"] as const;
    const outcomes = [...returned, new ModelNotFound("x"), new UpstreamBusy(), new ServiceBusy(), new Error("a bug")];
    let next: Error | ChatOutcome = "answered";
    const requests = watchRequests(
      { answerChat: () => gatewayOf(next).answerChat(call, sink) },
      { ...OPEN, isStopped: () => stops.are },
    );
    for (const outcome of outcomes) {
      next = outcome;
      const ended: unknown = await requests.gateway.answerChat(call, sink).catch((thrown: unknown) => thrown);
      expect(ended).toBe(outcome);
    }
    stops.are = true;
    await expect(requests.gateway.answerChat(call, sink)).rejects.toThrow(UpstreamBusy);
    const seen = await scrape({ requests, isStopped: () => stops.are, catalogAgeSeconds: () => 7 });
    const counted = (outcome: string) => seen.get(`saldo_chat_requests_total{outcome="${outcome}"}`);
    const names = [
      "answered",
      "client_left",
      "model_not_found",
      "upstream_busy",
      "service_busy",
      "internal_error",
      "stopped",
    ];
    expect(names.map(counted)).toEqual([2, 1, 1, 2, 2, 1, 1]);
    expect(seen.get("saldo_chat_duration_seconds_count")).toBe(10);
    expect(seen.get('saldo_chat_duration_seconds_bucket{le="+Inf"}')).toBe(10);
    expect(seen.get("saldo_admission_stopped")).toBe(1);
    expect(seen.get("saldo_catalog_age_seconds")).toBe(7);
  });

  it("count what the gateway reported by kind and upstream", async () => {
    const seen = await scrape({
      events: () => [
        { kind: "attempt_failed", upstream: "a", count: 2 },
        { kind: "attempt_failed", upstream: "b", count: 3 },
        { kind: "settlement_failed", upstream: "", count: 1 },
      ],
    });
    expect(seen.get('saldo_gateway_events_total{kind="attempt_failed",upstream="a"}')).toBe(2);
    expect(seen.get('saldo_gateway_events_total{kind="attempt_failed",upstream="b"}')).toBe(3);
    expect(seen.get('saldo_gateway_events_total{kind="settlement_failed",upstream=""}')).toBe(1);
  });

  it("count what keeps payouts from getting on by kind and chain, which is logged too", async () => {
    const logged: unknown[] = [];
    const log = (facts: unknown): void => void logged.push(facts);
    const { report, counts } = createPayoutTroubles({ warn: log, error: log });
    const registry = new Registry();
    addPayoutMetrics(registry, { facts: () => null, troubles: counts });
    report({ kind: "fee_too_high", chain: "ethereum", nonce: 7 });
    report({ kind: "fee_too_high", chain: "ethereum", nonce: 7 });
    report({ kind: "fee_too_high", chain: "bsc", nonce: 1 });
    report({ kind: "payout_failed", chain: "ethereum", nonce: 8, error: new Error("the node is away") });
    const seen = await seriesOf(registry);
    const counted = (kind: string, chain: string) =>
      seen.get(`saldo_payout_troubles_total{kind="${kind}",chain="${chain}"}`);
    expect(counted("fee_too_high", "ethereum")).toBe(2);
    expect(counted("fee_too_high", "bsc")).toBe(1);
    expect(counted("payout_failed", "ethereum")).toBe(1);
    // A round comes every few seconds; the log has one line for each waiting payout.
    expect(logged.map((facts) => (facts as { nonce: number }).nonce)).toEqual([7, 1, 8]);
  });

  it("wait for running requests when asked to, no longer than they are given", async () => {
    let finish = (): void => {};
    const requests = watchRequests(
      { answerChat: () => new Promise((resolve) => (finish = () => resolve("answered"))) },
      OPEN,
    );
    const answer = requests.gateway.answerChat(call, sink);
    await requests.idle(1);
    let idle = false;
    const waiting = requests.idle(60_000).then(() => (idle = true));
    await Promise.resolve();
    expect(idle).toBe(false);
    finish();
    await Promise.all([answer, waiting]);
    expect(idle).toBe(true);
  });
});
