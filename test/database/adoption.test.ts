// A database of the former migrations is taken over: no row is lost, and it becomes what a fresh database is.

import { readFile } from "node:fs/promises";
import type { Client } from "pg";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { topicAudits } from "../../src/app/compose/topic-audits.ts";
import { clientConfig, connectClient, withClient } from "../../src/database/connections.ts";
import { openDatabase } from "../../src/database/database.ts";
import { migrate } from "../../src/database/migrate.ts";
import { labelOf, schemaCode } from "../../src/database/migrations/migrations.ts";
import { withTransaction } from "../../src/database/transactions.ts";
import { uuidv7 } from "../../src/kernel/ids.ts";
import { openAccount } from "../../src/ledger/accounts.ts";
import { audit } from "../../src/ledger/audit/audit.ts";
import { readTrialBalance } from "../../src/ledger/trial-balance.ts";
import { createMerchant } from "../../src/merchant/merchants/merchants.ts";
import { SOUND } from "../money/money-setup.ts";
import { schemaText } from "../setup/schema-text.ts";
import { createTestDatabase, type TestDatabase } from "../setup/test-database.ts";

const FORMER = new URL("fixtures/last-old-schema.sql", import.meta.url);
const TABLES = `
SELECT c.oid::regclass::text AS name FROM pg_class c
WHERE c.relnamespace IN ('public'::regnamespace, 'auth'::regnamespace) AND c.relkind IN ('r', 'p') AND NOT c.relispartition
ORDER BY 1`;
const SOURCES = `
SELECT proname AS name, prosrc AS source FROM pg_proc WHERE pronamespace IN ('public'::regnamespace, 'auth'::regnamespace) ORDER BY 1, 2`;
const WRITE_MISSING_LINES = `
INSERT INTO operator_action (id, operator, action, subject, reason, facts)
SELECT p.id, 'test', CASE p.reason WHEN 'credit_note' THEN 'usage credit' ELSE 'account credit' END,
       CASE p.reason WHEN 'credit_note' THEN p.group_id ELSE p.account_id END::text, 'a test',
       jsonb_build_object('postingId', p.id, 'amount', (p.amount / 1000000)::text)
FROM posting p
WHERE p.reason IN ('operator_credit', 'credit_note') AND NOT EXISTS (SELECT FROM operator_action o WHERE o.facts ->> 'postingId' = p.id::text)`;
/** Columns of rows that both have. Of other tables, all. */
const COLUMNS: Readonly<Record<string, string>> = {
  account: "id, posted, held, created_at, frozen_at, open_holds, max_open_holds, owed, keeps_answers",
  audit_checkpoint: "account_id, posted, usage_through, looked_through, postings_before",
  audit_run: "kind, started_at, covered_at, finished_at, violations, postings_before, found",
  posting: "id, group_id, asset, debit, credit, amount, reason, reference, note, posted_at",
  merchant_fund: "merchant_id, asset, id, posted, held",
  database_purpose: "the_row, purpose, since, demo_credentials",
  customer: "account_id, email, created_at, language, time_zone",
  "auth.session":
    "id, token_digest, user_id, expires_at, ip_address, user_agent, created_at, updated_at, proved_at, factor_proved, by_demo, seen_at",
  api_key:
    "account_id, id, digest, name, prefix, last_four, rate_limit, slots, slot_counts, created_at, revoked_at, is_playground",
  merchant_credential: "id, merchant_id, key_digest, secret_digest, key_prefix, created_at, revoked_at",
  top_up:
    "id, account_id, idempotency_key, amount, provider, state, provider_reference, payment_url, given_back, problem, revision, failures, next_check_at, opening_until, created_at, expires_at, paid_at, changed_at, dispute",
  sandbox_payment: "order_id, token, amount, paid, given_back, status, return_url, expires_at, created_at",
  process: "id, started_at, renewed_at, expires_at, gapless_since, dead_at",
  wallet:
    "id, chain, address, first_nonce, next_nonce, leased_by, leased_until, halted_at, halt_reason, head_number, head_at",
};

/** A database of its own with the contents of the file. */
async function formerDatabase(): Promise<{ opened: TestDatabase; owner: Client }> {
  const opened = await createTestDatabase();
  const text = await readFile(FORMER, "utf8");
  await withClient(clientConfig({ connectionString: opened.url }, "test"), async (client) => {
    await client.query("DROP SCHEMA auth, public CASCADE; CREATE SCHEMA public");
    await client.query(text);
  });
  return { opened, owner: await connectClient(clientConfig({ connectionString: opened.url }, "test")) };
}

