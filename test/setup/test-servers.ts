// The servers a test run works on, and the database on each that the test databases are copies of.

import { createHash } from "node:crypto";
import { readFile, readdir } from "node:fs/promises";
import type { QueryResult } from "pg";
import { clientConfig, withClient } from "../../src/database/connections.ts";
import { migrate } from "../../src/database/migrate.ts";

/** Where money tests run: on the embedded server always, on an external one when DATABASE_URL names it. */
export type TestBackend = "embedded" | "external";

/** A server of this run, by the URL of a login that may create databases and roles. */
export type TestServer = { readonly backend: TestBackend; readonly url: string };

const MIGRATIONS = new URL("../../src/database/migrations/", import.meta.url);

/** The URL of another database on the same server. */
export function urlOfDatabase(url: string, database: string): string {
  return url.replace(/^([a-z]+:\/\/[^/]*)\/[^?]*/, `$1/${database}`);
}

/** The name of the migrated database that copies are made of; it changes whenever a migration does. */
export async function templateName(): Promise<string> {
  const digest = createHash("sha256");
  for (const file of (await readdir(MIGRATIONS)).toSorted()) digest.update(await readFile(new URL(file, MIGRATIONS)));
  return `saldo_test_template_${digest.digest("hex").slice(0, 12)}`;
}

/** Runs one statement as the login of the server. */
export async function onServer(url: string, sql: string): Promise<QueryResult> {
  return withClient(clientConfig({ connectionString: url }, "saldo test"), (client) => client.query(sql));
}

/** Makes the migrated database that copies are made of. */
export async function prepareTemplate({ url }: TestServer): Promise<void> {
  const name = await templateName();
  const exists = await onServer(url, `SELECT FROM pg_database WHERE datname = '${name}'`);
  if (exists.rowCount === 0) await onServer(url, `CREATE DATABASE ${name}`);
  await migrate(clientConfig({ connectionString: urlOfDatabase(url, name) }, "saldo test"));
}
