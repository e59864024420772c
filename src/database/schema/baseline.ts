// The baseline: the whole schema of a fresh database.

import type { Client } from "pg";
import { applyFunctions, type FunctionFile } from "./function-files.ts";
import { readBaseline, recordMigration } from "../migrations/migration-file.ts";
import type { Migration, SchemaCode } from "../migrations/migrations.ts";

/** What is applied, from which code. */
export type BaselineWork = {
  readonly migration: Migration;
  readonly code: SchemaCode;
  readonly files: readonly FunctionFile[];
};

/** The file after which the functions are made: they are granted to the role, and triggers and indexes use them. */
const BEFORE_FUNCTIONS = "02-changes.sql";

/** Makes the schema of a fresh database inside the caller's transaction. */
export async function applyBaseline(client: Client, { migration, code, files }: BaselineWork): Promise<void> {
  // Functions are made before the tables that they use.
  await client.query("SET LOCAL check_function_bodies = off");
  for (const [name, text] of await readBaseline(migration, code)) {
    await client.query(text);
    if (name === BEFORE_FUNCTIONS) await applyFunctions(client, files);
  }
  await recordMigration(client, migration);
}
