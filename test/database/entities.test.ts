// The entities are the shape of the tables: the ORM's own diff against a fresh database finds nothing to change.

import { MikroORM, type EntitySchema, defineEntity, p } from "@mikro-orm/postgresql";
import { PostgresDialect } from "kysely";
import { afterAll, beforeAll, expect, test } from "vitest";
import { entities } from "../../src/database/entities/entities.ts";
import { clientConfig, withClient } from "../../src/database/connections.ts";
import { mapping } from "../../src/database/orm-loaded.ts";
import { createTestDatabase } from "../setup/test-database.ts";
import type { TestDatabase } from "../setup/test-database.ts";

/** Entities cannot express these. The test drops them in its copy first; `schema.sql` has them, and schema.test.ts compares it. */
const SET_ASIDE = {
  // The ORM would compare the text of a condition, which PostgreSQL rewrites.
  partial: [
    "account_elsewhere account_invite_received account_owed alert_event_mail api_key_playground audit_checkpoint_open auth.person_unverified",
    "auth.security_event_email",
    "auth.security_event_person auto_top_up_notice_due auto_top_up_on callback_delivery_due callback_delivery_leased low_balance_alert_due",
    "operator_order_pending payment_method_one payout_attempt_final payout_living payout_lost payout_open payout_recheck",
    "posting_credit posting_debit posting_house_late posting_late posting_reference receivable_open receivable_owed",
    "sandbox_transaction_holder sandbox_transaction_mempool top_up_attention top_up_due top_up_one_automatic_open top_up_unreceipted transfer_open",
    "usage_record_late webhook_delivery_due webhook_delivery_leased",
  ].flatMap((names) => names.split(" ")),
  // An index on an expression has no property.
  expression: ["customer_email", "fee_schedule_version"],
  // Entities know no order of an index.
  descending: ["callback_delivery_of_merchant", "transfer_of_merchant", "webhook_delivery_of_account"],
  // The ORM reads a BRIN index as a B-tree.
  otherMethod: ["usage_record_request"],
};

const INDEXES = `
SELECT indexrelid::regclass::text AS name,
  CASE WHEN indpred IS NOT NULL THEN 'partial' WHEN indexprs IS NOT NULL THEN 'expression'
       WHEN 3 = ANY (indoption::int2[]) THEN 'descending' WHEN amname <> 'btree' THEN 'otherMethod' END AS kind
FROM pg_index JOIN pg_class c ON c.oid = indexrelid JOIN pg_am ON pg_am.oid = c.relam
WHERE c.relnamespace IN ('public'::regnamespace, 'auth'::regnamespace) AND NOT c.relispartition ORDER BY indexrelid::regclass::text COLLATE "C"`;
const CHECKS = `
SELECT format('ALTER TABLE %s DROP CONSTRAINT %I', conrelid::regclass, conname) AS drop FROM pg_constraint
WHERE contype = 'c' AND conrelid <> 0 AND coninhcount = 0 AND connamespace IN ('public'::regnamespace, 'auth'::regnamespace)`;

let opened: TestDatabase;
let setAside: Record<string, string[]>;
beforeAll(async () => {
  opened = await createTestDatabase();
  setAside = await withClient(clientConfig({ connectionString: opened.url }, "test"), async (owner) => {
    const indexes = (await owner.query<{ name: string; kind: string | null }>(INDEXES)).rows.filter(({ kind }) => kind);
    const checks = (await owner.query<{ drop: string }>(CHECKS)).rows.map(({ drop }) => drop);
    for (const drop of [...checks, ...indexes.map(({ name }) => `DROP INDEX ${name}`)]) await owner.query(drop);
    const byKind = Object.groupBy(indexes, ({ kind }) => kind ?? "");
    return Object.fromEntries(Object.entries(byKind).map(([kind, of]) => [kind, (of ?? []).map(({ name }) => name)]));
  });
});
afterAll(async () => {
  await opened.drop();
});

async function differences(replaced: Readonly<Record<string, EntitySchema>> = {}): Promise<string> {
  const orm = new MikroORM({
    ...mapping,
    entities: Object.values({ ...entities, ...replaced }) as EntitySchema[],
    dbName: new URL(opened.url).pathname.slice(1),
    driverOptions: new PostgresDialect({ pool: opened.database.pool }),
    // Months are partitions of the table.
    schemaGenerator: { ...mapping.schemaGenerator, skipTables: [/^usage_record_/] },
  });
  return orm.schema.getUpdateSchemaSQL({ wrap: false });
}

test("the entities are the tables, columns, keys and indexes of a fresh database", async () => {
  expect(await differences()).toBe("");
});

test("the indexes that entities cannot express are those of the list", () => {
  expect(setAside).toEqual(SET_ASIDE);
});

test("a column that an entity does not have is a difference, and so is one of another type", async () => {
  const name = "OperatorSetting";
  const properties = { name: p.text().primary(), version: p.bigint().primary().autoincrement(false) };
  const planted = defineEntity({ name, tableName: "operator_setting", properties });
  const found = await differences({ OperatorSetting: planted as unknown as EntitySchema });
  expect(found).toContain('alter table "operator_setting" drop column "value"');
  expect(found).toContain('alter column "version" type bigint');
});
