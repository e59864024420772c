// The schema that one reads is the schema that a fresh database has.

import { readdirSync } from "node:fs";
import { expect, test } from "vitest";
import { clientConfig, withClient } from "../../src/database/connections.ts";
import { labelOf, schemaCode } from "../../src/database/migrations/migrations.ts";
import { schemaText } from "../setup/schema-text.ts";
import { createTestDatabase } from "../setup/test-database.ts";

test("src/database/schema.sql is the schema of a fresh database", async () => {
  const opened = await createTestDatabase();
  const text = await withClient(clientConfig({ connectionString: opened.url }, "test"), schemaText);
  await opened.drop();
  await expect(text).toMatchFileSnapshot("../../src/database/schema.sql");
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
