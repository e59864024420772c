// For each alert of deploy/prometheus/alerts.yml a case in which it fires, and one near it in which it is silent. The values are in
// promtool's notation, a value a minute: `0x9 1x5` is ten times 0 and then six times 1, `0+3x9` grows by 3.

export type AlertCase = {
  readonly alert: string;
  readonly series: Readonly<Record<string, string>>;
  /** When it is looked at. */
  readonly at: string;
  /** The labels of the alert beside its severity; null: it is silent. */
  readonly fires: Readonly<Record<string, string>> | null;
  /** Other alerts that the same values are a reason for. */
  readonly also?: readonly string[];
};

type Values = string | Readonly<Record<string, string>>;

const A = { instance: "a" };
const ETHEREUM = { chain: "ethereum" };
const requests = (outcome: string): string => `saldo_chat_requests_total{outcome="${outcome}",instance="a"}`;
const events = (kind: string): string => `saldo_gateway_events_total{kind="${kind}",upstream="u",instance="a"}`;
const troubles = (kind: string): string => `saldo_payout_troubles_total{kind="${kind}",chain="ethereum",instance="a"}`;
const ofChain = (metric: string): string => `saldo_${metric}{chain="ethereum",instance="a"}`;
const ofCoin = (metric: string): string => `saldo_${metric}{chain="ethereum",currency="ETH",instance="a"}`;
const ofProcess = (metric: string): string => `saldo_${metric}{instance="a"}`;
const named = (series: string, values: Values): Readonly<Record<string, string>> =>
  typeof values === "string" ? { [series]: values } : values;

/** A pair of cases that look at the same moment. */
function pair(
  alert: string,
  fires: Readonly<Record<string, string>>,
  at: string,
  { series = "", bad, good, also }: { series?: string; bad: Values; good: Values; also?: readonly string[] },
): AlertCase[] {
  const others = also === undefined ? {} : { also };
  return [
    { alert, series: named(series, bad), at, fires, ...others },
    { alert, series: named(series, good), at, fires: null, ...others },
  ];
}

/** An alert on the first of its events: it fires at once, and is silent eleven minutes later. */
function first(alert: string, series: string, fires: Readonly<Record<string, string>>): AlertCase[] {
  return [
    { alert, series: { [series]: "_x20 1x40" }, at: "25m", fires },
    { alert, series: { [series]: "_x20 1x40" }, at: "35m", fires: null },
    { alert, series: { [series]: "1x20 2x40" }, at: "25m", fires },
    { alert, series: { [series]: "7x60" }, at: "35m", fires: null },
  ];
}

/** Answers in numbers, and a share of errors. */
function errors(perHundred: number, outcome: string): Readonly<Record<string, string>> {
  return { [requests("answered")]: `0+${100 - perHundred}x400`, [requests(outcome)]: `0+${perHundred}x400` };
}

/** A day of answers within 0.1 s, and then answers of which half are within the bound. */
function durations(bound: string): Readonly<Record<string, string>> {
  const bucket = (le: string): string => `saldo_chat_duration_seconds_bucket{le="${le}",instance="a"}`;
  const slow = (le: string): string => (Number(le) >= Number(bound) ? "+60" : "+0");
  const values = (le: string): string => `0+60x1440 86400${slow(le)}x60`;
  return {
    ...Object.fromEntries(
      ["0.1", "0.3", "1", "+Inf"].map((le) => [bucket(le), le === "+Inf" ? "0+60x1500" : values(le)]),
    ),
    [`saldo_chat_duration_seconds_count{instance="a"}`]: "0+60x1500",
  };
}

