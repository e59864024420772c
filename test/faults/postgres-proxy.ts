// A proxy in front of PostgreSQL that knows its protocol, so that a fault hits an exact moment: a connection lost
// before a transaction reached the server, after it ran without a commit, or after a commit whose reply is lost.

import { once } from "node:events";
import { type AddressInfo, connect, createServer, type NetConnectOpts, type Server, type Socket } from "node:net";
import { type Fault, Link, type Stranded, type Turn } from "./postgres-link.ts";

/** Chooses the fault of a turn; undefined: none. */
export type Rule = (turn: Turn) => Fault | undefined;

export class PostgresProxy {
  /** Set by tests; replaced at any time. */
  rule: Rule = () => undefined;
  /** Whether new connections are refused, like those of a server that is away. */
  isAway = false;
  /** Turns whose client is gone, in the order they were stranded. */
  readonly stranded: Stranded[] = [];
  /** How often each fault was applied, by its kind. */
  readonly done = new Map<string, number>();
  /** How often the server sent each SQLSTATE. */
  readonly errors = new Map<string, number>();
  readonly #server: Server;
  #target: NetConnectOpts;
  readonly #links = new Set<Link>();

  private constructor(server: Server, target: NetConnectOpts) {
    this.#server = server;
    this.#target = target;
  }

  /** Starts a proxy for the server of a URL, on a free port of the loopback. */
  static async before(url: string): Promise<PostgresProxy> {
    const server = createServer();
    const proxy = new PostgresProxy(server, targetOf(url));
    server.on("connection", (client) => proxy.#accept(client));
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    return proxy;
  }

  /** The same URL, through this proxy. */
  urlFor(url: string): string {
    const { port } = this.#server.address() as AddressInfo;
    const through = new URL(url);
    through.searchParams.delete("host");
    through.searchParams.delete("port");
    through.hostname = "127.0.0.1";
    through.port = String(port);
    return through.href;
  }

  /**
   * Applies a fault to the next turn whose statements, in order, match, and to no other. Resolves when it was applied.
   */
  once(meant: RegExp, fault: Fault): Promise<void> {
    return new Promise((resolve) => {
      this.rule = ({ statements }) => {
        if (!meant.test(statements.join(" "))) return undefined;
        this.rule = () => undefined;
        resolve();
        return fault;
      };
    });
  }

  /** Leads new connections to another server, as a balancer does. */
  leadTo(url: string): void {
    this.#target = targetOf(url);
  }

  /** Ends all connections. `refuse`: and accepts no new ones until `isAway` is set back. */
  cutAll({ refuse = false } = {}): void {
    this.isAway = refuse;
    for (const link of this.#links) link.cut();
  }

  async close(): Promise<void> {
    this.cutAll({ refuse: true });
    this.#server.close();
    await once(this.#server, "close");
  }

  #accept(client: Socket): void {
    if (this.isAway) return void client.destroy();
    const link = new Link(client, connect(this.#target), {
      decide: (turn) => {
        const fault = this.rule(turn);
        if (fault !== undefined) count(this.done, kindOf(fault));
        return fault;
      },
      onError: (state) => count(this.errors, state),
      onStranded: (stranded) => this.stranded.push(stranded),
      onClosed: () => this.#links.delete(link),
    });
    this.#links.add(link);
  }
}

/** The name of a fault in `done`. */
export function kindOf(fault: Fault): string {
  return typeof fault === "string" ? fault : "raise" in fault ? "raise" : "delayMs";
}

function count(counts: Map<string, number>, what: string): void {
  counts.set(what, (counts.get(what) ?? 0) + 1);
}

/** Where the server of a URL listens. */
export function targetOf(url: string): NetConnectOpts {
  const { hostname, port, searchParams } = new URL(url);
  const host = searchParams.get("host") ?? hostname;
  const number = Number(searchParams.get("port") ?? (port || "5432"));
  return host.startsWith("/") ? { path: `${host}/.s.PGSQL.${number}` } : { host, port: number };
}
