// npm run bench-growth [-- --records N] [--accounts N]
// What becomes dearer as the books grow, in a database of its own: a request at growing numbers of records, the incremental audit of many
// accounts of which one in a hundred is active beside one of as many accounts as are active, and a month's summary from roll-ups. It prints
// counts of work (pages read, bytes of log) and ratios beside times, and exits with 1 where a ratio or a limit is missed.
// The whole size is --records 10000000 --accounts 100000.

import { createHash } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import type { Pool } from "pg";
import { rollUpUsage } from "../../src/billing/usage/roll-up.ts";
import { summarizeUsage } from "../../src/billing/usage/summary.ts";
import { clientConfig, withClient } from "../../src/database/connections.ts";
import { type Database, openDatabase } from "../../src/database/database.ts";
import { findEmbeddedAddress } from "../../src/database/embedded/embedded-postgres.ts";
import { timeOfUuidv7, uuidv7 } from "../../src/kernel/ids.ts";
import { billingDay } from "../../src/kernel/clock.ts";
import { audit } from "../../src/ledger/audit/audit.ts";
import { GroupCommitLedger } from "../../src/ledger/group-commit/group-commit.ts";
import { ProcessLease } from "../../src/ledger/process-lease.ts";
import { systemAccounts } from "../../src/ledger/system-accounts.ts";
import { topicAudits } from "../../src/app/compose/topic-audits.ts";
import { median } from "./statistics.ts";

const { values: flags } = parseArgs({
  options: { records: { type: "string", default: "200000" }, accounts: { type: "string", default: "10000" } },
});
const [RECORDS, ACCOUNTS] = [Number(flags.records), Number(flags.accounts)];
const PER_STATEMENT = 50_000;
const ACTIVE_IN = 100;
const CHARGE = 1_000n;
const DAYS = 28;
const DAY_MS = 86_400_000;
const REQUESTS = 300;
const PLANNING_REQUESTS = 10; // PostgreSQL plans the first five runs of a prepared statement
const ROUNDS = 3;
const REPORTED_AFTER_MS = 11_000;
const GOALS = { request: 1.1, audit: 2, summaryMs: 300 } as const;

// $1 account, $2 first number, $3 how many, $4 when the first was, $5 milliseconds between two.
const GROW = `
INSERT INTO usage_record (account_id, request_id, key_id, model, input_tokens_uncached, input_tokens_cached, output_tokens,
  input_price, output_price, cost, charge, basis, billing_day, streamed, duration_ms, settled_at)
SELECT $1::uuid, id, $1::uuid, 'bench/model-' || number % 5, 1, 0, 0, ${CHARGE}000000, 0, ${CHARGE}, ${CHARGE}, 'exact',
  (uuid_time(id) AT TIME ZONE 'Asia/Jakarta')::date, false, 1, uuid_time(id)
FROM (
  SELECT number, (left(uuid_floor($4::timestamptz + number * $5::float8 * interval '1 ms')::text, 14) || '7'
    || substr(gen_random_uuid()::text, 16))::uuid AS id
  FROM generate_series($2::int, $2::int + $3::int - 1) AS number
) made`;
const OPEN = `INSERT INTO account (id) SELECT new_uuidv7() FROM generate_series(1, $1::int) RETURNING id`;
const PAY = `
INSERT INTO posting (account_id, id, group_id, asset, debit, credit, amount, reason, posted_at)
SELECT id, uuid_floor(clock_timestamp() - interval '30 days'), id, 'IDR/6', '${systemAccounts.promotions}', id, $2::bigint, 'demo_credit',
  clock_timestamp() - interval '30 days'
FROM unnest($1::uuid[]) AS a(id)`;
const PAGES = `
SELECT (SELECT sum(blks_hit + blks_read)::float8 FROM pg_stat_database WHERE datname = current_database()) AS pages,
  pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')::float8 AS log`;
const PRICES = { input: 5_000_000_000n, output: 15_000_000_000n, cacheHit: null };

type Work = { readonly ms: number; readonly pages: number; readonly log: number };

let isMissed = false;
const folder = await mkdtemp(join(tmpdir(), "saldo-bench-growth-"));
const stack = new AsyncDisposableStack();
stack.defer(() => rm(folder, { recursive: true, force: true }));
try {
  await bench();
} finally {
  await stack.disposeAsync();
}
process.exitCode = isMissed ? 1 : 0;

