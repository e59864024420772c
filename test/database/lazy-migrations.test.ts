import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { stringify } from "yaml";
import { clientConfig, withClient } from "../../src/database/connections.ts";
import { creditMerchant } from "../../src/merchant/merchants/merchants.ts";
import { chat, newCustomer } from "../app/customer.ts";
import { completion, startScriptedUpstream } from "../gateway/scripted-upstream.ts";
import { newMerchant } from "../merchant/merchant-accounts.ts";
import { runSaldoProcess, SaldoProcess } from "../setup/saldo-process.ts";
import { createTestDatabase } from "../setup/test-database.ts";
import type { TestDatabase } from "../setup/test-database.ts";

const RECORDER = new URL("../setup/record-imports.ts", import.meta.url).href;
/** The modules that apply changes of the schema, which no serving process may load. */
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

test("chats and orders of transfers load no MikroORM, and revoking a key does", async () => {
  const upstream = await startScriptedUpstream();
  try {
    const local = { id: "local", kind: "openai-compatible", base_url: upstream.baseUrl, allow_private_address: true };
    const limits = { context_length: 1_000, max_output_tokens: 100, price: { input: "1", output: "1" } };
    const model = { id: "acme/small", ...limits, routes: [{ upstream: "local", model: "small" }] };
    const file = join(folder, "catalog.yaml");
    await writeFile(file, stringify({ upstreams: [local], models: [model] }));
    expect(await runSaldoProcess(["catalog", "apply", file], settings)).toMatchObject({ code: 0 });
    expect(await loadedModules(MIKRO_ORM)).not.toEqual([]);
    const { keyId, key } = await newCustomer(settings, { amount: "1000" });
    const { merchantId, apiKey, secretKey } = await newMerchant(opened.database);
    await creditMerchant(opened.database, { merchantId, currencyCode: "TRX", amountText: "100" });

    const saldo = await SaldoProcess.start(settings);
    upstream.run((response) => {
      response.writeHead(200, { "content-type": "application/json" }).end(completion());
    });
    const body = { model: model.id, messages: [{ role: "user", content: "Hello!" }] };
    const answer = await chat(saldo.httpUrl, key, body);
    expect([answer.status, await answer.json()]).toMatchObject([200, { object: "chat.completion" }]);
    const authorization = `Basic ${Buffer.from(`${apiKey}:${secretKey}`).toString("base64")}`;
    const ordered = await fetch(`${saldo.httpUrl}/sandbox/v1/merchant-transfers`, {
      method: "POST",
      headers: { authorization, "content-type": "application/json" },
      body: '{"externalId":"a-1","currencyCode":"TRX","amount":10,"address":"TJRabPrwbZy45sbavfcjinPJC18kjpRTv8"}',
    });
    expect([ordered.status, await ordered.json()]).toMatchObject([200, { data: { totalAmount: 26.7 } }]);
    expect(await saldo.stop()).toBe(0);
    expect(await loadedModules(MIKRO_ORM)).toEqual([]);

    expect(await runSaldoProcess(["key", "revoke", "--key-id", keyId], settings)).toMatchObject({ code: 0 });
    expect(await loadedModules(MIKRO_ORM)).not.toEqual([]);
  } finally {
    await upstream.stop();
  }
});

test("a command on an up-to-date schema loads nothing that applies changes, and one that has to migrate does", async () => {
  const command = ["account", "create", "--email", "lazy@saldo.example"];
  expect(await runSaldoProcess(command, settings)).toMatchObject({ code: 0 });
  expect(await loadedModules(PG)).not.toEqual([]);
  expect(await loadedModules(APPLIES)).toEqual([]);
  await withClient(clientConfig({ connectionString: opened.url }, "test"), (owner) =>
    owner.query("DROP SCHEMA auth, public CASCADE; CREATE SCHEMA public"),
  );
  expect(await runSaldoProcess(command, settings)).toMatchObject({ code: 0 });
  expect(await loadedModules(APPLIES)).toHaveLength(1);
});
