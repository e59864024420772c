// The service as a client meets it: its start and ports on a database of the test file, with models of a scripted upstream
// beside those of the demo, and customers whose account and key are made as the operator makes them.

import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createCustomer } from "../../../src/identity/customers.ts";
import { listUsage } from "../../../src/billing/usage/usage.ts";
import type { UsageRecord } from "../../../src/billing/usage/usage-record.ts";
import { withTransaction } from "../../../src/database/transactions.ts";
import { formatMoney, IDR, idr, parseMoney } from "../../../src/kernel/money.ts";
import { uuidv7 } from "../../../src/kernel/ids.ts";
import { issueKey } from "../../../src/keys/issue-key.ts";
import { openAccount, readBalance } from "../../../src/ledger/accounts.ts";
import type { Environment } from "../../../src/identity/principal.ts";
import { createMerchant, creditMerchant } from "../../../src/merchant/merchants/merchants.ts";
import { startScriptedUpstream } from "../../gateway/scripted-upstream.ts";
import { creditByOperator } from "../../setup/operator-credit.ts";
import { saldoJson } from "../../setup/saldo-command.ts";
import { SaldoHere } from "../../setup/saldo-here.ts";
import { SaldoProcess } from "../../setup/saldo-process.ts";
import { createTestDatabase } from "../../setup/test-database.ts";

/** An account with a key of its own. */
export type Customer = { readonly accountId: string; readonly keyId: string; readonly key: string };

type NewMerchant = {
  readonly environment: Environment;
  readonly coins: Readonly<Record<string, string>>;
  readonly accountId?: string;
};

/** A merchant with a pair: as both halves with a colon, and as the header they are sent in. */
export type MerchantCaller = { readonly merchantId: string; readonly pair: string; readonly authorization: string };

/** A usage record with its money in rupiah. */
export type UsageLine = Omit<UsageRecord, "cost" | "charge"> & { readonly cost: string; readonly charge: string };

/** The members of a test's catalog beside id and route. Prices in the form of the catalog file. */
export type CatalogEntry = {
  readonly kind?: "chat" | "embeddings";
  readonly price: { readonly input: string; readonly output?: string; readonly [name: string]: unknown };
  readonly context_length?: number;
  readonly max_output_tokens?: number;
  readonly input_modalities?: readonly string[];
  readonly hidden_output?: boolean;
};

export type ServedSaldo = Awaited<ReturnType<typeof serveSaldo>>;

/** The environment variable the scripted upstream's key is in, and the key. */
const UPSTREAM_KEY = { LOCAL_API_KEY: "sk-upstream-credential-of-the-test" };

