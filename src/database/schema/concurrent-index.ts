// An index that is made while others write. It takes no lock that they would wait for, so it waits as long as it must.

import type { Client } from "pg";
import { invariant } from "../../kernel/invariant.ts";
import { readMigration, recordMigration } from "../migrations/migration-file.ts";
import type { Migration, SchemaCode } from "../migrations/migrations.ts";

const INDEX = /CREATE (?:UNIQUE )?INDEX CONCURRENTLY (\w+)/;
const IS_VALID = `SELECT indisvalid AS "isValid" FROM pg_index WHERE indexrelid = to_regclass($1)`;

/** Makes the index of a change. One that an earlier try left behind unfinished is dropped first; a finished one is kept. */
export async function applyConcurrently(client: Client, migration: Migration, code: SchemaCode): Promise<void> {
  const text = await readMigration(migration, code);
  const index = INDEX.exec(text)?.[1];
  invariant(index !== undefined, "a concurrent change makes an index");
  const { rows } = await client.query<{ isValid: boolean }>(IS_VALID, [index]);
  if (rows[0]?.isValid === false) await client.query(`DROP INDEX CONCURRENTLY ${index}`);
  if (rows[0]?.isValid !== true) await client.query(text);
  await recordMigration(client, migration);
}
