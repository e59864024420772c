import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { clientConfig, withClient } from "../../src/database/connections.ts";
import { SaldoProcess, runSaldo } from "../setup/saldo-process.ts";
import { createTestDatabase } from "../setup/test-database.ts";
import type { TestDatabase } from "../setup/test-database.ts";

const RECORDER = new URL("../setup/record-imports.ts", import.meta.url).href;
/** What applies changes of the schema, and what no process that serves may load. */
const APPLIES = /\/src\/database\/schema\/apply\.ts$/;
const MIKRO_ORM = /\/node_modules\/(@mikro-orm\/|mikro-orm\/)/;
const PG = /\/node_modules\/pg\//;

let opened: TestDatabase;
let folder: string;
let settings: Readonly<Record<string, string>>;
beforeAll(async () => {
  opened = await createTestDatabase();
  folder = await mkdtemp(join(tmpdir(), "saldo-imports-"));
  settings = {
    DATABASE_URL: opened.url,
    SALDO_DATA_DIR: folder,
    SALDO_TEST_IMPORTS: join(folder, "imports"),
    NODE_OPTIONS: `--import=${RECORDER}`,
  };
});
afterAll(async () => {
  await opened.drop();
  await rm(folder, { recursive: true });
});

async function loadedModules(of: RegExp): Promise<string[]> {
  return (await readFile(join(folder, "imports"), "utf8")).split("\n").filter((url) => of.test(url));
}

test("a process that serves on an up-to-date schema loads nothing that applies changes", async () => {
  const saldo = await SaldoProcess.start(settings);
  expect(await saldo.stop()).toBe(0);
  expect(await loadedModules(PG)).not.toEqual([]);
  expect(await loadedModules(APPLIES)).toEqual([]);
  expect(await loadedModules(MIKRO_ORM)).toEqual([]);
});

test("a command on an up-to-date schema loads nothing that applies changes, and one that has to migrate does", async () => {
  const command = ["account", "create", "--email", "lazy@saldo.example"];
  expect(await runSaldo(command, settings)).toMatchObject({ code: 0 });
  expect(await loadedModules(PG)).not.toEqual([]);
  expect(await loadedModules(APPLIES)).toEqual([]);
  await withClient(clientConfig({ connectionString: opened.url }, "test"), (owner) =>
    owner.query("DROP SCHEMA auth, public CASCADE; CREATE SCHEMA public"),
  );
  expect(await runSaldo(command, settings)).toMatchObject({ code: 0 });
  expect(await loadedModules(APPLIES)).toHaveLength(1);
});