/** Every row of every table, as text and in an order of its own. */
async function everyRow(owner: Client): Promise<Map<string, string[]>> {
  const tables = (await owner.query<{ name: string }>(TABLES)).rows.map(({ name }) => name);
  const rows = new Map<string, string[]>();
  for (const table of tables) {
    const { rows: found } = await owner.query<{ row: string }>(
      `SELECT r::text AS row FROM (SELECT ${COLUMNS[table] ?? "*"} FROM ${table}) r ORDER BY 1`,
    );
    rows.set(
      table,
      found.map(({ row }) => row),
    );
  }
  return rows;
}

describe("a database of the last former migration", () => {
  let opened: TestDatabase;
  let owner: Client;
  let before: Map<string, string[]>;
  let after: Map<string, string[]>;
  beforeAll(async () => {
    ({ opened, owner } = await formerDatabase());
    before = await everyRow(owner);
    expect(await migrate(clientConfig({ connectionString: opened.url }, "test"))).toEqual(
      schemaCode.migrations.map(labelOf),
    );
    after = await everyRow(owner);
  });
  afterAll(async () => {
    await owner.end();
    await opened.drop();
  });

  test("keeps every row of every table as it was", () => {
    const kept = [...before.keys()].filter((table) => table !== "mikro_orm_migrations");
    const added = [...after.keys()].filter((table) => !kept.includes(table));
    expect(added).toEqual([
      "account_activity",
      "account_invite",
      "account_member",
      "account_seal",
      "alert_event",
      "alert_settings",
      "auto_top_up",
      "auto_top_up_notice",
      "fund_checkpoint",
      "house_seal",
      "member_budget",
      "payment_method",
      "payout_foreign_payment",
      "payout_journal",
      "payout_lost_attempt",
      "proof_node",
      "proof_place",
      "proof_root",
      "proof_sent",
      "proof_window",
      "receipt",
      "receipt_buyer",
      "receipt_series",
      "schema_change",
      "schema_function",
      "secret_state",
      "usage_archive",
      "usage_archive_account",
      "usage_archive_file",
      "usage_archive_mark",
      "usage_archive_step",
      "usage_kept",
      "webhook_attempt",
      "webhook_delivery",
      "webhook_settings",
    ]);
    for (const table of kept) expect(after.get(table), table).toEqual(before.get(table));
    expect(after.get("posting")).toHaveLength(285);
    expect(after.get("usage_record")).toHaveLength(152);
  });

  test("has every posting under its account", async () => {
    const { rows } = await owner.query<{ reason: string; owners: string }>(
      `SELECT DISTINCT reason, CASE WHEN p.account_id IN (debit, credit) THEN 'its side'
         WHEN EXISTS (SELECT FROM merchant_fund f JOIN merchant m ON m.id = f.merchant_id
                      WHERE f.id IN (debit, credit) AND m.account_id = p.account_id) THEN 'its merchant'
         WHEN EXISTS (SELECT FROM usage_record u WHERE u.request_id = group_id AND u.account_id = p.account_id) THEN 'its request'
         WHEN EXISTS (SELECT FROM top_up t WHERE t.id = group_id AND t.account_id = p.account_id) THEN 'its top-up'
         WHEN EXISTS (SELECT FROM transfer t JOIN merchant m ON m.id = t.merchant_id LEFT JOIN payout o ON o.transfer_id = t.id
                      WHERE group_id IN (t.id, o.id) AND m.account_id = p.account_id) THEN 'its transfer' ELSE 'nothing' END AS owners
       FROM posting p ORDER BY 1, 2`,
    );
    expect(rows.map(({ reason, owners }) => `${reason}: ${owners}`)).toMatchInlineSnapshot(`
      [
        "credit_note: its side",
        "demo_credit: its side",
        "late_uncollected: its request",
        "late_usage: its side",
        "merchant_credit: its merchant",
        "network_fee: its transfer",
        "operator_adjustment: its side",
        "operator_credit: its side",
        "overpayment: its top-up",
        "overpayment_returned: its top-up",
        "provider_fee: its top-up",
        "receivable_collected: its side",
        "top_up: its side",
        "top_up_charged_back: its side",
        "top_up_charged_back: its top-up",
        "top_up_refunded: its side",
        "top_up_refunded: its top-up",
        "transfer_fee: its merchant",
        "transfer_payout: its merchant",
        "transfer_sent: its transfer",
        "uncollected: its request",
        "welcome_credit: its side",
      ]
    `);
  });

  test("has every fund under the account of its merchant", async () => {
    const { rows } = await owner.query<{ funds: bigint; right: bigint }>(
      `SELECT count(*) AS funds, count(*) FILTER (WHERE f.account_id = m.account_id) AS right
       FROM merchant_fund f JOIN merchant m ON m.id = f.merchant_id`,
    );
    expect(rows[0]?.funds).toBeGreaterThan(0n);
    expect(rows[0]?.right).toBe(rows[0]?.funds);
  });

  test("has the schema and the functions of a fresh database", async () => {
    const fresh = await createTestDatabase();
    const of = <T>(url: string, work: (client: Client) => Promise<T>): Promise<T> =>
      withClient(clientConfig({ connectionString: url }, "test"), work);
    const sources = async (client: Client) => (await client.query<{ name: string; source: string }>(SOURCES)).rows;
    expect(await schemaText(owner)).toBe(await of(fresh.url, schemaText));
    expect(await sources(owner)).toEqual(await of(fresh.url, sources));
    await fresh.drop();
  });

  test("is served, and its books are in order", async () => {
    const database = await openDatabase({ url: opened.url, dataDir: "" });
    // What tests of that time put on accounts without a command.
    await owner.query(WRITE_MISSING_LINES);
    expect(await audit(database.pool, { topics: topicAudits() })).toEqual(SOUND);
    expect(await readTrialBalance(database.pool)).toMatchObject({ isBalanced: true });
    await database.close();
  });
});

