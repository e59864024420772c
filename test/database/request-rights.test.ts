// The login of the request path cannot mint: whatever a session of it tries, PostgreSQL refuses.

import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Client } from "pg";
import { clientConfig, connectClient } from "../../src/database/connections.ts";
import { sqlState } from "../../src/database/transactions.ts";
import { MoneySetup } from "../money/money-setup.ts";
import { requestUrlOf, testBackends } from "../setup/test-database.ts";

const PERMISSION_DENIED = "42501";
const SOME = "gen_random_uuid()";
const POSTING = `(account_id, id, group_id, asset, debit, credit, amount, reason)
  VALUES ($ACCOUNT, ${SOME}, ${SOME}, 'IDR/6', ${SOME}, $ACCOUNT, 5000000, 'credit')`;

/** Ways to money. $ACCOUNT is an account with a balance, $KEY a key of it. */
const MINTING: readonly (readonly [what: string, statement: string])[] = [
  ["inserts a posting", `INSERT INTO posting ${POSTING}`],
  [
    "inserts a posting behind a query",
    `WITH minted AS (INSERT INTO posting ${POSTING} RETURNING 1) SELECT FROM minted`,
  ],
  ["copies postings in", "COPY posting FROM STDIN"],
  [
    "merges into accounts",
    "MERGE INTO account a USING account b ON a.id = b.id WHEN MATCHED THEN UPDATE SET posted = 9",
  ],
  ["raises a balance", "UPDATE account SET posted = posted + 1"],
  ["frees what is held", "UPDATE account SET held = 0, open_holds = 0"],
  ["forgives a debt", "UPDATE account SET owed = 0"],
  ["thaws an account", "UPDATE account SET frozen_at = NULL, max_open_holds = 0"],
  ["locks an account", "SELECT FROM account FOR NO KEY UPDATE"],
  ["opens an account", `INSERT INTO account (id) VALUES (${SOME})`],
  ["deletes an account", "DELETE FROM account"],
  [
    "places a hold of its own",
    `INSERT INTO hold (account_id, id, owner, amount) VALUES ($ACCOUNT, ${SOME}, ${SOME}, 1)`,
  ],
  ["changes a hold", "UPDATE hold SET amount = 0"],
  ["deletes a hold", "DELETE FROM hold"],
  ["empties a table", "TRUNCATE hold"],
  [
    "writes a usage record",
    `INSERT INTO usage_record (account_id, request_id, cost, charge) VALUES ($ACCOUNT, ${SOME}, 0, 0)`,
  ],
  [
    "writes past the partitions",
    `INSERT INTO usage_record_default (account_id, request_id, cost, charge) VALUES ($ACCOUNT, ${SOME}, 0, 0)`,
  ],
  ["changes a bill", "UPDATE usage_record SET charge = 0"],
  [
    "writes late usage",
    `INSERT INTO late_usage (account_id, request_id, cost, charge) VALUES ($ACCOUNT, ${SOME}, 0, 0)`,
  ],
  ["writes a receivable off", "UPDATE receivable SET collected = amount"],
  ["pays a top-up", "UPDATE top_up SET state = 'paid'"],
  ["records a payment", "INSERT INTO payment_event DEFAULT VALUES"],
  ["fills a merchant's fund", "UPDATE merchant_fund SET posted = posted + 1"],
  ["makes a transfer", "INSERT INTO transfer DEFAULT VALUES"],
  [
    "acts as an operator",
    `INSERT INTO operator_action (id, operator, action) VALUES (${SOME}, 'olga', 'account credit')`,
  ],
  [
    "sets the welcome credit",
    "INSERT INTO operator_setting (name, version, value) VALUES ('welcome_credit', 9, '5000000')",
  ],
  ["makes models free", "UPDATE catalog_model SET input_price = 0"],
  ["issues a key", `INSERT INTO api_key (account_id, id) VALUES ($ACCOUNT, ${SOME})`],
  ["lifts the budget of a key", "UPDATE api_key SET budget = NULL, budget_spent = 0"],
  ["revives a key", "UPDATE api_key SET revoked_at = NULL"],
  ["lifts the budget of a member", "UPDATE member_budget SET budget_spent = 0"],
  ["buries a process", "UPDATE process SET dead_at = now()"],
  ["lets old code run", "UPDATE schema_change SET oldest_code = 1"],
];
/** Functions that are not for requests. They run with the caller's rights, or are not the caller's to run. */
const FUNCTIONS: readonly (readonly [what: string, statement: string])[] = [
  ["lock_accounts", "SELECT FROM lock_accounts(ARRAY[$ACCOUNT])"],
  ["collect_owed", `SELECT collect_owed($ACCOUNT, ${SOME})`],
  ["charge_budget", `SELECT charge_budget($ACCOUNT, ${SOME}, 0, -5000000)`],
  ["charge_member_budget", `SELECT charge_member_budget($ACCOUNT, ${SOME}, 0, -5000000)`],
  ["count_tokens", `SELECT count_tokens($ACCOUNT, ${SOME}, 0, -5)`],
  ["set_key_budget", `SELECT set_key_budget($ACCOUNT, $KEY, NULL, NULL)`],
  ["set_budget_zone", "SELECT set_budget_zone($ACCOUNT, 'Asia/Jayapura')"],
  ["set_member_budget", `SELECT set_member_budget($ACCOUNT, ${SOME}, NULL, NULL)`],
  ["recount_key_budgets", "SELECT recount_key_budgets($ACCOUNT)"],
  ["require_code", "SELECT require_code('baseline')"],
  ["ensure_usage_partitions", "SELECT ensure_usage_partitions('2020-01-01', 1)"],
  ["file_stray_usage", "SELECT file_stray_usage()"],
  ["forget_callbacks", "SELECT forget_callbacks(0, 100)"],
];
/** Ways to more rights. */
const ESCAPES: readonly (readonly [what: string, statement: string])[] = [
  ["becomes the serving role", "SET ROLE saldo_serve"],
  ["becomes the owner of the functions", "SET ROLE saldo_ledger"],
  ["becomes the role of made-up pasts", "SET ROLE saldo_seed"],
  [
    "becomes the owner of the schema",
    "SELECT set_config('role', (SELECT tableowner FROM pg_tables WHERE tablename = 'posting'), false)",
  ],
  ["takes another login", "SET SESSION AUTHORIZATION saldo_serve"],
  ["joins the owner of the functions", "GRANT saldo_ledger TO saldo_request"],
  ["makes itself a superuser", "ALTER ROLE saldo_request SUPERUSER"],
  ["sets another login's password", "ALTER ROLE saldo_serve PASSWORD 'known'"],
  ["makes a role", "CREATE ROLE minter"],
  ["grants itself postings", "GRANT INSERT ON posting TO saldo_request"],
  ["silences triggers", "SET session_replication_role = replica"],
  ["disables triggers", "ALTER TABLE posting DISABLE TRIGGER ALL"],
  ["drops a check", "ALTER TABLE account DROP CONSTRAINT account_never_negative"],
  ["adds a trigger", "CREATE TRIGGER mint BEFORE UPDATE ON account FOR EACH ROW EXECUTE FUNCTION refuse_change()"],
  ["rewrites a query", "CREATE RULE mint AS ON UPDATE TO account DO INSTEAD NOTHING"],
  [
    "makes a function",
    "CREATE FUNCTION public.least(bigint, bigint) RETURNS bigint LANGUAGE sql AS 'SELECT 9::bigint'",
  ],
  ["makes a function in the catalog", "CREATE FUNCTION pg_catalog.mint() RETURNS int LANGUAGE sql AS 'SELECT 9'"],
  ["makes an operator", "CREATE OPERATOR public.- (LEFTARG = bigint, RIGHTARG = bigint, FUNCTION = int8pl)"],
  ["makes a table", "CREATE TABLE public.minted (id int)"],
  ["makes a schema", "CREATE SCHEMA minted"],
  ["makes an extension", "CREATE EXTENSION dblink"],
  ["replaces the settlement", "DROP FUNCTION settle_request"],
  ["takes the settlement's guard off", "ALTER FUNCTION settle_request RESET search_path"],
  ["takes the settlement over", "ALTER FUNCTION settle_request OWNER TO saldo_request"],
  ["chooses how names are read in functions", "SET plpgsql.variable_conflict = 'use_column'"],
  ["runs a program", "COPY account TO PROGRAM 'cat'"],
  ["reads a file", "SELECT pg_read_file('PG_VERSION')"],
  ["changes the server", "ALTER SYSTEM SET fsync = off"],
  ["locks a table", "DO $$ BEGIN LOCK TABLE account IN SHARE MODE; END $$"],
  ["reads people", "SELECT FROM customer"],
  ["reads sessions", "SELECT FROM auth.session"],
  ["reads what cookies are signed with", "SELECT secret FROM auth.signing_secret"],
];
const RIGHTS = `
SELECT name || ': ' || string_agg(privilege || coalesce(' ' || columns, ''), ', ' ORDER BY privilege) AS right FROM (
  SELECT c.relname AS name, privilege_type AS privilege, NULL AS columns FROM pg_class c, aclexplode(c.relacl) WHERE grantee = 'saldo_request'::regrole
  UNION ALL
  SELECT a.attrelid::regclass::text, privilege_type, '(' || string_agg(attname, ', ' ORDER BY attnum) || ')'
  FROM pg_attribute a, aclexplode(attacl) WHERE grantee = 'saldo_request'::regrole GROUP BY 1, 2
  UNION ALL
  SELECT p.proname, privilege_type, NULL FROM pg_proc p, aclexplode(p.proacl) WHERE grantee = 'saldo_request'::regrole
  UNION ALL
  SELECT 'schema ' || nspname, privilege_type, NULL FROM pg_namespace, aclexplode(nspacl) WHERE grantee = 'saldo_request'::regrole
) granted GROUP BY name ORDER BY name`;
const BALANCES = "SELECT id, posted, held, owed, open_holds FROM account ORDER BY id";

