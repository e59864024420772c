// A Saldo of its own for real agents: a database in a folder, and models that the scripted model answers.

import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type Customer, newCustomer } from "../../app/customer.ts";
import { makeDataDir, removeDataDir } from "../../setup/own-server.ts";
import { saldoJson } from "../../setup/saldo-command.ts";
import { SaldoProcess } from "../../setup/saldo-process.ts";
import type { NativeKind } from "./native-models.ts";
import type { Truth } from "./script.ts";

/** Rupiah for a million tokens; so many millionths of a rupiah for one. */
const PRICE = { input: "4000", output: "16000", cache_hit: "400" };
const SMALL_PRICE = { input: "1000", output: "4000", cache_hit: "100" };
/** Of models at upstreams that charge for writing to their caches. */
const WRITES = { cache_write: "5000", cache_write_1h: "8000" };
const SMALL_WRITES = { cache_write: "1250", cache_write_1h: "2000" };

/** The model of the catalog that agents get, beside one for small tasks and two with little room. */
export const MODEL = "local/agent";
const NATIVE_KINDS: readonly NativeKind[] = ["anthropic", "openai-responses", "gemini"];
const SHORT_CONTEXT = 45_000;
const SHORTEST_CONTEXT = 20_000;

/** A usage record as the operator's command prints it. */
export type UsageRecord = { readonly basis: string; readonly charge: string; readonly modelId: string };

/** A running Saldo. */
export type OwnGateway = {
  readonly url: string;
  customer(rupiah: string, rateLimit: number): Promise<Customer>;
  records(accountId: string): Promise<UsageRecord[]>;
  /** The rupiah that are held for requests that run. */
  held(accountId: string): Promise<string>;
  close(): Promise<void>;
};

/** The model that agents get at an upstream of a protocol. */
export function nativeModel(kind: NativeKind): string {
  return `${kind}/agent`;
}

/** The charge for an answer in rupiah, from the counts that the model reported. */
export function chargeFor(
  { input, cached, written = 0, writtenLong = 0, output }: NonNullable<Truth>,
  model: string,
): string {
  const isSmall = model.endsWith("small");
  const price = isSmall ? { ...SMALL_PRICE, ...SMALL_WRITES } : { ...PRICE, ...WRITES };
  const millionths = [
    [input, price.input],
    [cached, price.cache_hit],
    [written, price.cache_write],
    [writtenLong, price.cache_write_1h],
    [output, price.output],
  ].reduce((sum, [tokens = 0, each = 0]) => sum + BigInt(tokens) * BigInt(each), 0n);
  const digits = millionths.toString().padStart(7, "0");
  return `${digits.slice(0, -6)}.${digits.slice(-6)}`.replace(/\.?0+$/, "");
}

/** Where the models are: the one for chat, and those of other protocols. */
export type ModelUrls = { readonly chat: string } & Readonly<Record<NativeKind, string>>;

/** Starts it with an empty database. */
export async function startOwnGateway(urls: ModelUrls): Promise<OwnGateway> {
  await using stack = new AsyncDisposableStack();
  const dataDir = await makeDataDir();
  stack.defer(() => removeDataDir(dataDir));
  const settings = { SALDO_DATA_DIR: dataDir, LOCAL_API_KEY: "sk-of-the-scripted-model" };
  const server = await SaldoProcess.start(settings);
  stack.defer(async () => void (await server.stop()));
  const file = join(dataDir, "catalog.yaml");
  await writeFile(file, JSON.stringify(catalogOf(urls)));
  await saldoJson(["catalog", "apply", file], settings);
  const started = stack.move();
  return {
    url: server.httpUrl,
    customer: (amount, rateLimit) => newCustomer(settings, { ...(amount === "0" ? {} : { amount }), rateLimit }),
    async records(accountId) {
      const { records } = await saldoJson(["usage", "list", "--account", accountId], settings);
      return records as unknown as UsageRecord[];
    },
    held: async (accountId) => (await saldoJson(["account", "show", "--account", accountId], settings))["held"] ?? "",
    close: () => started.disposeAsync(),
  };
}

function catalogOf(urls: ModelUrls): object {
  const upstream = (id: string, kind: string, base_url: string) => ({
    id,
    kind,
    base_url,
    api_key_env: "LOCAL_API_KEY",
    allow_private_address: true,
  });
  return {
    upstreams: [
      upstream("local", "openai-compatible", urls.chat),
      ...NATIVE_KINDS.map((kind) => upstream(kind, kind, urls[kind])),
    ],
    models: [
      modelOf("local", "agent", { price: PRICE }),
      modelOf("local", "small", { price: SMALL_PRICE }),
      modelOf("local", "short", { price: PRICE, context_length: SHORT_CONTEXT }),
      modelOf("local", "shortest", { price: PRICE, context_length: SHORTEST_CONTEXT }),
      ...NATIVE_KINDS.flatMap((kind) => [
        modelOf(kind, "agent", { price: { ...PRICE, ...WRITES }, ...THINKS }),
        modelOf(kind, "small", { price: { ...SMALL_PRICE, ...SMALL_WRITES }, ...THINKS }),
      ]),
    ],
  };
}

const THINKS = { hidden_output: true, accepts: { thinking: "adaptive" } };

function modelOf(upstream: string, name: string, more: object): object {
  return {
    id: `${upstream}/${name}`,
    name,
    context_length: 131_072,
    max_output_tokens: 8_192,
    routes: [{ upstream, model: name }],
    ...more,
  };
}