const SYMPTOMS: readonly AlertCase[] = [
  ...pair("SaldoDown", { job: "saldo", ...A }, "12m", {
    series: 'up{job="saldo",instance="a"}',
    bad: "1x9 0x9",
    good: "1x10 0x0 1x9",
  }),
  ...["upstream_busy", "service_busy"].flatMap((outcome) => [
    ...pair("SaldoErrorsFast", {}, "2h", {
      bad: errors(8, outcome),
      good: errors(7, outcome),
      also: ["SaldoErrorsSlow"],
    }),
    ...pair("SaldoErrorsSlow", {}, "6h", { bad: errors(4, outcome), good: errors(2, outcome) }),
  ]),
  ...first("SaldoInternalErrors", requests("internal_error"), {}).map((each) => ({
    ...each,
    series: { ...each.series, [requests("answered")]: "0+500x60" },
  })),
  ...pair("SaldoAnswersSlow", {}, "24h45m", { bad: durations("1"), good: durations("0.1") }),
  ...pair("SaldoStandbyMissing", A, "10m", { series: ofProcess("sync_standby_missing"), bad: "1x20", good: "0x20" }),
  ...pair("SaldoAdmissionStopped", {}, "35m", {
    series: ofProcess("admission_stopped"),
    bad: "1x40",
    good: "0x9 1x30",
  }),
  ...pair("SaldoWalletHalted", ETHEREUM, "5m", { series: ofChain("wallet_halted"), bad: "1x9", good: "0x9" }),
  ...pair("SaldoPayoutOld", ETHEREUM, "5m", {
    series: ofChain("oldest_payout_seconds"),
    bad: "1801x9",
    good: "1800x9",
  }),
  ...pair("SaldoPayoutUnknown", ETHEREUM, "5m", {
    series: ofChain("payout_unknown_seconds"),
    bad: "601x9",
    good: "600x9",
  }),
  ...pair("SaldoTransfersWaiting", ETHEREUM, "12m", {
    series: ofChain("transfers_waiting"),
    bad: "1x20",
    good: "0x5 1x20",
  }),
  ...pair("SaldoPayoutsStopped", ETHEREUM, "70m", {
    series: ofChain("payouts_stopped"),
    bad: "1x90",
    good: "0x20 1x90",
  }),
];

const MONEY: readonly AlertCase[] = [
  ...pair("SaldoBooksWrong", { audit: "full" }, "5m", {
    series: 'saldo_audit_violations{audit="full",instance="a"}',
    bad: "0x3 1x9",
    good: "0x9",
  }),
  ...pair("SaldoAuditLate", { audit: "incremental" }, "5m", {
    series: 'saldo_audit_lag_seconds{audit="incremental",instance="a"}',
    bad: "601x9",
    good: "600x9",
  }),
  ...pair("SaldoAuditLate", { audit: "full" }, "5m", {
    series: 'saldo_audit_lag_seconds{audit="full",instance="a"}',
    bad: "200001x9",
    good: "200000x9",
  }),
  ...pair("SaldoHoldOld", {}, "5m", { series: ofProcess("oldest_hold_seconds"), bad: "1201x9", good: "1200x9" }),
  ...pair("SaldoSettlementsOwed", A, "8m", {
    series: ofProcess("ledger_owed_settlements"),
    bad: "1x9",
    good: "0x4 1x9",
  }),
  ...first("SaldoSettlementFailed", events("settlement_failed"), {}),
  ...pair("SaldoSettlementLate", A, "15m", {
    series: ofProcess("ledger_late_settlements_total"),
    bad: "0x9 1x9",
    good: "5x20",
  }),
  ...pair("SaldoUncollected", {}, "2h", {
    series: ofProcess("ledger_uncollected_rupiah_total"),
    bad: "0+1000x200",
    good: "0+10x200",
  }),
  ...first("SaldoUsageUnpriced", events("usage_unpriced"), { upstream: "u" }),
  ...pair("SaldoApprovalsPending", {}, "70m", {
    series: ofProcess("approvals_pending"),
    bad: "1x90",
    good: "0x20 2x90",
  }),
  ...pair("SaldoUsageOutsidePartitions", {}, "5m", {
    series: ofProcess("default_partition_rows"),
    bad: "1x9",
    good: "0x9",
  }),
];

