// A connection pooler in transaction mode, like pgbouncer: many clients share a few connections to the server, one
// transaction at a time. `keepsStatements` distinguishes a newer one (1.21) from an older one. The failures of the
// older one, and the refusals of both, were observed with pgbouncer 1.18.

import { createHash } from "node:crypto";
import { once } from "node:events";
import { type AddressInfo, connect, createServer, type NetConnectOpts, type Server, type Socket } from "node:net";
import { encode, FROM_CLIENT, FROM_SERVER, type Message, MessageCutter, textsOf } from "./postgres-wire.ts";
import { targetOf } from "./postgres-proxy.ts";

const PROTOCOL_3 = 196_608;
const IDLE = "I";
/** A letter and a length. */
const HEAD_BYTES = 5;

export type PoolerOptions = {
  /** Whether a named statement follows its client to each of its connections. */
  readonly keepsStatements: boolean;
  /** How many connections to the server there are at most. */
  readonly size: number;
};

export class TransactionPooler {
  readonly #server: Server;
  readonly #target: NetConnectOpts;
  readonly #options: PoolerOptions;
  readonly #clients = new Set<PooledClient>();
  readonly #backends = new Set<Backend>();
  /** Idle connections by login, the one used last at the end. */
  readonly #idle: Backend[] = [];
  readonly #waiting: PooledClient[] = [];

  private constructor(server: Server, target: NetConnectOpts, options: PoolerOptions) {
    this.#server = server;
    this.#target = target;
    this.#options = options;
  }