test("a database that has the change of the security log already becomes what a fresh one is", async () => {
  const { opened, owner } = await formerDatabase();
  for (const file of ["functions/security_log.sql", "migrations/0002-kept-security-log.sql"])
    await owner.query(await readFile(new URL(`../../src/database/${file}`, import.meta.url), "utf8"));
  await owner.query("INSERT INTO mikro_orm_migrations (name) VALUES ('0036-kept-security-log')");
  expect(await migrate(clientConfig({ connectionString: opened.url }, "test"))).toEqual(
    schemaCode.migrations.map(labelOf).filter((label) => label !== "0002-kept-security-log"),
  );
  const fresh = await createTestDatabase();
  expect(await schemaText(owner)).toBe(
    await withClient(clientConfig({ connectionString: fresh.url }, "test"), schemaText),
  );
  await fresh.drop();
  await owner.end();
  await opened.drop();
});

describe("a database that cannot be taken over", () => {
  let opened: TestDatabase;
  let owner: Client;
  beforeAll(async () => {
    ({ opened, owner } = await formerDatabase());
  });
  afterAll(async () => {
    await owner.end();
    await opened.drop();
  });
  const opening = () => migrate(clientConfig({ connectionString: opened.url }, "test"));

  test("stays as it is where a posting belongs to no customer", async () => {
    const stray = "01a20000-0000-7000-8000-000000000001";
    await owner.query(`INSERT INTO posting (id, group_id, asset, debit, credit, amount, reason) VALUES ('${stray}', '${stray}',
      'IDR/6', '00000000-0000-7000-8000-000000000003', '00000000-0000-7000-8000-000000000004', 1, 'stray')`);
    const before = await everyRow(owner);
    await expect(opening()).rejects.toThrow(`belong to no customer's account: ${stray}`);
    expect(await everyRow(owner)).toEqual(before);
  });

  test("names the version to start first where it is at an earlier migration", async () => {
    await owner.query("DELETE FROM mikro_orm_migrations WHERE name > '0020-transfer-lists'");
    await expect(opening()).rejects.toThrow(
      /is at migration 0020-transfer-lists, and this Saldo takes over from 0035-tier-writes only\. Start the last Saldo 0\.1/,
    );
  });
});

test("a fund that code of before 0003 opens gets the account of its merchant", async () => {
  const opened = await createTestDatabase();
  const { accountId, merchantId } = await newMerchantOf(opened);
  const { rows } = await opened.database.pool.query<{ account: string }>(
    `INSERT INTO merchant_fund (merchant_id, asset, id) VALUES ($1, 'BTC/8', $2) RETURNING account_id AS account`,
    [merchantId, uuidv7()],
  );
  expect(rows).toEqual([{ account: accountId }]);
  await opened.drop();
});

async function newMerchantOf({ database }: TestDatabase): Promise<{ accountId: string; merchantId: string }> {
  const accountId = uuidv7();
  await withTransaction(database, (client) => openAccount(client, accountId));
  return { accountId, ...(await createMerchant(database, { accountId, environment: "sandbox" })) };
}