async function bench(): Promise<void> {
  const database = await openDatabase({ dataDir: folder });
  stack.defer(() => database.close());
  const lease = await ProcessLease.take(database);
  stack.defer(() => lease.resign());
  const ledger = new GroupCommitLedger({ database, owner: () => lease.processId, lanes: 1 });
  await ledger.open();
  const [big = ""] = await openAccounts(database, 1, CHARGE * BigInt(RECORDS) + 10n ** 12n);
  await addKey(database.pool, big);

  const requests: Work[] = [];
  const sizes = [0, RECORDS / 4, RECORDS / 2, RECORDS].map(Math.floor);
  for (const [at, size] of sizes.entries()) {
    await grow(database, big, { from: sizes[at - 1] ?? 0, until: size });
    // Statistics that autovacuum takes later make each session read the catalog again, which is no cost of a request.
    await owner("VACUUM (ANALYZE) usage_record, account");
    const each = perRequest(await requestsOf(database.pool, ledger, big));
    requests.push(each);
    print(`a request at ${size} records`, each);
  }
  const [first, last] = [requests[0], requests.at(-1)];
  if (first !== undefined && last !== undefined) {
    judge("pages of a request, last by first", last.pages / first.pages, GOALS.request);
    judge("log of a request, last by first", last.log / first.log, GOALS.request);
    console.log(`time of a request, last by first: ${(last.ms / first.ms).toFixed(2)}`);
  }

  print("rolling all up, once", await work(database.pool, () => rollUpUsage(database.pool)));
  const took: number[] = [];
  for (let round = 0; round < 6; round += 1) {
    const startedAt = performance.now();
    await summarizeUsage(database.pool, { accountId: big, filter: {} });
    if (round > 0) took.push(performance.now() - startedAt);
  }
  judge(`milliseconds of a month's summary over ${RECORDS} records`, median(took) ?? 0, GOALS.summaryMs);

  const active = await openAccounts(database, Math.ceil(ACCOUNTS / ACTIVE_IN), 10n ** 9n);
  for (const account of active) await addKey(database.pool, account);
  print("the first audit, of everything", await work(database.pool, () => sound(database.pool)));
  await sound(database.pool);
  const few = await activeAudit(database.pool, ledger, active);
  print(`an audit of ${active.length} active accounts among ${active.length + 1}`, few);
  await openAccounts(database, ACCOUNTS - active.length, 1n);
  print(`the first audit of ${ACCOUNTS} accounts`, await work(database.pool, () => sound(database.pool)));
  await sound(database.pool);
  const many = await activeAudit(database.pool, ledger, active);
  print(`an audit of ${active.length} active accounts among ${ACCOUNTS + 1}`, many);
  judge("time of the audit, many accounts by few", many.ms / few.ms, GOALS.audit);
  judge("pages of the audit, many accounts by few", many.pages / few.pages, GOALS.audit);
  await ledger.close();
}

/** Runs a statement that waits as long as it has to. */
async function owner(statement: string): Promise<void> {
  await withClient(clientConfig(await findEmbeddedAddress({ dataDir: folder }), "bench-growth"), (client) =>
    client.query(statement),
  );
}

/** REQUESTS requests of an account behind some that plan the statements: the median of three. */
async function requestsOf(pool: Pool, ledger: GroupCommitLedger, account: string): Promise<Work> {
  const accounts = Array.from({ length: REQUESTS }, () => account);
  const runs: Work[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    await request(ledger, accounts.slice(0, PLANNING_REQUESTS));
    runs.push(await work(pool, () => request(ledger, accounts)));
  }
  return medianOf(runs);
}

/** Each active account makes a request, and the incremental audit runs: the median of three. */
async function activeAudit(pool: Pool, ledger: GroupCommitLedger, active: readonly string[]): Promise<Work> {
  const runs: Work[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    await request(ledger, active);
    runs.push(await work(pool, () => sound(pool)));
  }
  return medianOf(runs);
}

function medianOf(runs: readonly Work[]): Work {
  const middle = (of: (run: Work) => number): number => median(runs.map(of)) ?? 0;
  return { ms: middle(({ ms }) => ms), pages: middle(({ pages }) => pages), log: middle(({ log }) => log) };
}

