// A migrated database of its own for each test file, in some ten milliseconds.

import { randomBytes } from "node:crypto";
import { inject } from "vitest";
import { openDatabase } from "../../src/database/database.ts";
import type { Database } from "../../src/database/database.ts";
import { onServer, urlOfDatabase } from "./test-servers.ts";
import type { TestBackend } from "./test-servers.ts";

/** A database that only one test file uses. */
export type TestDatabase = {
  readonly database: Database;
  /** The URL of the owner's login: for openDatabase in this or another process, or for DATABASE_URL of a child. */
  readonly url: string;
  /** Closes `database`, ends all remaining connections, and removes everything. */
  drop(): Promise<void>;
};

/** The servers of this run. Money tests run on each: `describe.each(testBackends())`. */
export function testBackends(): TestBackend[] {
  return inject("testServers").map(({ backend }) => backend);
}

/** The URL of the same database for the login of the request path, on a server that trusts its tests. */
export function requestUrlOf(url: string): string {
  return url.replace(/\/\/[^@/]*@/, "//saldo_request@");
}

/** Makes a database for one test file, with the schema and without a row. */
export async function createTestDatabase({
  backend = "embedded",
}: { backend?: TestBackend } = {}): Promise<TestDatabase> {
  const server = inject("testServers").find((each) => each.backend === backend);
  if (server === undefined) throw new Error(`this test run has no ${backend} server`);
  const name = `saldo_test_${randomBytes(6).toString("hex")}`;
  await onServer(server.url, `CREATE DATABASE ${name} TEMPLATE ${server.template} STRATEGY file_copy`);
  const url = urlOfDatabase(server.url, name);
  const database = await openDatabase({ url, requestUrl: requestUrlOf(url), dataDir: "" });
  return {
    database,
    url,
    async drop() {
      await database.close();
      await onServer(server.url, `DROP DATABASE ${name} WITH (FORCE)`);
    },
  };
}