describe.each(testBackends())("a session of the request login on the %s server", (backend) => {
  let setup: MoneySetup;
  let client: Client;
  let account: string;
  let key: string;
  beforeAll(async () => {
    setup = await MoneySetup.create(backend);
    account = await setup.account(5_000_000n);
    key = await setup.key(account);
    client = await connectClient(clientConfig({ connectionString: requestUrlOf(setup.opened.url) }, "test"));
  });
  afterAll(async () => {
    await client.end();
    await setup.close();
  });

  test.each([...MINTING, ...FUNCTIONS, ...ESCAPES])("is refused where it %s", async (_, statement) => {
    const before = await setup.asOwner(BALANCES);
    const text = statement.replaceAll("$ACCOUNT", `'${account}'::uuid`).replaceAll("$KEY", `'${key}'::uuid`);
    expect(await client.query(text).then(() => "done", sqlState)).toBe(PERMISSION_DENIED);
    const { rows } = await client.query("SELECT session_user AS login, current_user AS role");
    expect(rows).toEqual([{ login: "saldo_request", role: "saldo_request" }]);
    expect(await setup.asOwner(BALANCES)).toEqual(before);
  });

  test("may do this, and nothing else", async () => {
    const rights = await setup.asOwner(RIGHTS);
    expect((rights as { right: string }[]).map(({ right }) => right)).toMatchInlineSnapshot(`
      [
        "account: SELECT",
        "admission_switch: SELECT",
        "admit_request: EXECUTE",
        "admit_request_once: EXECUTE",
        "api_key: SELECT, UPDATE (slots, slot_counts)",
        "catalog_model: SELECT",
        "catalog_upstream: SELECT",
        "commit_requests: EXECUTE",
        "hold: SELECT",
        "idempotency_key: DELETE, SELECT",
        "kept_answer: INSERT, SELECT",
        "lock_free_accounts: EXECUTE",
        "post_late_usage: EXECUTE",
        "schema public: USAGE",
        "settle_request: EXECUTE",
        "synchronous_standbys: EXECUTE",
        "usage_kept: SELECT",
        "usage_record: SELECT",
      ]
    `);
  });

  test("gets nothing by a grant that PostgreSQL only warns of", async () => {
    await client.query("GRANT UPDATE, INSERT ON account TO saldo_request");
    expect(await client.query("UPDATE account SET posted = 9").then(() => "done", sqlState)).toBe(PERMISSION_DENIED);
  });
});