  /** Starts a pooler before the server that a URL names, which must trust every login. */
  static async before(url: string, options: PoolerOptions): Promise<TransactionPooler> {
    const server = createServer();
    const pooler = new TransactionPooler(server, targetOf(url), options);
    server.on("connection", (socket) => pooler.#accept(socket));
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    return pooler;
  }

  /** A URL by way of this pooler, without the settings that it would refuse. */
  urlFor({ user, database }: { user: string; database: string }): string {
    return `postgres://${user}@127.0.0.1:${(this.#server.address() as AddressInfo).port}/${database}`;
  }

  /** How many connections to the server there are. */
  get backends(): number {
    return this.#backends.size;
  }

  async close(): Promise<void> {
    for (const client of this.#clients) client.socket.destroy();
    for (const backend of this.#backends) backend.socket.destroy();
    this.#server.close();
    await once(this.#server, "close");
  }

  #accept(socket: Socket): void {
    const client = new PooledClient(socket, this.#options.keepsStatements, () => this.#serve(client));
    this.#clients.add(client);
    socket.on("close", () => {
      this.#clients.delete(client);
      const place = this.#waiting.indexOf(client);
      if (place !== -1) this.#waiting.splice(place, 1);
      // The state of a connection that was left in the middle is unknown.
      client.backend?.socket.destroy();
    });
  }

  /** Gives a client a connection to the server, or a place in the queue for one. */
  #serve(client: PooledClient): void {
    if (client.backend !== null || this.#waiting.includes(client)) return;
    const place = this.#idle.findLastIndex(({ login }) => login === client.login);
    const [idle] = place === -1 ? [] : this.#idle.splice(place, 1);
    if (idle !== undefined) idle.serve(client);
    else if (this.#backends.size < this.#options.size) this.#open(client);
    else this.#waiting.push(client);
  }

  #open(client: PooledClient): void {
    const backend = new Backend(connect(this.#target), client, () => {
      const next = this.#waiting.findIndex(({ login }) => login === backend.login);
      const [waiting] = next === -1 ? [] : this.#waiting.splice(next, 1);
      if (waiting === undefined) this.#idle.push(backend);
      else backend.serve(waiting);
    });
    this.#backends.add(backend);
    backend.socket.on("close", () => {
      this.#backends.delete(backend);
      const place = this.#idle.indexOf(backend);
      if (place !== -1) this.#idle.splice(place, 1);
      const next = this.#waiting.shift();
      if (next !== undefined) this.#serve(next);
    });
  }
}

/** A connection to the server. */
class Backend {
  readonly socket: Socket;
  readonly login: string;
  /** Names of statements that this connection has. */
  readonly #statements = new Set<string>();
  /**
   * Names of statements that were sent for a client that has long had its answer; it must not get the answers again.
   */
  #sent: string[] = [];
  readonly #onFree: () => void;
  #client: PooledClient | null = null;
  #isOpen = false;

  constructor(socket: Socket, client: PooledClient, onFree: () => void) {
    this.socket = socket.setNoDelay(true).on("error", () => {}); // its close is acted on
    this.login = client.login;
    this.#onFree = onFree;
    const [user = "", database = ""] = client.login.split("\0");
    socket.write(encode("", PROTOCOL_3, "user", user, "database", database, ""));
    const cutter = new MessageCutter("server");
    socket.on("data", (bytes) => cutter.push(bytes).forEach((message) => this.#receive(message)));
    socket.on("close", () => this.#client?.socket.destroy());
    this.serve(client);
  }

  serve(client: PooledClient): void {
    this.#client = client;
    client.backend = this;
    if (this.#isOpen) client.flush();
  }

  send(bytes: Buffer): void {
    this.socket.write(bytes);
  }

  /** Makes sure that this connection has a statement. */
  prepare({ name, message }: Parsed): void {
    if (this.#statements.has(name) || this.#sent.includes(name)) return;
    this.#sent.push(name);
    this.socket.write(message);
  }

  #receive(message: Message): void {
    const isReady = message.type === FROM_SERVER.ready;
    if (!this.#isOpen) {
      // The pooler itself has answered the clients' session start.
      this.#isOpen = isReady;
      if (isReady) this.#client?.flush();
      return;
    }
    if (message.type === FROM_SERVER.parseComplete) {
      const prepared = this.#sent.shift();
      if (prepared !== undefined) return void this.#statements.add(prepared);
    }
    const client = this.#client;
    client?.socket.write(message.bytes);
    if (!isReady) return;
    this.#sent = []; // those that an error kept from being prepared
    if (client === null || message.bytes.at(-1) !== IDLE.charCodeAt(0)) return;
    client.backend = null;
    this.#client = null;
    this.#onFree();
    if (client.hasMore) client.wantsBackend();
  }
}

/** A client's connection. */
class PooledClient {
  readonly socket: Socket;
  readonly wantsBackend: () => void;
  /** User and database. */
  login = "";
  backend: Backend | null = null;
  readonly #keepsStatements: boolean;
  /** The Parse message of each name this client has given, as it goes to the server. */
  readonly #parsed = new Map<string, Parsed>();
  #turn: Message[] = [];
  #isOpen = false;

  constructor(socket: Socket, keepsStatements: boolean, wantsBackend: () => void) {
    this.socket = socket.setNoDelay(true).on("error", () => {}); // its close is acted on
    this.wantsBackend = wantsBackend;
    this.#keepsStatements = keepsStatements;
    const cutter = new MessageCutter("client");
    socket.on("data", (bytes) => cutter.push(bytes).forEach((message) => this.#take(message)));
  }

  get hasMore(): boolean {
    return this.#turn.some(endsTurn);
  }

  /** Sends what has been collected. */
  flush(): void {
    const { backend } = this;
    if (backend === null || !this.hasMore) return;
    const end = this.#turn.findIndex(endsTurn) + 1;
    for (const message of this.#turn.splice(0, end)) {
      if (this.#keepsStatements) this.#translate(message, backend);
      else backend.send(message.bytes);
    }
  }

  #take(message: Message): void {
    if (!this.#isOpen) return this.#greet(message);
    if (message.type === FROM_CLIENT.terminate) return void this.socket.end();
    this.#turn.push(message);
    if (!endsTurn(message)) return;
    if (this.backend === null) this.wantsBackend();
    else this.flush();
  }

  #greet({ bytes }: Message): void {
    const words = bytes.toString("utf8", 8).split("\0");
    const settings = new Map(
      words.flatMap((word, index) => (index % 2 === 0 ? [[word, words[index + 1] ?? ""]] : [])) as [string, string][],
    );
    if (settings.has("options")) {
      const refusal = "SFATAL\0VFATAL\0C08P01\0Munsupported startup parameter: options\0";
      this.socket.end(encode(FROM_SERVER.error, refusal));
      return;
    }
    this.login = `${settings.get("user")}\0${settings.get("database")}`;
    this.#isOpen = true;
    this.socket.write(
      Buffer.concat([
        encode(FROM_SERVER.authentication, 0),
        encode(FROM_SERVER.parameter, "client_encoding", "UTF8"),
        // A key of the pooler's own, to cancel by: it names no backend.
        encode(FROM_SERVER.keyData, 1_402_116_083, 7),
        encode(FROM_SERVER.ready, Buffer.from(IDLE)),
      ]),
    );
  }

  /** Makes a client's names valid on every connection, each prepared there before its first use. */
  #translate(message: Message, backend: Backend): void {
    if (message.type === FROM_CLIENT.parse) {
      const [name = "", text = ""] = textsOf(message, 2);
      if (name === "") return backend.send(message.bytes);
      const ownName = `pooled_${createHash("sha256").update(text).digest("hex").slice(0, 32)}`;
      const rest = message.bytes.subarray(HEAD_BYTES + Buffer.byteLength(name) + 1);
      this.#parsed.set(name, { name: ownName, message: encode(FROM_CLIENT.parse, ownName, rest) });
      this.socket.write(encode(FROM_SERVER.parseComplete));
      return;
    }
    if (message.type === FROM_CLIENT.close) {
      this.#parsed.delete(textsOf(message, 1)[0]?.slice(1) ?? "");
      this.socket.write(encode(FROM_SERVER.closeComplete));
      return;
    }
    const [portal = "", name = ""] = message.type === FROM_CLIENT.bind ? textsOf(message, 2) : [];
    const parsed = this.#parsed.get(name);
    if (parsed === undefined) return backend.send(message.bytes);
    backend.prepare(parsed);
    const rest = message.bytes.subarray(HEAD_BYTES + Buffer.byteLength(portal) + 1 + Buffer.byteLength(name) + 1);
    backend.send(encode(FROM_CLIENT.bind, portal, parsed.name, rest));
  }
}

type Parsed = { readonly name: string; readonly message: Buffer };

function endsTurn({ type }: Message): boolean {
  return type === FROM_CLIENT.sync || type === FROM_CLIENT.query;
}
