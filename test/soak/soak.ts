// A soak: two gateways on one PostgreSQL behind the fault proxy, an upstream with varying behaviour, many clients, a
// nemesis with a seed, and a shadow auditor that compares all their records with the bills.

import { setTimeout as sleep } from "node:timers/promises";
import { startEmbeddedPostgres } from "../../src/database/embedded/embedded-postgres.ts";
import { isDatabaseAway } from "../../src/database/transactions.ts";
import type { AuditKind } from "../../src/ledger/audit/run.ts";
import { audit } from "../../src/ledger/audit/audit.ts";
import { topicAudits } from "../../src/app/compose/topic-audits.ts";
import { PostgresProxy } from "../faults/postgres-proxy.ts";
import { Service } from "../faults/service.ts";
import { freePorts } from "../setup/free-ports.ts";
import { makeDataDir, removeDataDir, urlOf } from "../setup/own-server.ts";
import { upstreamScript } from "./asks.ts";
import { Clients } from "./clients.ts";
import { Gateways } from "./gateways.ts";
import { MoneyMovers, MOVER_SETTINGS } from "./money-movers.ts";
import { GrowthMeter } from "./meter.ts";
import { Nemesis } from "./nemesis.ts";
import type { SoakReport } from "./report.ts";
import { type FaultKind, schedule } from "./schedule.ts";
import { type Account, Shadow } from "./shadow.ts";

export type SoakOptions = {
  readonly seed: number;
  readonly durationMs: number;
  readonly kinds: readonly FaultKind[];
  /** The mean quiet between two faults. */
  readonly quietMs: number;
  readonly clients: number;
  readonly perSecond: number;
  /** Receives progress messages. */
  readonly onProgress: (line: string) => void;
};

const RICH_ACCOUNTS = 8;
const RICH = 10_000_000_000_000_000n;
/** Balances for some dozens of short requests and for a few long ones, so that requests compete for the last money. */
const POOR = [30_000_000n, 400_000_000n];
/** How often the poor accounts are replaced by fresh ones. */
const POOR_FOR_MS = 60_000;
/** The part of the requests that the hot account and the poor ones get. */
const SHARE = { hot: 0.4, poor: 0.1 };
const RECONCILE_MS = 15_000;
const READING_MS = 5_000;
/** A gateway that is not ready by then after a fault does not come back by itself. */
const READY_WITHIN_MS = 60_000;
/** The aftermath of a fault counts for its latencies. */
const AFTERMATH_MS = 3_000;
/** Holds of the dead are resolved, and those of lost admissions swept, by then. */
const RESOLVED_WITHIN_MS = 150_000;
const LOOK_MS = 250;
const PATIENCE_TRIES = 60;

