// An upstream over real HTTP whose every behaviour is a script: all that a provider, or a proxy in front of it, can do.

import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";

export type Received = { readonly body: Buffer; readonly headers: IncomingMessage["headers"] };
export type Script = (response: ServerResponse, received: Received, call: number) => void | Promise<void>;

export type ScriptedUpstream = Awaited<ReturnType<typeof startScriptedUpstream>>;

/** Starts a server on a free port of the loopback. Each request runs the script set at that moment. */
export async function startScriptedUpstream() {
  const received: Received[] = [];
  const sockets = new Set<Socket>();
  const state: { script: Script } = { script: (response) => void response.writeHead(500).end() };
  const server = createServer((request, response) => {
    const parts: Buffer[] = [];
    request.on("data", (part: Buffer) => parts.push(part));
    request.on("end", () => {
      const call = { body: Buffer.concat(parts), headers: request.headers };
      received.push(call);
      void state.script(response, call, received.length);
    });
  });
  server.on("connection", (socket) => {
    sockets.add(socket);
    socket.on("close", () => sockets.delete(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    baseUrl: `http://127.0.0.1:${port}/v1`,
    received,
    run(script: Script): void {
      state.script = script;
      received.length = 0;
    },
    get openSockets(): number {
      return sockets.size;
    },
    async stop(): Promise<void> {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

export const USAGE = {
  prompt_tokens: 11,
  completion_tokens: 3,
  total_tokens: 14,
  prompt_tokens_details: { cached_tokens: 4 },
};

/** A complete answer; `overrides` replaces members, undefined removes them. */
export function completion(overrides: Record<string, unknown> = {}): string {
  return JSON.stringify({
    id: "chatcmpl-upstream",
    object: "chat.completion",
    created: 1_700_000_000,
    model: "upstream-model-2026",
    choices: [{ index: 0, message: { role: "assistant", content: "Halo!" }, finish_reason: "stop" }],
    usage: USAGE,
    ...overrides,
  });
}

/** One chunk of a stream. */
export function chunk(delta: unknown, finish: string | null = null, more: Record<string, unknown> = {}): string {
  return JSON.stringify({
    id: "chatcmpl-upstream",
    object: "chat.completion.chunk",
    created: 1_700_000_000,
    model: "upstream-model-2026",
    choices: [{ index: 0, delta, finish_reason: finish }],
    ...more,
  });
}

export const usageChunk = (usage: unknown = USAGE): string => chunk(null, null, { choices: [], usage });

/** The events of an ordinary stream with the text `Halo dunia`. */
export const ordinaryEvents = (): string[] => [
  chunk({ role: "assistant", content: "" }),
  chunk({ content: "Halo" }),
  chunk({ content: " dunia" }),
  chunk({}, "stop"),
  usageChunk(),
  "[DONE]",
];

/** Events on the wire, with LF. */
export function wire(events: readonly string[]): string {
  return events.map((data) => `data: ${data}\n\n`).join("");
}

/** Answers with one JSON text. */
export function json(body: string, status = 200, headers: Record<string, string> = {}): Script {
  return (response) => void response.writeHead(status, { "content-type": "application/json", ...headers }).end(body);
}

/** Answers with events, in the given packets. */
export function stream(...packets: readonly (string | Buffer)[]): Script {
  return async (response) => {
    response.writeHead(200, { "content-type": "text/event-stream", "x-request-id": "req_upstream" });
    for (const packet of packets) {
      response.write(packet);
      await new Promise((resolve) => setImmediate(resolve));
    }
    response.end();
  };
}
