// A Saldo of its own for real agents: a database in a folder, and models that the scripted model answers.

import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type Customer, newCustomer } from "../../app/customer.ts";
import { makeDataDir, removeDataDir } from "../../setup/own-server.ts";
import { saldoJson } from "../../setup/saldo-command.ts";
import { SaldoProcess } from "../../setup/saldo-process.ts";
import type { Truth } from "./scripted-model.ts";

/** Rupiah for a million tokens; so many millionths of a rupiah for one. */
const PRICE = { input: "4000", output: "16000", cache_hit: "400" };
const SMALL_PRICE = { input: "1000", output: "4000", cache_hit: "100" };

/** The model of the catalog that agents get, beside one for small tasks and two with little room. */
export const MODEL = "local/agent";
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

/** The charge for an answer in rupiah, from the counts that the model reported. */
export function chargeFor({ input, cached, output }: NonNullable<Truth>, model: string): string {
  const { input: perInput, output: perOutput, cache_hit: perCached } = model.endsWith("small") ? SMALL_PRICE : PRICE;
  const millionths =
    BigInt(input - cached) * BigInt(perInput) + BigInt(cached) * BigInt(perCached) + BigInt(output) * BigInt(perOutput);
  const digits = millionths.toString().padStart(7, "0");
  return `${digits.slice(0, -6)}.${digits.slice(-6)}`.replace(/\.?0+$/, "");
}

/** Starts it with an empty database. */
export async function startOwnGateway(modelUrl: string): Promise<OwnGateway> {
  await using stack = new AsyncDisposableStack();
  const dataDir = await makeDataDir();
  stack.defer(() => removeDataDir(dataDir));
  const settings = { SALDO_DATA_DIR: dataDir, LOCAL_API_KEY: "sk-of-the-scripted-model" };
  const server = await SaldoProcess.start(settings);
  stack.defer(async () => void (await server.stop()));
  const file = join(dataDir, "catalog.yaml");
  await writeFile(file, JSON.stringify(catalogOf(modelUrl)));
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

function catalogOf(modelUrl: string): object {
  const model = (name: string, context: number, price: object) => ({
    id: `local/${name}`,
    name,
    context_length: context,
    max_output_tokens: 8_192,
    price,
    routes: [{ upstream: "local", model: name }],
  });
  return {
    upstreams: [
      {
        id: "local",
        kind: "openai-compatible",
        base_url: modelUrl,
        api_key_env: "LOCAL_API_KEY",
        allow_private_address: true,
      },
    ],
    models: [
      model("agent", 131_072, PRICE),
      model("small", 131_072, SMALL_PRICE),
      model("short", SHORT_CONTEXT, PRICE),
      model("shortest", SHORTEST_CONTEXT, PRICE),
    ],
  };
}
