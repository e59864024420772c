// Two proxies that bill no account, as measures of what Node and its libraries cost by themselves.
//   node test/bench/reference-proxies.ts raw|fastify-parse --upstream http://127.0.0.1:9102 [--keys FILE]
// raw: node:http in front of an undici pool; the body is collected and the answer written as it comes.
// fastify-parse: Fastify with what no gateway can do without: the request parsed, the key's digest looked up, the usage
// read from the answer. Runs as its own process, prints its port and ends with its parent.

import { hash } from "node:crypto";
import { readFileSync } from "node:fs";
import { createServer, type IncomingMessage, type OutgoingHttpHeaders, type ServerResponse } from "node:http";
import { parseArgs } from "node:util";
import type { FastifyReply, FastifyRequest } from "fastify";
import { Pool, type Dispatcher } from "undici";
import { announce } from "./announce.ts";
import {
  CHAT_PATH,
  MESSAGES_MODEL_ID,
  MESSAGES_PATH,
  MODEL_ID,
  RESPONSES_MODEL_ID,
  RESPONSES_PATH,
} from "./chat-request.ts";
import { readUsage, UsageTail } from "./usage-tail.ts";

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { upstream: { type: "string", default: "" }, keys: { type: "string" } },
});
const pool = new Pool(new URL(values.upstream).origin, {
  connections: null,
  pipelining: 1,
  keepAliveTimeout: 60_000,
});
const UPSTREAM_HEADERS = { "content-type": "application/json", authorization: "Bearer upstream" };
const MODELS: ReadonlySet<string> = new Set([MODEL_ID, MESSAGES_MODEL_ID, RESPONSES_MODEL_ID]);
const KEEP_ALIVE_MS = 65_000;
const LISTEN = { port: 0, host: "127.0.0.1", backlog: 4096 };

/** Sees the answer's bytes on their way. `pass` returns what may be written now; `end` what was kept back. */
interface Observer {
  pass(data: Buffer, streamed: boolean): Buffer | null;
  end(): Buffer | null;
}

function forward(path: string, body: Buffer, response: ServerResponse, observer: Observer | null): void {
  let streamed = false;
  const handler: Dispatcher.DispatchHandler = {
    onRequestStart(controller) {
      // A client that left while its request was queued: pausing for it later would block a connection for good.
      if (response.destroyed) return controller.abort(new Error("the client left"));
      response.on("close", () => {
        if (!response.writableFinished) controller.abort(new Error("the client left"));
      });
    },
    onResponseStart(_controller, status, headers) {
      const type = String(headers["content-type"]);
      streamed = type.startsWith("text/event-stream");
      const relayed: OutgoingHttpHeaders = { "content-type": type };
      if (headers["content-length"] !== undefined) relayed["content-length"] = String(headers["content-length"]);
      response.writeHead(status, relayed);
      if (streamed) response.flushHeaders();
    },
    onResponseData(controller, data) {
      const passed = observer === null ? data : observer.pass(data, streamed);
      if (passed === null || response.write(passed) || response.destroyed) return;
      controller.pause();
      response.once("drain", () => controller.resume());
    },
    onResponseEnd() {
      const kept = observer?.end() ?? null;
      if (kept === null) response.end();
      else response.end(kept);
    },
    onResponseError(_controller, error) {
      refuse(response, 503, error.message);
    },
  };
  pool.dispatch({ path, method: "POST", headers: UPSTREAM_HEADERS, body }, handler);
}

function refuse(response: ServerResponse, status: number, message: string): void {
  if (response.headersSent) return void response.destroy();
  const json = JSON.stringify({ error: message });
  response.writeHead(status, { "content-type": "application/json", "content-length": Buffer.byteLength(json) });
  response.end(json);
}

function collect(request: IncomingMessage, then: (body: Buffer) => void): void {
  const parts: Buffer[] = [];
  request.on("data", (part: Buffer) => parts.push(part));
  request.on("end", () => then(parts.length === 1 && parts[0] !== undefined ? parts[0] : Buffer.concat(parts)));
}

function serveRaw(): void {
  const server = createServer({ keepAliveTimeout: KEEP_ALIVE_MS }, (request, response) =>
    collect(request, (body) => forward(request.url ?? CHAT_PATH, body, response, null)),
  );
  server.listen(LISTEN, () => announce(server));
}

function digest(key: string): string {
  return hash("sha256", key);
}

async function serveFastifyParse(keyFile: string): Promise<void> {
  const { fastify } = await import("fastify"); // Here, so that the raw proxy carries nothing it does not use.
  const keys = new Map(
    readFileSync(keyFile, "utf8")
      .split("\n")
      .filter((key) => key !== "")
      .map((key, index) => [digest(key), index]),
  );
  const app = fastify({ logger: false, bodyLimit: 64 << 20, keepAliveTimeout: KEEP_ALIVE_MS });
  app.addContentTypeParser("application/json", { parseAs: "buffer" }, (_request, body, done) => done(null, body));
  const answer = (request: FastifyRequest<{ Body: Buffer }>, reply: FastifyReply): void => {
    // Nothing is returned and nothing sent through Fastify: a returned reply is awaited, which costs.
    reply.hijack();
    const authorization = request.headers.authorization;
    const key = authorization?.startsWith("Bearer ") ? keys.get(digest(authorization.slice(7))) : undefined;
    if (key === undefined) return refuse(reply.raw, 401, "invalid_api_key");
    const chat = parseChat(request.body);
    if (chat === null) return refuse(reply.raw, 400, "validation_error");
    if (!MODELS.has(chat.model)) return refuse(reply.raw, 404, "model_not_found");
    forward(request.url, request.body, reply.raw, new UsageObserver());
  };
  for (const path of [CHAT_PATH, MESSAGES_PATH, RESPONSES_PATH]) app.post<{ Body: Buffer }>(path, answer);
  await app.listen(LISTEN);
  announce(app.server);
}

function parseChat(body: Buffer): { readonly model: string } | null {
  let chat: { model?: unknown; messages?: unknown; input?: unknown };
  try {
    chat = JSON.parse(body.toString());
  } catch {
    return null;
  }
  const turns = chat.messages ?? chat.input;
  return Array.isArray(turns) && turns.length > 0 && typeof chat.model === "string" ? { model: chat.model } : null;
}

// Keeps a whole answer, or the last events of a stream, until its usage is known: where a gateway would settle.
class UsageObserver implements Observer {
  readonly #parts: Buffer[] = [];
  #stream: UsageTail | null = null;

  pass(data: Buffer, streamed: boolean): Buffer | null {
    if (streamed) return (this.#stream ??= new UsageTail()).pass(data);
    this.#parts.push(data);
    return null;
  }

  end(): Buffer | null {
    if (this.#stream !== null) return this.#stream.end();
    const whole =
      this.#parts.length === 1 && this.#parts[0] !== undefined ? this.#parts[0] : Buffer.concat(this.#parts);
    readUsage(whole.toString("latin1"));
    return whole;
  }
}

if (positionals[0] === "raw") serveRaw();
else if (positionals[0] === "fastify-parse" && values.keys !== undefined) await serveFastifyParse(values.keys);
else throw new Error("name a proxy: raw, or fastify-parse with --keys FILE");