const UPSTREAMS: readonly AlertCase[] = [
  ...["usage_clamped", "attempt_failed", "stream_broken", "output_ran_on"].flatMap((kind) =>
    pair("SaldoUpstreamFailing", { upstream: "u", kind }, "20m", {
      series: events(kind),
      bad: "0+3x20",
      good: "0+1x20",
    }),
  ),
  ...first("SaldoUpstreamMixedUp", events("upstream_mixed_up"), { upstream: "u" }),
  ...first("SaldoHiddenOutputLearned", events("hidden_output_learned"), { upstream: "u" }),
  ...first("SaldoLeaseLapsed", events("lease_lapsed"), {}),
  ...first("SaldoUnansweredDepartures", events("too_many_unanswered"), {}),
  ...pair("SaldoDrainsFull", A, "8m", {
    bad: { [ofProcess("drains")]: "256x9", [ofProcess("drains_limit")]: "256x9" },
    good: { [ofProcess("drains")]: "0x9", [ofProcess("drains_limit")]: "0x9" },
  }),
  ...pair("SaldoStreamsWaiting", A, "5m", { series: ofProcess("waiting_streams"), bad: "21x9", good: "20x9" }),
  ...pair("SaldoCatalogOld", A, "15m", {
    bad: { [ofProcess("catalog_age_seconds")]: "61x20", [requests("answered")]: "0+600x20" },
    good: { [ofProcess("catalog_age_seconds")]: "9000x20", [requests("answered")]: "600x20" },
  }),
];

const DATABASE: readonly AlertCase[] = [
  ...pair("SaldoLedgerQueue", A, "5m", { series: ofProcess("ledger_depth"), bad: "501x9", good: "500x9" }),
  ...pair("SaldoLedgerReplays", A, "20m", {
    series: ofProcess("ledger_replays_total"),
    bad: "0+61x20",
    good: "0+60x20",
  }),
  ...pair("SaldoConnectionsLost", A, "20m", {
    series: ofProcess("ledger_lost_connections_total"),
    bad: "0+2x20",
    good: "0+1x20",
  }),
  ...pair("SaldoLeaseOld", {}, "5m", { series: ofProcess("lease_age_seconds"), bad: "31x9", good: "30x9" }),
  ...pair("SaldoSnapshotOld", {}, "5m", { series: ofProcess("oldest_snapshot_seconds"), bad: "301x9", good: "300x9" }),
  ...pair("SaldoStandbyLost", A, "20m", { series: ofProcess("sync_standbys"), bad: "1x9 0x20", good: "0x30" }),
  ...pair("SaldoReadsOnPrimary", A, "15m", { series: ofProcess("read_standby_used"), bad: "0x20", good: "1x20" }),
  ...pair("SaldoBackupLogOld", A, "5m", { series: ofProcess("backup_log_age_seconds"), bad: "61x9", good: "60x9" }),
  ...pair("SaldoBackupBaseOld", A, "70m", {
    series: ofProcess("backup_base_age_seconds"),
    bad: "172801+0x80",
    good: "172800+0x80",
  }),
  {
    alert: "SaldoBackupBaseOld",
    series: { [ofProcess("backup_base_age_seconds")]: Array.from({ length: 80 }, () => "Inf").join(" ") },
    at: "70m",
    fires: A,
  },
  ...pair("SaldoBackupUnverified", A, "5m", {
    series: ofProcess("backup_verified_age_seconds"),
    bad: "777601x9",
    good: "777600x9",
  }),
  ...pair("SaldoBackupDiskFilling", A, "5m", {
    series: ofProcess("backup_disk_free_share"),
    bad: "0.14x9",
    good: "0.15x9",
  }),
  ...pair("SaldoBackupDiskFull", A, "5m", {
    series: ofProcess("backup_disk_free_share"),
    bad: "0.04x9",
    good: "0.05x9",
    also: ["SaldoBackupDiskFilling"],
  }),
  ...pair("SaldoBooksUnsealed", {}, "5m", {
    series: ofProcess("sealed_age_seconds"),
    bad: "97201x9",
    good: "97200x9",
  }),
  ...pair("SaldoPaymentsUnknown", {}, "5m", { series: ofProcess("unknown_payments"), bad: "1x9", good: "0x9" }),
  ...pair("SaldoDatabaseUnwatched", {}, "5m", {
    series: ofProcess("database_watch_age_seconds"),
    bad: "61x9",
    good: "60x9",
  }),
];

