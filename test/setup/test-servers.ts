// The servers a test run works on, and the database on each that the test databases are copies of.

import type { QueryResult } from "pg";
import { clientConfig, withClient } from "../../src/database/connections.ts";
import { migrate } from "../../src/database/migrate.ts";

/** Where money tests run: on the embedded server always, on an external one when DATABASE_URL names it. */
export type TestBackend = "embedded" | "external";

/** A server of this run, by the URL of a login that may create databases and roles, and its migrated database. */
export type TestServer = { readonly backend: TestBackend; readonly url: string; readonly template: string };

/** The URL of another database on the same server. */
export function urlOfDatabase(url: string, database: string): string {
  return url.replace(/^([a-z]+:\/\/[^/]*)\/[^?]*/, `$1/${database}`);
}

/** Runs one statement as the login of the server. */
export async function onServer(url: string, sql: string): Promise<QueryResult> {
  return withClient(clientConfig({ connectionString: url }, "saldo test"), (client) => client.query(sql));
}

/** Makes the migrated database that copies are made of. */
export async function prepareTemplate({ url, template }: TestServer): Promise<void> {
  await dropTemplate({ url, template });
  await onServer(url, `CREATE DATABASE ${template}`);
  await migrate(clientConfig({ connectionString: urlOfDatabase(url, template) }, "saldo test"));
}

/** Removes it again. */
export async function dropTemplate({ url, template }: Pick<TestServer, "url" | "template">): Promise<void> {
  await onServer(url, `DROP DATABASE IF EXISTS ${template} WITH (FORCE)`);
}
