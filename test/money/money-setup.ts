// The setup of money tests: accounts with a balance, keys with a limit, and ledgers of several processes.

import { createHash } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";
import { expect } from "vitest";
import type { Client } from "pg";
import { clientConfig, connectClient } from "../../src/database/connections.ts";
import { type Database, forRequests, openDatabase } from "../../src/database/database.ts";
import { withTransaction } from "../../src/database/transactions.ts";
import { billingDay } from "../../src/kernel/clock.ts";
import { timeOfUuidv7, uuidv7 } from "../../src/kernel/ids.ts";
import { type AccountBalance, openAccount, readBalance } from "../../src/ledger/accounts.ts";
import { audit, type AuditOptions } from "../../src/ledger/audit/audit.ts";
import { GroupCommitLedger } from "../../src/ledger/group-commit/group-commit.ts";
import type { AdmissionRequest, Settlement } from "../../src/ledger/ledger.ts";
import { ProcessLease } from "../../src/ledger/process-lease.ts";
import { topicAudits } from "../../src/app/compose/topic-audits.ts";
import { creditByOperator } from "../setup/operator-credit.ts";
import { createTestDatabase, requestUrlOf, type TestDatabase } from "../setup/test-database.ts";
import { onServer, type TestBackend } from "../setup/test-servers.ts";

/** The audit's result for correct books. */
export const SOUND = { ok: true, violations: [], hasMore: false };

export const PRICES = { input: 5_000_000_000n, output: 15_000_000_000n, cacheHit: 950_000_000n };

const WAITING_SESSIONS = `
SELECT count(*)::int AS waiting FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`;

/** One serving process from the database's view: its connections, its lease, its ledger. */
export type TestProcess = {
  readonly database: Database;
  readonly lease: ProcessLease;
  readonly ledger: GroupCommitLedger;
};

/** A row that is locked. */
export type LockedRow = {
  /**
   * Waits until so many backends wait for a lock, and returns them. Throws if they never do: then there is no race, and the test
   * would pass without it.
   */
  queued(count: number): Promise<number[]>;
  /** Runs a last statement, unlocks the row, and returns the database's time of that moment. */
  release(sql?: string): Promise<string>;
};

/** Of a session: whether it runs, or last ran, a statement that moves money. */
export const IS_MONEY_STATEMENT = "query ~ 'acc AS MATERIALIZED|admit_request|settle_request|commit_requests'";

const MOST_LOOKS = 2_000;
const LOOK_EVERY_MS = 5;
const WAITING_FOR_LOCKS = `
SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`;

export class MoneySetup {
  readonly #processes: TestProcess[] = [];
  readonly opened: TestDatabase;

  private constructor(opened: TestDatabase) {
    this.opened = opened;
  }

  static async create(backend: TestBackend): Promise<MoneySetup> {
    return new MoneySetup(await createTestDatabase({ backend }));
  }

  /** On a server of the test's own. */
  static on(opened: TestDatabase): MoneySetup {
    return new MoneySetup(opened);
  }

  get pool() {
    return this.opened.database.pool;
  }

  /** Another process on the same database, or on the proxy in front of it. */
  async process(lanes = 1, url = this.opened.url): Promise<TestProcess> {
    const database = await openDatabase({ url, requestUrl: requestUrlOf(url), dataDir: "" });
    const lease = await ProcessLease.take(database);
    const ledger = new GroupCommitLedger({ database: forRequests(database), owner: () => lease.processId, lanes });
    await ledger.open();
    const process = { database, lease, ledger };
    this.#processes.push(process);
    return process;
  }

  /** An account with this many micro-rupiah. */
  async account(balance: bigint): Promise<string> {
    const accountId = uuidv7();
    await withTransaction(this.opened.database, async (client) => {
      await openAccount(client, accountId);
      if (balance > 0n) await creditByOperator(client, { accountId, amount: balance });
    });
    return accountId;
  }

  /** Puts so many micro-rupiah more on an account. */
  async credit(accountId: string, amount: bigint): Promise<void> {
    await withTransaction(this.opened.database, (client) => creditByOperator(client, { accountId, amount }));
  }

  async key(accountId: string, rateLimit = 0): Promise<string> {
    const keyId = uuidv7();
    const digest = createHash("sha256").update(keyId).digest();
    await this.pool.query(
      `INSERT INTO api_key (account_id, id, digest, name, prefix, last_four, rate_limit) VALUES ($1, $2, $3, 'test', 'gw_test', 'test', $4)`,
      [accountId, keyId, digest, rateLimit],
    );
    return keyId;
  }

