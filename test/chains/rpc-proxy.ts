// A proxy in front of a node, for network faults: a call is carried out and its answer is lost, or the call never
// arrives.

import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** `lose answer`: the node runs the call and its answer is lost. `lose call`: the node never gets the call. */
export type RpcFault = "lose answer" | "lose call";

/** Replaces an answer of a node, as a lying node does. */
export type RpcLie = (result: unknown, params: readonly unknown[]) => unknown;

export class RpcProxy {
  /** How often each method was called. */
  readonly calls = new Map<string, number>();
  readonly #server: Server;
  readonly #node: string;
  readonly #faults: { readonly method: string; readonly fault: RpcFault }[] = [];

  readonly #lies = new Map<string, RpcLie>();

  private constructor(server: Server, node: string) {
    this.#server = server;
    this.#node = node;
  }

  /** Listens in front of a node on a free port of the loopback. */
  static async before(node: string): Promise<RpcProxy> {
    const server = createServer();
    const proxy = new RpcProxy(server, node);
    server.on("request", (request: IncomingMessage, response: ServerResponse) => {
      proxy.#pass(request, response).catch(() => response.destroy());
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", () => resolve()));
    return proxy;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** Lets the next call of a method have a fault. */
  once(method: string, fault: RpcFault): void {
    this.#faults.push({ method, fault });
  }

  /** Changes every answer of a method from now on. Null: the node's own answers again. */
  lie(method: string, lie: RpcLie | null): void {
    if (lie === null) this.#lies.delete(method);
    else this.#lies.set(method, lie);
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  async #pass(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part as Buffer);
    const body = Buffer.concat(parts).toString("utf8");
    const { method, params = [] } = JSON.parse(body) as { method: string; params?: unknown[] };
    this.calls.set(method, (this.calls.get(method) ?? 0) + 1);
    const at = this.#faults.findIndex((each) => each.method === method);
    const [met] = at === -1 ? [] : this.#faults.splice(at, 1);
    if (met?.fault === "lose call") {
      response.destroy();
      return;
    }
    const answer = await fetch(this.#node, { method: "POST", headers: { "content-type": "application/json" }, body });
    const original = await answer.text();
    const lie = this.#lies.get(method);
    const text = lie === undefined ? original : changed(original, (result) => lie(result, params));
    if (met?.fault === "lose answer") response.destroy();
    else response.writeHead(answer.status, { "content-type": "application/json" }).end(text);
  }
}

function changed(original: string, lie: (result: unknown) => unknown): string {
  const answer = JSON.parse(original) as { result?: unknown; error?: unknown };
  const { error: _error, ...rest } = answer;
  return JSON.stringify({ ...rest, result: lie(answer.result ?? null) });
}