/** Runs a soak to its end. Errors: a soak that cannot run; findings are in the report. */
export async function runSoak(options: SoakOptions): Promise<SoakReport> {
  await using stack = new AsyncDisposableStack();
  const dataDir = await makeDataDir();
  stack.defer(() => removeDataDir(dataDir));
  const postgres = await startEmbeddedPostgres({ dataDir });
  stack.defer(() => postgres.stop({ evenWithClients: true }));
  const url = urlOf(postgres);
  const proxy = await PostgresProxy.before(url);
  stack.defer(() => proxy.close());
  // Only a demo may be made to die.
  const service = await Service.create(url, { DATABASE_URL: url, SALDO_DEMO: "1" });
  stack.defer(() => service.close());
  const { pool } = service.database;
  const settings = { ...service.settings, ...MOVER_SETTINGS, DATABASE_URL: proxy.urlFor(url) };
  const gateways = await Gateways.start(settings, await freePorts(2));
  stack.defer(async () => {
    await Promise.all(gateways.all.map(({ process }) => process.stop("SIGKILL")));
  });

  const shadow = new Shadow();
  const violate = (what: string): void => shadow.violate(what);
  service.upstream.run(
    upstreamScript((id) => {
      // The scripted upstream keeps what it received, which would grow for hours.
      service.upstream.received.length = 0;
      return shadow.called(id);
    }),
  );
  const open = async (credited: bigint, isRich: boolean): Promise<Account> => {
    const account = { ...(await service.customer(credited)), credited, isRich };
    shadow.add(account);
    return account;
  };
  const rich = await Promise.all(Array.from({ length: RICH_ACCOUNTS }, () => open(RICH, true)));
  const poor = await Promise.all(POOR.map((balance) => open(balance, false)));

  let phase = "quiet";
  const clients = new Clients({
    ...options,
    gateways,
    shadow,
    phase: () => phase,
    account: (random) => {
      const chance = random();
      const among = chance < SHARE.hot ? rich.slice(0, 1) : chance < SHARE.hot + SHARE.poor ? poor : rich;
      return among[Math.floor(random() * among.length)] ?? poor[0] ?? rich[0] ?? failWith("there are accounts");
    },
  });
  const movers = await MoneyMovers.start({
    ...options,
    database: service.database,
    gateways,
    shadow,
    buyers: rich.slice(1, 3),
  });
  const meter = new GrowthMeter();
  const ending = new AbortController();
  const every = async (ms: number, work: () => unknown): Promise<void> => {
    while (!ending.signal.aborted) {
      await sleep(ms, undefined, { signal: ending.signal }).catch(() => {}); // aborted: it ends below
      if (!ending.signal.aborted) await work();
    }
  };
  const beside = [
    every(READING_MS, () => gateways.all.forEach(({ process }) => meter.read(process.pid))),
    every(RECONCILE_MS, () => patiently(() => shadow.reconcile(pool))),
    every(POOR_FOR_MS, async () => {
      for (const [index, balance] of POOR.entries()) poor[index] = await patiently(() => open(balance, false));
    }),
  ];

  let audits = 0;
  const auditNow = async (kind: AuditKind, after: string): Promise<void> => {
    const { violations } = await patiently(() => audit(pool, { kind, topics: topicAudits() }));
    audits += 1;
    for (const { check, subject, detail } of violations)
      violate(`audit after ${after}: ${check}: ${subject} ${detail}`);
  };
  const accountIds = (): string[] => [...rich, ...poor].map(({ accountId }) => accountId);
  const nemesis = new Nemesis({ gateways, proxy, url, dataDir, accountIds, violate });
  const faults: Record<string, number> = {};
  const startedAt = performance.now();
  const left = (): number => options.durationMs - (performance.now() - startedAt);
  for (const { afterMs, fault } of schedule(options)) {
    await sleep(Math.max(0, Math.min(afterMs, left())));
    if (left() <= 0) break;
    options.onProgress(`${minutes(startedAt)} min  ${JSON.stringify(fault)}  ${clients.requests} requests`);
    phase = fault.kind;
    const faultAt = performance.now();
    const since = (): string => `${((performance.now() - faultAt) / 1_000).toFixed(1)} s`;
    const happened = await nemesis.carryOut(fault);
    const doneAfter = since();
    const done = happened ? fault.kind : `${fault.kind}, never reached`;
    faults[done] = (faults[done] ?? 0) + 1;
    if (!(await within(READY_WITHIN_MS, () => gateways.areReady))) violate(`not ready again after ${fault.kind}`);
    const readyAfter = since();
    await auditNow("incremental", fault.kind);
    options.onProgress(`          done after ${doneAfter}, both ready after ${readyAfter}, audited after ${since()}`);
    await sleep(AFTERMATH_MS);
    phase = "quiet";
  }

  options.onProgress(`${minutes(startedAt)} min  ending  ${clients.requests} requests`);
  await Promise.all([clients.end(), movers.end(RESOLVED_WITHIN_MS)]);
  const isResolved = () => patiently(async () => (await service.openHolds()) === 0);
  if (!(await within(RESOLVED_WITHIN_MS, isResolved))) violate(`${await service.openHolds()} holds are never resolved`);
  ending.abort();
  await Promise.all(beside);
  await patiently(() => shadow.close(pool));
  await auditNow("full", "all");
  for (const code of await gateways.stop()) if (code !== 0) violate(`a gateway ended with ${code}`);
  return {
    seed: options.seed,
    minutes: Number(minutes(startedAt)),
    faults,
    requests: Object.fromEntries(clients.outcomes),
    recordsChecked: shadow.checked,
    beyondFirstSlab: shadow.beyondFirstSlab,
    recoveredWithProgress: shadow.recoveredWithProgress,
    chargedLate: shadow.chargedLate,
    transfers: movers.transfers,
    topUps: movers.topUps,
    audits,
    violations: shadow.violations,
    latencies: clients.latencies.lines(),
    growth: meter.longest,
  };
}

/** Does work on a database that may be away just now. */
async function patiently<Result>(work: () => Promise<Result>): Promise<Result> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await work();
    } catch (error) {
      if (attempt === PATIENCE_TRIES || !isDatabaseAway(error)) throw error;
      await sleep(LOOK_MS);
    }
  }
}

async function within(limitMs: number, condition: () => boolean | Promise<boolean>): Promise<boolean> {
  for (const deadline = performance.now() + limitMs; performance.now() < deadline; await sleep(LOOK_MS)) {
    if (await condition()) return true;
  }
  return false;
}

function minutes(startedAt: number): string {
  return ((performance.now() - startedAt) / 60_000).toFixed(1);
}

function failWith(message: string): never {
  throw new Error(message);
}
