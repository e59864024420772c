// The files of changes, and the row that records an applied one.

import { readdir, readFile } from "node:fs/promises";
import type { Client } from "pg";
import { labelOf, type Migration, type SchemaCode } from "./migrations.ts";

/** The text of a change. */
export function readMigration(migration: Migration, { migrationsFolder }: SchemaCode): Promise<string> {
  return readFile(new URL(`${labelOf(migration)}.sql`, migrationsFolder), "utf8");
}

/** The files of the baseline by their names, in order. */
export async function readBaseline(
  migration: Migration,
  { migrationsFolder }: SchemaCode,
): Promise<Map<string, string>> {
  const folder = new URL(`${labelOf(migration)}/`, migrationsFolder);
  const names = (await readdir(folder)).toSorted();
  return new Map(
    await Promise.all(
      names.map(async (name): Promise<[string, string]> => [name, await readFile(new URL(name, folder), "utf8")]),
    ),
  );
}

/** Records a change. The key keeps two starts from applying it both, should one have lost its lock. */
export async function recordMigration(client: Client, { number, name, oldestCode }: Migration): Promise<void> {
  await client.query("INSERT INTO schema_change (number, name, oldest_code) VALUES ($1, $2, $3)", [
    number,
    name,
    oldestCode,
  ]);
}
