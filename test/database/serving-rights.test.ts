// What each role of ours may do with money, word for word: a right that is added or taken shows here.

import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Client } from "pg";
import { clientConfig, connectClient } from "../../src/database/connections.ts";
import { sqlState } from "../../src/database/transactions.ts";
import { createTestDatabase, testBackends, type TestDatabase } from "../setup/test-database.ts";

const PERMISSION_DENIED = "42501";
const MONEY = [
  "account",
  "account_seal",
  "fee_schedule",
  "hold",
  "house_seal",
  "late_usage",
  "merchant_fund",
  "operator_action",
  "operator_setting",
  "payment_event",
  "posting",
  "proof_node",
  "proof_place",
  "proof_root",
  "proof_window",
  "receivable",
  "top_up",
  "transfer",
  "transfer_event",
  "usage_record",
];
const RIGHTS = `
SELECT a.grantee::regrole::text AS role, c.relname AS "table",
  string_agg(a.privilege_type || coalesce(' ' || a.columns, ''), ', ' ORDER BY a.privilege_type) AS may
FROM pg_class c CROSS JOIN LATERAL (
  SELECT grantee, privilege_type, NULL AS columns FROM aclexplode(c.relacl)
  UNION ALL
  SELECT grantee, privilege_type, '(' || string_agg(attname, ', ' ORDER BY attnum) || ')'
  FROM pg_attribute, aclexplode(attacl) WHERE attrelid = c.oid GROUP BY grantee, privilege_type
) a
WHERE c.relnamespace = 'public'::regnamespace AND c.relname = ANY ($1) AND a.grantee <> c.relowner
GROUP BY 1, 2 ORDER BY 1, 2`;
const DEFINERS = `
SELECT p.proname AS name, CASE WHEN p.proowner = n.nspowner OR s.rolsuper THEN 'schema owner' ELSE s.rolname END AS owner,
  (SELECT string_agg(CASE grantee WHEN 0 THEN 'everybody' ELSE grantee::regrole::text END, ', ' ORDER BY grantee::regrole::text)
   FROM aclexplode(coalesce(p.proacl, acldefault('f', p.proowner))) WHERE grantee <> p.proowner) AS callers,
  (SELECT c FROM unnest(p.proconfig) c WHERE c LIKE 'search_path=%') AS path
FROM pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace JOIN pg_roles s ON s.oid = p.proowner
WHERE n.nspname IN ('public', 'auth') AND p.prosecdef ORDER BY 1`;
const MEMBERSHIPS = `
SELECT r.rolname AS role, r.rolcanlogin AS login, r.rolsuper OR r.rolcreaterole OR r.rolcreatedb OR r.rolbypassrls OR r.rolreplication AS powers,
  (SELECT count(*)::int FROM pg_auth_members m WHERE m.member = r.oid) AS memberships
FROM pg_roles r WHERE r.rolname LIKE 'saldo\\_%' ORDER BY 1`;

