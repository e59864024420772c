// The schema that one reads is the schema that a fresh database has.

import { readdirSync } from "node:fs";
import { expect, test } from "vitest";
import { clientConfig, withClient } from "../../src/database/connections.ts";
import { labelOf, schemaCode } from "../../src/database/migrations/migrations.ts";
import { schemaText } from "../setup/schema-text.ts";
import { createTestDatabase } from "../setup/test-database.ts";

/** A difference of each kind, and the line that it adds to the text or takes from it. */
const DIFFERENCES = [
  ["ALTER TABLE account ADD COLUMN extra int", "+  extra integer,"],
  ["ALTER TABLE account ALTER COLUMN owed DROP NOT NULL", "-  owed bigint NOT NULL DEFAULT 0,"],
  [
    "ALTER TABLE account DROP CONSTRAINT account_owed_not_negative",
    "-  CONSTRAINT account_owed_not_negative CHECK ((owed >= 0)),",
  ],
  ["DROP INDEX account_owed", "-CREATE INDEX account_owed ON public.account USING btree (id) WHERE (owed > 0);"],
  ["CREATE TABLE extra (id int)", "+CREATE TABLE extra ("],
  ["GRANT DELETE ON admission_switch TO saldo_serve", "-GRANT SELECT, UPDATE ON admission_switch TO saldo_serve;"],
  [
    "CREATE FUNCTION extra() RETURNS int LANGUAGE sql AS 'SELECT 1'",
    "+-- FUNCTION extra() RETURNS integer LANGUAGE sql",
  ],
] as const;

test("src/database/schema.sql is the schema of a fresh database, and any difference is found", async () => {
  const opened = await createTestDatabase();
  const [text, changed] = await withClient(clientConfig({ connectionString: opened.url }, "test"), async (client) => {
    const fresh = await schemaText(client);
    await client.query(DIFFERENCES.map(([sql]) => sql).join(";"));
    return [fresh, await schemaText(client)] as const;
  });
  await opened.drop();
  await expect(text).toMatchFileSnapshot("../../src/database/schema.sql");
  const [before, after] = [text.split("\n"), changed.split("\n")];
  const found = [
    ...after.filter((line) => !before.includes(line)).map((line) => `+${line}`),
    ...before.filter((line) => !after.includes(line)).map((line) => `-${line}`),
  ];
  expect(DIFFERENCES.map(([, line]) => line).filter((line) => !found.includes(line))).toEqual([]);
});

test("changes are numbered without a gap, each has its file, and none allows older code than the one before", () => {
  const { migrations, migrationsFolder } = schemaCode;
  expect(migrations.map(({ number }) => number)).toEqual(migrations.map((_, place) => place + 1));
  const files = readdirSync(migrationsFolder).filter((name) => /^\d/.test(name));
  const named = migrations.map((migration) =>
    migration.number === 1 ? labelOf(migration) : `${labelOf(migration)}.sql`,
  );
  expect(files.toSorted()).toEqual(named);
  const oldest = migrations.map(({ oldestCode }) => oldestCode);
  expect(oldest).toEqual(oldest.toSorted((a, b) => a - b));
  for (const { number, oldestCode } of migrations) expect(oldestCode).toBeLessThanOrEqual(number);
});
