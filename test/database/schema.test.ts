// The schema that one reads is the schema that a fresh database has.

import { expect, test } from "vitest";
import { clientConfig, withClient } from "../../src/database/connections.ts";
import { schemaText } from "../setup/schema-text.ts";
import { createTestDatabase } from "../setup/test-database.ts";

test("src/database/schema.sql is the schema of a fresh database", async () => {
  const opened = await createTestDatabase();
  const text = await withClient(clientConfig({ connectionString: opened.url }, "test"), schemaText);
  await opened.drop();
  await expect(text).toMatchFileSnapshot("../../src/database/schema.sql");
});
