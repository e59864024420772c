// A change of the schema takes nothing from the version before, which runs beside it and is started again when a deploy is taken back.
// Each change is applied to a database of its predecessor, and the catalogs of both are compared.

import { readFile } from "node:fs/promises";
import type { Client, ClientConfig } from "pg";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { clientConfig, connectClient } from "../../src/database/connections.ts";
import { migrate } from "../../src/database/migrate.ts";
import { labelOf, schemaCode } from "../../src/database/migrations/migrations.ts";
import { createTestDatabase, type TestDatabase } from "../setup/test-database.ts";

/** What a change took or blocked although it only expands, and why that was right. */
const REVIEWED: Readonly<Record<string, readonly string[]>> = {
  // The version before forgets no lines until it is replaced.
  "0002-kept-security-log": ["takes the right of saldo_serve to DELETE auth.security_event"],
  // A trigger fills the column in for the version before. Merchants have a few funds each.
  "0003-fund-account": [
    "checks all rows of merchant_fund while it is locked: FOREIGN KEY (account_id) REFERENCES account(id)",
    "requires merchant_fund.account_id",
    "changes rows in the change itself: UPDATE",
  ],
  // No version writes another column of these.
  "0027-serving-columns": [
    "takes the right of saldo_serve to INSERT account",
    "takes the right of saldo_serve to INSERT fee_schedule",
    "takes the right of saldo_serve to INSERT merchant_fund",
    "takes the right of saldo_serve to INSERT operator_action",
    "takes the right of saldo_serve to INSERT operator_setting",
    "takes the right of saldo_serve to UPDATE merchant_fund",
  ],
  // Validating holds a lock that hinders no reader and no writer, and every row that is written was checked before.
  "0046-elsewhere-empty": [
    "checks all rows of account while it is locked: CHECK (((cell IS NULL) OR ((posted = 0) AND (held = 0) AND (owed = 0) AND (open_holds = 0))))",
  ],
  // Each check is wider than the one before, and a catalog has at most a few thousand rows.
  "0005-model-kind": [
    "checks all rows of catalog_model while it is locked: CHECK (((max_output_tokens > 0) OR (kind = 'embeddings'::text)))",
    "checks all rows of catalog_model while it is locked: CHECK ((kind = ANY (ARRAY['chat'::text, 'embeddings'::text])))",
  ],
};

type Catalog = {
  readonly columns: Readonly<
    Record<string, { readonly type: string; readonly required: boolean; readonly notNull: boolean }>
  >;
  /** The file of each table's rows: another one after a rewrite. */
  readonly files: Readonly<Record<string, string>>;
  readonly rights: readonly string[];
  readonly indexes: Readonly<Record<string, string>>;
  readonly functions: readonly string[];
  /** Validated constraints: the table and the definition. */
  readonly checks: Readonly<Record<string, readonly [table: string, definition: string]>>;
};

const OURS = "relnamespace IN ('public'::regnamespace, 'auth'::regnamespace)";
const COLUMNS = `
SELECT jsonb_object_agg(c.oid::regclass || '.' || attname, jsonb_build_object('type', format_type(atttypid, atttypmod),
  'notNull', attnotnull, 'required', attnotnull AND NOT atthasdef AND attidentity = '')) AS value
FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid
WHERE ${OURS} AND relkind IN ('r', 'p', 'v') AND attnum > 0 AND NOT attisdropped`;
const FILES = `SELECT jsonb_object_agg(oid::regclass, relfilenode::text) AS value FROM pg_class WHERE ${OURS} AND relkind = 'r'`;
const RIGHTS = `
SELECT jsonb_agg(grantee::regrole || ' to ' || what) AS value FROM (
  SELECT grantee, privilege_type || ' ' || c.oid::regclass AS what FROM pg_class c, aclexplode(relacl) WHERE ${OURS} AND grantee <> 0
  UNION ALL
  SELECT grantee, privilege_type || ' ' || c.oid::regclass || '.' || attname FROM pg_class c JOIN pg_attribute a ON attrelid = c.oid,
    aclexplode(attacl) WHERE ${OURS} AND grantee <> 0) granted`;
