// saldo-agents in a home folder of the test, against a gateway that only knows a catalog and a balance.

import { once } from "node:events";
import { mkdtemp, readdir, readFile, rm, stat } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { run } from "../../src/agents/run.ts";
import type { World } from "../../src/agents/world.ts";

export const KEY = "gw_test_0123456789abcdef";
export const MODEL = "demo/small";

/** A gateway on a free port. */
export type FakeGateway = {
  readonly url: string;
  readonly asked: string[];
  readonly probed: Probed[];
  close(): Promise<void>;
};

/** A request that asked a model, and what came of it. */
export type Probed = { readonly path: string; readonly version: unknown; readonly body: Record<string, unknown> };

/** How the gateway answers at the paths of other protocols. */
export type Protocols = (path: string) => { readonly status: number; readonly body: object };

const served: Protocols = (path) => ({
  status: 200,
  body: path.startsWith("/v1beta/")
    ? { candidates: [] }
    : path === "/v1/messages"
      ? { type: "message", content: [] }
      : { object: "response", output: [] },
});

/** Starts a gateway with these models besides demo/small. */
export async function startGateway(
  models: readonly { id: string; name?: string; kind?: string; pricing?: object; context_length?: number }[] = [],
  balance = "1234.5",
  protocols = served,
): Promise<FakeGateway> {
  const asked: string[] = [];
  const probed: Probed[] = [];
  const data = [{ id: MODEL, name: "Demo Small" }, ...models].map((model) => ({
    context_length: 131_072,
    max_output_tokens: 16_384,
    architecture: { input_modalities: ["text"] },
    pricing: { currency: "IDR", unit: "per_1m_tokens", input: "5000", output: "15000.5" },
    ...model,
  }));
  const server = createServer(async (request, response) => {
    asked.push(`${request.method} ${request.url}`);
    const isKnown = request.headers.authorization === `Bearer ${KEY}`;
    const answers: Record<string, unknown> = {
      "/v1/models": { object: "list", data },
      "/v1/balance": { available: balance },
    };
    const answer = isKnown ? answers[request.url ?? ""] : { error: "invalid_api_key", message: "No." };
    if (request.method === "POST" && isKnown) {
      const path = request.url ?? "";
      const asks = JSON.parse((await request.toArray()).join("")) as Record<string, unknown>;
      probed.push({ path, version: request.headers["anthropic-version"], body: asks });
      const { status, body } = protocols(path);
      response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
      return;
    }
    response.writeHead(isKnown ? (answer === undefined ? 404 : 200) : 401, { "content-type": "application/json" });
    response.end(JSON.stringify(answer ?? {}));
  });
  return { url: await listen(server), asked, probed, close: () => closeServer(server) };
}

/** Listens on a free loopback port and gives the address. */
export async function listen(server: Server): Promise<string> {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  return `http://127.0.0.1:${typeof address === "object" && address !== null ? address.port : 0}`;
}

/** Closes a server, its idle connections too. */
export async function closeServer(server: Server): Promise<void> {
  server.closeAllConnections();
  server.close();
  await once(server, "close");
}

/** A home folder that is gone at the end of its block. */
export async function newHome(): Promise<{ path: string } & AsyncDisposable> {
  const path = await mkdtemp(join(tmpdir(), "saldo-agents-"));
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }) };
}

/** `warnings`: the warnings about a key on the command line, which most tests give there. */
export type Outcome = {
  readonly code: number;
  readonly out: string;
  readonly err: string;
  readonly warnings: readonly string[];
};

/** Runs saldo-agents without a terminal. */
export async function saldoAgents(
  home: string,
  words: readonly string[],
  { env = {}, ...world }: Partial<World> & { env?: Record<string, string> } = {},
): Promise<Outcome> {
  const out: string[] = [];
  const err: string[] = [];
  const code = await run(words, {
    machine: { platform: "linux", home, env },
    out: (text) => void out.push(text),
    err: (text) => void err.push(text),
    now: () => new Date("2026-11-21T10:00:00Z"),
    folder: home,
    version: "1.2.3",
    servedBy: null,
    isPackaged: false,
    person: null,
    ...world,
  });
  const isWarning = (text: string) => text.startsWith("Warning: ");
  return {
    code,
    out: out.join("\n"),
    err: err.filter((text) => !isWarning(text)).join("\n"),
    warnings: err.filter(isWarning),
  };
}

/** Every file below a folder with its bytes and permissions. */
export async function snapshot(folder: string): Promise<Record<string, { bytes: string; mode: number }>> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  const found = await Promise.all(
    files.toSorted().map(async (path) => {
      const mode = (await stat(path)).mode & 0o777;
      return [relative(folder, path), { bytes: await readFile(path, "utf8"), mode }] as const;
    }),
  );
  return Object.fromEntries(found);
}