const ROOM: readonly AlertCase[] = [
  ...pair("SaldoOwedUnwritten", A, "25m", {
    series: ofProcess("ledger_owed_write_failures_total"),
    bad: "0x20 1x20",
    good: "7x40",
  }),
  ...pair("SaldoOwedDamaged", A, "5m", { series: ofProcess("ledger_owed_damaged_files"), bad: "1x9", good: "0x9" }),
  ...pair("SaldoDiskFilling", A, "5m", { series: ofProcess("data_disk_free_share"), bad: "0.14x9", good: "0.15x9" }),
  ...pair("SaldoDiskFull", A, "5m", {
    series: ofProcess("data_disk_free_share"),
    bad: "0.04x9",
    good: "0.05x9",
    also: ["SaldoDiskFilling"],
  }),
  ...pair("SaldoDatabaseGrows", A, "9h", {
    bad: { [ofProcess("database_bytes")]: "0+3x600", [ofProcess("data_disk_free_bytes")]: "100000x600" },
    good: { [ofProcess("database_bytes")]: "0+2x600", [ofProcess("data_disk_free_bytes")]: "100000x600" },
  }),
  ...pair("SaldoLogKept", {}, "12m", {
    series: ofProcess("database_wal_bytes"),
    bad: "8589934593x20",
    good: "8589934592x20",
  }),
  ...pair("SaldoSlotBehind", {}, "12m", {
    series: ofProcess("database_slot_wal_bytes"),
    bad: "4294967297x20",
    good: "4294967296x20",
  }),
  ...pair("SaldoSlotLost", {}, "12m", { series: ofProcess("database_lost_slots"), bad: "1x20", good: "1x6 0x14" }),
  ...pair("SaldoWraparoundNear", {}, "5m", {
    series: ofProcess("database_wraparound_share"),
    bad: "0.31x9",
    good: "0.3x9",
  }),
  ...pair("SaldoWraparoundUrgent", {}, "5m", {
    series: ofProcess("database_wraparound_share"),
    bad: "0.71x9",
    good: "0.7x9",
    also: ["SaldoWraparoundNear"],
  }),
  ...pair("SaldoConnectionsNearlyUsed", {}, "8m", {
    series: ofProcess("database_connections_share"),
    bad: "0.86x9",
    good: "0.85x9",
  }),
  ...pair("SaldoDeadRows", { table: "hold" }, "20m", {
    series: 'saldo_database_dead_rows{table="hold",instance="a"}',
    bad: "1000001x30",
    good: "1000000x30",
  }),
];