const INDEXES = `
SELECT jsonb_object_agg(i.indexrelid::regclass, i.indrelid::regclass) AS value
FROM pg_index i JOIN pg_class c ON c.oid = i.indrelid WHERE ${OURS}`;
const FUNCTIONS = `
SELECT jsonb_agg(oid::regprocedure || ' RETURNS ' || coalesce(pg_get_function_result(oid), '')) AS value
FROM pg_proc WHERE pronamespace IN ('public'::regnamespace, 'auth'::regnamespace)`;
const CHECKS = `
SELECT jsonb_object_agg(oid::text, jsonb_build_array(conrelid::regclass, pg_get_constraintdef(oid))) AS value FROM pg_constraint
WHERE connamespace IN ('public'::regnamespace, 'auth'::regnamespace) AND contype IN ('c', 'f') AND convalidated AND conrelid <> 0`;

async function readCatalog(client: Client): Promise<Catalog> {
  const read = async <T>(text: string): Promise<T> => (await client.query<{ value: T }>(text)).rows[0]?.value as T;
  return {
    columns: await read(COLUMNS),
    files: await read(FILES),
    rights: await read(RIGHTS),
    indexes: await read(INDEXES),
    functions: await read(FUNCTIONS),
    checks: await read(CHECKS),
  };
}

/** What the version before loses by a change, or waits for. */
function findings(before: Catalog, after: Catalog, { isConcurrent = false } = {}): string[] {
  const found: string[] = [];
  for (const [name, { type }] of Object.entries(before.columns)) {
    const now = after.columns[name]?.type;
    if (now === undefined) found.push(`drops or renames ${name}`);
    else if (now !== type) found.push(`makes ${name} ${now} instead of ${type}`);
  }
  const isOld = (table: string): boolean => before.files[table] !== undefined;
  for (const [name, { required, notNull }] of Object.entries(after.columns)) {
    const former = before.columns[name];
    const isStricter = former === undefined ? required : notNull && !former.notNull;
    if (isStricter && isOld(name.slice(0, name.lastIndexOf(".")))) found.push(`requires ${name}`);
  }
  for (const [table, file] of Object.entries(before.files)) {
    if ((after.files[table] ?? file) !== file) found.push(`rewrites ${table}`);
  }
  for (const right of before.rights) {
    if (!after.rights.includes(right)) found.push(`takes the right of ${right}`);
  }
  for (const name of before.functions) if (!after.functions.includes(name)) found.push(`drops ${name}`);
  for (const [index, table] of Object.entries(after.indexes)) {
    if (before.indexes[index] === undefined && isOld(table) && !isConcurrent)
      found.push(`makes ${index} while nobody can write`);
  }
  for (const [id, [table, definition]] of Object.entries(after.checks)) {
    if (before.checks[id] === undefined && isOld(table)) {
      found.push(`checks all rows of ${table} while it is locked: ${definition}`);
    }
  }
  return found.toSorted();
}

/** What a change does with rows itself, which locks them for as long as it takes. */
function rowsChanged(text: string): string[] {
  const statements = text
    .replaceAll(/--.*$/gm, "")
    .matchAll(/^\s*(UPDATE|DELETE|TRUNCATE|LOCK|CLUSTER|VACUUM|REINDEX)\b/gim);
  return Array.from(statements, ([, verb = ""]) => `changes rows in the change itself: ${verb.toUpperCase()}`);
}

const changes = schemaCode.migrations.slice(1).map((migration, index) => ({
  ...migration,
  label: labelOf(migration),
  before: schemaCode.migrations.slice(0, index + 1),
  isContracting: migration.oldestCode > (schemaCode.migrations[index]?.oldestCode ?? 0),
}));