/** Errors: the books are not in order, so nothing that was measured counts. */
async function sound(pool: Pool): Promise<void> {
  const { ok, violations } = await audit(pool, { kind: "incremental", topics: topicAudits() });
  if (!ok) throw new Error(`the audit found ${JSON.stringify(violations.slice(0, 3))}`);
}

/** Admits and settles one request after the other. */
async function request(ledger: GroupCommitLedger, accounts: readonly string[]): Promise<void> {
  for (const accountId of accounts) {
    const requestId = uuidv7();
    const amount = 100_000n;
    await ledger.admit({
      accountId,
      keyId: accountId,
      requestId,
      amount,
      leastAmount: amount,
      model: "bench/model",
      prices: PRICES,
    });
    await ledger.settle({
      accountId,
      requestId,
      cost: 5_000n,
      inputTokensUncached: 1,
      inputTokensCached: 0,
      outputTokens: 0,
      basis: "exact",
      billingDay: billingDay(timeOfUuidv7(requestId)),
      upstream: "bench",
      upstreamModel: "model",
      upstreamRequestId: null,
      upstreamCost: null,
      streamed: false,
      durationMs: 1,
      firstByteMs: null,
      clamped: false,
      delivered: true,
    });
  }
}

/** Records of the last weeks, in the order of time, as settlements write them, and the balance with them. */
async function grow(
  database: Database,
  account: string,
  { from, until }: { from: number; until: number },
): Promise<void> {
  const spanMs = DAYS * DAY_MS;
  const begin = new Date(Date.now() - spanMs - DAY_MS);
  for (let made = from; made < until; made += PER_STATEMENT)
    await database.pool.query(GROW, [account, made, Math.min(PER_STATEMENT, until - made), begin, spanMs / RECORDS]);
  await database.pool.query("UPDATE account SET posted = posted - $2::bigint WHERE id = $1::uuid", [
    account,
    CHARGE * BigInt(until - from),
  ]);
}

async function openAccounts(database: Database, count: number, balance: bigint): Promise<string[]> {
  const { rows } = await database.pool.query<{ id: string }>(OPEN, [count]);
  const ids = rows.map(({ id }) => id);
  await database.pool.query(PAY, [ids, balance]);
  await database.pool.query("UPDATE account SET posted = $2::bigint WHERE id = ANY ($1::uuid[])", [ids, balance]);
  return ids;
}

async function addKey(pool: Pool, account: string): Promise<void> {
  const digest = createHash("sha256").update(account).digest();
  await pool.query(
    `INSERT INTO api_key (account_id, id, digest, name, prefix, last_four, rate_limit) VALUES ($1, $1, $2, 'bench', 'gw_bench', 'test', 0)`,
    [account, digest],
  );
}

/** What some work took. Sessions report their pages a while after they have become idle. */
async function work(pool: Pool, run: () => Promise<unknown>): Promise<Work> {
  await sleep(REPORTED_AFTER_MS);
  const before = await counters(pool);
  const startedAt = performance.now();
  await run();
  const ms = performance.now() - startedAt;
  const logged = (await counters(pool)).log;
  await sleep(REPORTED_AFTER_MS);
  return { ms, pages: (await counters(pool)).pages - before.pages, log: logged - before.log };
}

async function counters(pool: Pool): Promise<{ pages: number; log: number }> {
  return (await pool.query<{ pages: number; log: number }>(PAGES)).rows[0] ?? { pages: 0, log: 0 };
}

function perRequest({ ms, pages, log }: Work): Work {
  return { ms: ms / REQUESTS, pages: pages / REQUESTS, log: log / REQUESTS };
}

function print(name: string, { ms, pages, log }: Work): void {
  const figures = [`${ms.toFixed(2)} ms`, `${pages.toFixed(0)} pages`, `${log.toFixed(0)} bytes of log`];
  console.log(`${name.padEnd(52)} ${figures.map((figure) => figure.padStart(24)).join("")}`);
}

function judge(name: string, value: number, most: number): void {
  const isMet = value <= most;
  isMissed ||= !isMet;
  console.log(`${isMet ? "PASS" : "FAIL"} ${name}: ${value.toFixed(2)}, at most ${most}`);
}