const PAYOUTS: readonly AlertCase[] = [
  ...pair("SaldoWalletNearCap", { ...ETHEREUM, currency: "ETH" }, "5m", {
    series: ofCoin("wallet_day_share"),
    bad: "0.91x9",
    good: "0.9x9",
  }),
  ...pair("SaldoPayoutFeesHigh", ETHEREUM, "50m", {
    series: troubles("fee_too_high"),
    bad: "0+4x60",
    good: "0+4x10 40+0x9 40+4x30",
  }),
  ...pair("SaldoNonceHolderUnknown", ETHEREUM, "20m", {
    series: troubles("holder_unknown"),
    bad: "0+4x30",
    good: "0+4x8 32+0x9 32+4x8",
  }),
  ...pair("SaldoPayoutsFailing", ETHEREUM, "20m", { series: troubles("payout_failed"), bad: "0+3x20", good: "0+1x20" }),
  ...["head_leap", "finality_doubted", "payment_vanished", "payment_short"].flatMap((kind) =>
    first("SaldoChainDoubted", troubles(kind), { ...ETHEREUM, kind }),
  ),
  ...pair("SaldoPayoutJournalUnavailable", { ...ETHEREUM, ...A }, "5m", {
    series: ofChain("payout_journal_unavailable"),
    bad: "0x2 1x9",
    good: "1x2 0x9",
  }),
  ...first("SaldoPayoutJournalCopied", troubles("journal_copied"), { ...ETHEREUM, ...A }),
  ...first("SaldoDailyCapReached", troubles("daily_cap"), ETHEREUM),
  ...pair("SaldoSignerSilent", ETHEREUM, "5m", { series: ofChain("signer_silent_seconds"), bad: "61x9", good: "60x9" }),
  ...first("SaldoSignerWrong", troubles("wrong_signer"), ETHEREUM),
  ...pair("SaldoPayoutsCrowded", ETHEREUM, "15m", {
    bad: { [ofChain("payouts_open")]: "16x20" },
    good: { [ofChain("payouts_open")]: "15x20", 'saldo_payouts_open{chain="sandbox",instance="a"}': "150x20" },
  }),
  ...pair("SaldoWalletRunsOut", { ...ETHEREUM, currency: "ETH" }, "7h", {
    series: ofCoin("wallet_float"),
    bad: "500-1x450",
    good: "500-0.1x450",
  }),
  ...pair("SaldoChainSilent", ETHEREUM, "5m", { series: ofChain("chain_silent_seconds"), bad: "121x9", good: "120x9" }),
];

const bodies = (reason: string): string => `saldo_request_bodies_refused_total{reason="${reason}",instance="a"}`;
const PROCESSES: readonly AlertCase[] = [
  ...pair("SaldoBodiesRefused", { ...A, reason: "overloaded" }, "20m", {
    series: bodies("overloaded"),
    bad: "0+2x20",
    good: "0+1x20",
  }),
  ...["uploads", "slow"].flatMap((reason) =>
    pair("SaldoBodiesRefused", { ...A, reason }, "20m", { series: bodies(reason), bad: "0+11x20", good: "0+10x20" }),
  ),
  ...pair("SaldoBodyBudgetNearlyUsed", A, "5m", {
    bad: { [ofProcess("request_body_bytes")]: "76x9", [ofProcess("request_body_budget_bytes")]: "100x9" },
    good: { [ofProcess("request_body_bytes")]: "75x9", [ofProcess("request_body_budget_bytes")]: "100x9" },
  }),
  ...pair("SaldoConnectionsDropped", A, "15m", {
    series: ofProcess("connections_dropped_total"),
    bad: "0x9 1x9",
    good: "8x20",
  }),
  ...pair("SaldoGrpcRefused", { ...A, reason: "streams" }, "20m", {
    series: 'saldo_grpc_refused_total{reason="streams",instance="a"}',
    bad: "0+11x20",
    good: "0+10x20",
  }),
  ...pair("SaldoWorkersMissing", A, "12m", { series: ofProcess("workers_serving"), bad: "4x9 3x9", good: "4x20" }),
  ...pair("SaldoWorkersRestart", A, "20m", {
    series: 'saldo_worker_restarts_total{worker="1",instance="a"}',
    bad: "0x10 0+1x10",
    good: "3x20",
  }),
  ...pair("SaldoLogLinesLost", A, "15m", { series: ofProcess("log_lines_lost_total"), bad: "0x9 5x9", good: "9x20" }),
];

export const ALERT_CASES: readonly AlertCase[] = [
  ...SYMPTOMS,
  ...MONEY,
  ...UPSTREAMS,
  ...DATABASE,
  ...ROOM,
  ...PAYOUTS,
  ...PROCESSES,
];