describe("a change that expands", () => {
  let opened: TestDatabase;
  let config: ClientConfig;
  let owner: Client;
  beforeAll(async () => {
    opened = await createTestDatabase();
    config = clientConfig({ connectionString: opened.url }, "test");
    owner = await connectClient(config);
    await owner.query("DROP SCHEMA auth, public CASCADE; CREATE SCHEMA public");
    // The functions are those of the newest schema: their bodies name what older ones lack.
    const { rows } = await owner.query<{ name: string }>("SELECT current_database() AS name");
    await owner.query(`ALTER DATABASE ${rows[0]?.name} SET check_function_bodies = off`);
    await migrate(config, { code: { ...schemaCode, migrations: schemaCode.migrations.slice(0, 1) } });
  });
  afterAll(async () => {
    await owner.end();
    await opened.drop();
  });

  // In their order, each on the database of the one before.
  test.each(changes)(
    "takes nothing from the version before: $label",
    async ({ label, before, isContracting, ...change }) => {
      const former = await readCatalog(owner);
      await migrate(config, { code: { ...schemaCode, migrations: [...before, change] } });
      const text = await readFile(new URL(`${label}.sql`, schemaCode.migrationsFolder), "utf8");
      const found = findings(former, await readCatalog(owner), { isConcurrent: change.concurrent === true });
      const expected = isContracting ? [] : (REVIEWED[label] ?? []).toSorted();
      expect(isContracting ? [] : [...found, ...rowsChanged(text)].toSorted()).toEqual(expected);
    },
  );

  test.each([
    ["ALTER TABLE account DROP COLUMN keeps_answers", ["drops or renames account.keeps_answers"]],
    ["ALTER TABLE customer RENAME COLUMN email TO mail", ["drops or renames customer.email", "requires customer.mail"]],
    [
      "ALTER TABLE hold ALTER COLUMN progress_input_tokens TYPE bigint",
      ["makes hold.progress_input_tokens bigint instead of integer", "rewrites hold"],
    ],
    ["ALTER TABLE account ADD COLUMN name text NOT NULL", ["requires account.name"]],
    ["ALTER TABLE account ADD COLUMN at timestamptz DEFAULT clock_timestamp()", ["rewrites account"]],
    ["ALTER TABLE top_up ALTER COLUMN payment_url SET NOT NULL", ["requires top_up.payment_url"]],
    [
      "ALTER TABLE account ADD CONSTRAINT few CHECK (held < 5)",
      ["checks all rows of account while it is locked: CHECK ((held < 5))"],
    ],
    ["CREATE INDEX account_created ON account (created_at)", ["makes account_created while nobody can write"]],
    ["REVOKE UPDATE ON account FROM saldo_serve", ["takes the right of saldo_serve to UPDATE account"]],
    ["DROP FUNCTION usage_cost_of_all_kinds", [expect.stringMatching(/^drops usage_cost_of_all_kinds\(/)]],
  ])("is found out where it does not: %s", async (sql, expected) => {
    const former = await readCatalog(owner);
    await owner.query("BEGIN");
    await owner.query(sql);
    const found = findings(former, await readCatalog(owner));
    await owner.query("ROLLBACK");
    expect(found).toEqual(expected);
  });

  test.each([
    "ALTER TABLE account ADD COLUMN name text, ADD COLUMN size int NOT NULL DEFAULT 0",
    "ALTER TABLE account ADD CONSTRAINT few CHECK (held < 5) NOT VALID",
    "CREATE TABLE note (id uuid PRIMARY KEY, body text NOT NULL CHECK (body <> ''))",
    "CREATE FUNCTION one() RETURNS int LANGUAGE sql AS 'SELECT 1'",
  ])("may add: %s", async (sql) => {
    const former = await readCatalog(owner);
    await owner.query("BEGIN");
    await owner.query(sql);
    const found = findings(former, await readCatalog(owner));
    await owner.query("ROLLBACK");
    expect(found).toEqual([]);
  });
});