  /** The usual columns of an account that owes nothing. */
  async balance(accountId: string): Promise<Omit<AccountBalance, "owed">> {
    const { posted, held, available } = await readBalance(this.pool, accountId);
    return { posted, held, available };
  }

  /** The same with the debt. */
  balanceAndDebt(accountId: string): Promise<AccountBalance> {
    return readBalance(this.pool, accountId);
  }

  /** Waits until so many sessions of this database wait for a lock. */
  async untilWaiting(sessions = 1): Promise<void> {
    await expect
      .poll(() => this.asOwner(WAITING_SESSIONS), { timeout: 10_000, interval: 5 })
      .toEqual([{ waiting: sessions }]);
  }

  /** Runs statements as the owner of the schema, past the serving role's rights. */
  async asOwner(sql: string): Promise<unknown[]> {
    return (await onServer(this.opened.url, sql)).rows;
  }

  /** Keeps a row locked in a session of its own, so that later statements queue behind it. */
  async lockRow(table: "account" | "api_key", id: string): Promise<LockedRow> {
    const client = new pg.Client({ connectionString: this.opened.url });
    await client.connect();
    await client.query("BEGIN");
    await client.query(`SELECT FROM ${table} WHERE id = $1 FOR UPDATE`, [id]);
    // Opened before the race: a backend waits for a quarter of a second, and opening a connection may take as long.
    const watcher = await this.connectAsOwner();
    return {
      queued: (count) => queued(watcher, count),
      async release(sql) {
        if (sql !== undefined) await client.query(sql);
        const { rows } = await client.query<{ now: string }>("SELECT clock_timestamp()::text AS now");
        await client.query("COMMIT");
        await Promise.all([client.end(), watcher.end()]);
        return rows[0]?.now ?? "";
      },
    };
  }

  /** A connection of the schema's owner; the caller ends it. */
  connectAsOwner(): Promise<Client> {
    return connectClient(clientConfig({ connectionString: this.opened.url }, "saldo test"));
  }

  /** Ends connections that run, or last ran, a money statement: each with the given chance. */
  async endLaneBackends(chance = 1): Promise<void> {
    await this.asOwner(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity
      WHERE datname = current_database() AND pid <> pg_backend_pid() AND ${IS_MONEY_STATEMENT}
        AND random() < ${chance}`);
  }

  audit(options: AuditOptions = {}) {
    return audit(this.pool, { topics: topicAudits(), ...options });
  }

  async close(): Promise<void> {
    for (const { database, lease, ledger } of this.#processes) {
      await ledger.close();
      await lease.close();
      await database.close();
    }
    await this.opened.drop();
  }
}

export function admission(accountId: string, keyId: string, amount: bigint, leastAmount = amount): AdmissionRequest {
  return { accountId, keyId, requestId: uuidv7(), amount, leastAmount, model: "test/model", prices: PRICES };
}

/** A settlement of a cost in whole input tokens, each of 5000 micro-rupiah, so that the audit can recompute it. */
export function settlement(accountId: string, requestId: string, inputTokens: number): Settlement {
  return {
    accountId,
    requestId,
    cost: BigInt(inputTokens) * (PRICES.input / 1_000_000n),
    inputTokensUncached: inputTokens,
    inputTokensCached: 0,
    outputTokens: 0,
    basis: "exact",
    billingDay: billingDay(timeOfUuidv7(requestId)),
    upstream: "test",
    upstreamModel: "model",
    upstreamRequestId: null,
    upstreamCost: null,
    streamed: false,
    durationMs: 1,
    firstByteMs: null,
    clamped: false,
    delivered: true,
  };
}

/** Only the owner sees the waits of other logins' sessions. */
async function queued(watcher: Client, count: number): Promise<number[]> {
  for (let look = 1; ; look += 1) {
    const { rows } = await watcher.query<{ pid: number }>(WAITING_FOR_LOCKS);
    if (rows.length >= count) return rows.map(({ pid }) => pid);
    if (look === MOST_LOOKS) throw new Error(`${rows.length} backends wait for a lock, and not ${count}`);
    await sleep(LOOK_EVERY_MS);
  }
}