describe.each(testBackends())("the roles of the %s server", (backend) => {
  let opened: TestDatabase;
  let owner: Client;
  beforeAll(async () => {
    opened = await createTestDatabase({ backend });
    owner = await connectClient(clientConfig({ connectionString: opened.url }, "test"));
  });
  afterAll(async () => {
    await owner.end();
    await opened.drop();
  });

  test("may do this with money, and nothing else", async () => {
    const { rows } = await owner.query<{ role: string; table: string; may: string }>(RIGHTS, [MONEY]);
    expect(rows.map(({ role, table, may }) => `${role} ${table}: ${may}`)).toMatchInlineSnapshot(`
      [
        "saldo_ledger account: SELECT, UPDATE (posted, held, open_holds, owed)",
        "saldo_ledger hold: DELETE, INSERT, SELECT, UPDATE (amount, progress_input_tokens, progress_output_tokens, progress_cached_tokens)",
        "saldo_ledger late_usage: INSERT, SELECT",
        "saldo_ledger posting: INSERT, SELECT",
        "saldo_ledger receivable: SELECT, UPDATE (collected)",
        "saldo_ledger usage_record: INSERT, SELECT",
        "saldo_request account: SELECT",
        "saldo_request hold: SELECT",
        "saldo_request usage_record: SELECT",
        "saldo_seed account: SELECT, UPDATE (posted)",
        "saldo_seed posting: INSERT",
        "saldo_seed top_up: INSERT",
        "saldo_seed usage_record: INSERT",
        "saldo_serve account: INSERT (id, cell), SELECT, UPDATE",
        "saldo_serve account_seal: INSERT, SELECT",
        "saldo_serve fee_schedule: INSERT (id, merchant_id, currency_code, version, flat, rate, min, max), SELECT",
        "saldo_serve hold: DELETE, INSERT, SELECT, UPDATE",
        "saldo_serve house_seal: INSERT, SELECT",
        "saldo_serve late_usage: INSERT, SELECT",
        "saldo_serve merchant_fund: INSERT (merchant_id, asset, id, account_id), SELECT, UPDATE (posted, held)",
        "saldo_serve operator_action: INSERT (id, operator, action, subject, reason, facts), SELECT",
        "saldo_serve operator_setting: INSERT (name, version, value), SELECT",
        "saldo_serve payment_event: INSERT, SELECT",
        "saldo_serve posting: INSERT, SELECT",
        "saldo_serve proof_node: INSERT, SELECT",
        "saldo_serve proof_place: INSERT, SELECT",
        "saldo_serve proof_root: INSERT, SELECT",
        "saldo_serve proof_window: INSERT, SELECT",
        "saldo_serve receivable: INSERT, SELECT, UPDATE",
        "saldo_serve top_up: INSERT, SELECT, UPDATE",
        "saldo_serve transfer: INSERT, SELECT, UPDATE (status, awaits_approval, transaction_hash, confirmations, reason, updated_at, confirmed_at)",
        "saldo_serve transfer_event: INSERT, SELECT",
        "saldo_serve usage_record: INSERT, SELECT",
      ]
    `);
  });

  test("are members of no other role, and have no power over the server", async () => {
    const { rows } = await owner.query(MEMBERSHIPS);
    expect(rows).toEqual([
      { role: "saldo_ledger", login: false, powers: false, memberships: 0 },
      { role: "saldo_request", login: true, powers: false, memberships: 0 },
      { role: "saldo_seed", login: false, powers: false, memberships: 0 },
      { role: "saldo_serve", login: true, powers: false, memberships: 0 },
    ]);
  });

  test("run these functions with the rights of another one, which is no superuser's where requests call them", async () => {
    const { rows } = await owner.query<{ name: string; owner: string; callers: string; path: string }>(DEFINERS);
    expect(rows.map(({ name, callers, ...by }) => `${name} as ${by.owner}, ${by.path}: ${callers}`))
      .toMatchInlineSnapshot(`
        [
          "admit_request as saldo_ledger, search_path=pg_catalog, public, pg_temp: saldo_request, saldo_serve",
          "admit_request_once as saldo_ledger, search_path=pg_catalog, public, pg_temp: saldo_request, saldo_serve",
          "commit_requests as saldo_ledger, search_path=pg_catalog, public, pg_temp: saldo_request, saldo_serve",
          "ensure_usage_partitions as schema owner, search_path=pg_catalog, public: saldo_serve",
          "forget_callbacks as schema owner, search_path=pg_catalog: saldo_serve",
          "forget_security_events as schema owner, search_path=pg_catalog: saldo_serve",
          "forget_webhooks as schema owner, search_path=pg_catalog: saldo_serve",
          "lock_free_accounts as saldo_ledger, search_path=pg_catalog, public, pg_temp: saldo_request, saldo_serve",
          "oldest_snapshot_seconds as schema owner, search_path=pg_catalog: saldo_serve",
          "post_late_usage as saldo_ledger, search_path=pg_catalog, public, pg_temp: saldo_request, saldo_serve",
          "require_code as schema owner, search_path=pg_catalog: saldo_serve",
          "settle_request as saldo_ledger, search_path=pg_catalog, public, pg_temp: saldo_request, saldo_serve",
          "standby_position as schema owner, search_path=pg_catalog: saldo_serve",
          "synchronous_standbys as schema owner, search_path=pg_catalog: saldo_request, saldo_serve",
          "write_ahead_log_bytes as schema owner, search_path=pg_catalog: saldo_serve",
        ]
      `);
  });

  test.each([
    ["opens no account with a balance", "INSERT INTO account (id, posted) VALUES (gen_random_uuid(), 5000000)"],
    [
      "opens no fund with a balance",
      "INSERT INTO merchant_fund (merchant_id, account_id, asset, id, posted) VALUES (gen_random_uuid(), gen_random_uuid(), 'BTC/8', gen_random_uuid(), 5)",
    ],
    ["gives a fund to no other merchant", "UPDATE merchant_fund SET merchant_id = gen_random_uuid()"],
    [
      "writes no past into the operators' log",
      "INSERT INTO operator_action (id, operator, action, done_at) VALUES (gen_random_uuid(), 'olga', 'account credit', now() - interval '1 day')",
    ],
    [
      "sets nothing in the past",
      "INSERT INTO operator_setting (name, version, value, set_at) VALUES ('welcome_credit', 1, '5000000', now() - interval '1 day')",
    ],
    [
      "prices nothing in the past",
      "INSERT INTO fee_schedule (id, version, flat, rate, created_at) VALUES (gen_random_uuid(), 9, '0', '0', now() - interval '1 day')",
    ],
  ])("the serving role %s", async (_, statement) => {
    expect(await opened.database.pool.query(statement).then(() => "done", sqlState)).toBe(PERMISSION_DENIED);
  });
});
