// The doctor beside an embedded database: while it runs, while it does not, and with a password that is wrong.

import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { withOwner } from "../../src/database/database.ts";
import { type EmbeddedPostgres, startEmbeddedPostgres } from "../../src/database/embedded/embedded-postgres.ts";
import { makeDataDir, removeDataDir, until } from "../setup/own-server.ts";
import { saldoJson } from "../setup/saldo-command.ts";
import { diagnose } from "./doctor-findings.ts";

let dataDir: string;
let server: EmbeddedPostgres;
beforeAll(async () => {
  dataDir = await makeDataDir();
  server = await startEmbeddedPostgres({ dataDir });
}, 60_000);
afterAll(async () => {
  await server.stop({ evenWithClients: true });
  await removeDataDir(dataDir);
});

it("an embedded database is looked at where it runs, and its schema is left as it is", async () => {
  const fresh = await diagnose({ SALDO_DATA_DIR: dataDir });
  expect(fresh.of("database").finding).toMatch(/^PostgreSQL 18\.\d+ answers from the data folder$/);
  expect(fresh.of("schema").finding).toBe("there is none yet; the first start makes it");
  await saldoJson(["migrate"], { SALDO_DATA_DIR: dataDir });
  const migrated = await diagnose({ SALDO_DATA_DIR: dataDir });
  expect(migrated.code).toBe(0);
  expect(migrated.of("schema").finding).toMatch(/^is up to date/);
  expect(migrated.of("proof key").finding).toBe("there is none yet; the first sealed day makes one");
});

it("a wrong password is named as what it is, and not printed", async () => {
  await withOwner({ dataDir }, async (client) => {
    await client.query("CREATE ROLE visitor LOGIN PASSWORD 'a-password-that-is-right'");
    await writeFile(join(dataDir, "postgres", "pg_hba.conf"), "local all all scram-sha-256\n");
    await client.query("SELECT pg_reload_conf()");
  });
  const asVisitor = (password: string) =>
    diagnose({
      DATABASE_URL: `postgres://visitor:${password}@localhost/postgres?host=${encodeURIComponent(server.host)}`,
      SALDO_DATA_DIR: dataDir,
    });
  // The server reads its rules again a moment later.
  await until(async () => !(await asVisitor("a-password-that-is-wrong")).stdout.includes("peer"));
  const { code, stdout, of } = await asVisitor("a-password-that-is-wrong");
  expect(code).toBe(1);
  expect(of("database")).toMatchObject({
    state: "failed",
    finding: 'refuses the login: password authentication failed for user "visitor"',
    advice: "Set user and password in DATABASE_URL.",
  });
  expect(stdout).not.toContain("a-password");
});

it("an embedded database that does not run is a warning, and is not started", async () => {
  await server.stop({ evenWithClients: true });
  const { code, of } = await diagnose({ SALDO_DATA_DIR: dataDir });
  expect(code).toBe(0);
  expect(of("database")).toMatchObject({ state: "warning", advice: "Start the service, and ask again." });
  await expect(withOwner({ dataDir }, async () => {})).rejects.toThrow(/ENOENT|ECONNREFUSED/);
});