/** Starts everything. `models` are answered by the scripted upstream and are in the catalog under `local/…`. */
export async function serveSaldo({
  models = {},
  upstream: upstreamFields = {},
  settings = {},
  inOwnProcess = false,
}: {
  models?: Readonly<Record<string, CatalogEntry>>;
  /** More fields of the scripted upstream in the catalog, such as its time-outs. */
  upstream?: Readonly<Record<string, unknown>>;
  settings?: Readonly<Record<string, string>>;
  /** For tests of what a process needs, such as memory. */
  inOwnProcess?: boolean;
} = {}) {
  const [testDatabase, upstream] = await Promise.all([createTestDatabase(), startScriptedUpstream()]);
  const { database } = testDatabase;
  const variables = { DATABASE_URL: testDatabase.url, ...UPSTREAM_KEY, ...settings };
  const saldo = (words: readonly string[]) => saldoJson(words, variables);
  if (Object.keys(models).length > 0)
    await applyCatalog(saldo, { base_url: upstream.baseUrl, ...upstreamFields }, models);
  const server = await (inOwnProcess ? SaldoProcess : SaldoHere).start(variables);

  return {
    server,
    upstream,
    /** The server's database, for facts and changes that no caller can reach. */
    database,
    /** Where that database is, for a connection as its owner. */
    databaseUrl: testDatabase.url,
    /** The base URL an OpenAI client is given. */
    baseUrl: `${server.httpUrl}/v1`,
    /** Runs an operator's command beside the running server. */
    saldo,

    /** Opens an account with so many rupiah and issues a key of it. */
    async customer({ credit = "1000", rateLimit }: { credit?: string; rateLimit?: number } = {}): Promise<Customer> {
      const { accountId } = await withTransaction(database, (client) =>
        createCustomer(client, { email: `${uuidv7()}@saldo.example`, openAccount }),
      );
      const amount = parseMoney(credit, IDR).units;
      if (amount > 0n) {
        await withTransaction(database, (client) => creditByOperator(client, { accountId, amount }));
      }
      const limit = rateLimit === undefined ? {} : { rateLimit };
      const { keyId, secret } = await issueKey(database, { accountId, name: "test", ...limit });
      return { accountId, keyId, key: secret };
    },

    /** Makes a merchant with so many coins, of a new account if none is named. */
    async merchant({ environment, coins, accountId }: NewMerchant): Promise<MerchantCaller> {
      const owner = accountId ?? (await this.customer({ credit: "0" })).accountId;
      const { merchantId, apiKey, secretKey } = await createMerchant(database, { accountId: owner, environment });
      for (const [currencyCode, amountText] of Object.entries(coins)) {
        await creditMerchant(database, { merchantId, currencyCode, amountText });
      }
      const pair = `${apiKey}:${secretKey}`;
      return { merchantId, pair, authorization: `Basic ${Buffer.from(pair).toString("base64")}` };
    },

    /** The present balance of the account, in rupiah. */
    async balance(accountId: string): Promise<{ available: string; held: string; posted: string }> {
      const { available, held, posted } = await readBalance(database.pool, accountId);
      return {
        available: formatMoney(idr(available)),
        held: formatMoney(idr(held)),
        posted: formatMoney(idr(posted)),
      };
    },

    /** The account's requests, newest first. */
    async usage(accountId: string): Promise<readonly UsageLine[]> {
      const page = { accountId, filter: {}, pageSize: 1_000, pageToken: "" };
      const { items: records } = await listUsage(database.pool, page);
      return records.map((record) => ({
        ...record,
        cost: formatMoney(idr(record.cost)),
        charge: formatMoney(idr(record.charge)),
      }));
    },

    /** Posts JSON to the chat path. */
    chat(key: string, body: unknown, headers: Record<string, string> = {}): Promise<Response> {
      return fetch(`${server.httpUrl}/v1/chat/completions`, {
        method: "POST",
        headers: { authorization: `Bearer ${key}`, "content-type": "application/json", ...headers },
        body: typeof body === "string" ? body : JSON.stringify(body),
      });
    },

    async stop(): Promise<void> {
      await server.stop();
      await upstream.stop();
      await testDatabase.drop();
    },
  };
}

/** Writes a catalog file as an operator would and applies it. JSON is YAML. */
async function applyCatalog(
  saldo: (words: readonly string[]) => Promise<unknown>,
  upstream: Readonly<Record<string, unknown>>,
  models: Readonly<Record<string, CatalogEntry>>,
): Promise<void> {
  const catalog = {
    upstreams: [
      {
        id: "local",
        kind: "openai-compatible",
        api_key_env: "LOCAL_API_KEY",
        allow_private_address: true,
        ...upstream,
      },
    ],
    models: Object.entries(models).map(([name, entry]) => ({
      id: `local/${name}`,
      context_length: 131_072,
      ...(entry.kind === "embeddings" ? {} : { max_output_tokens: 16_384 }),
      routes: [{ upstream: "local", model: `${name}-2026` }],
      ...entry,
    })),
  };
  const folder = await mkdtemp(join(tmpdir(), "saldo-catalog-"));
  try {
    const file = join(folder, "catalog.yaml");
    await writeFile(file, JSON.stringify(catalog));
    await saldo(["catalog", "apply", file]);
  } finally {
    await rm(folder, { recursive: true });
  }
}
