// Finding the primary among several servers. Every new connection goes to the server that is the primary then, so a failover is
// followed without a restart. All of a login's connections share one question to all servers.

import { callbackify } from "node:util";
import { Client, type ClientConfig } from "pg";
import { HISTORY_COLUMNS, type ServerHistory } from "./history.ts";

/** One server of several, as the log and the metrics show it. */
export type ServerAddress = { readonly host: string; readonly port: number };

/** A server that does not answer within this time is passed over. */
const ANSWER_WITHIN_MS = 1_500;
/** An answer is given out for so long. */
const REMEMBERED_MS = 500;

type Found = ServerAddress & ServerHistory;
type ParameterStatus = { readonly parameterName: string; readonly parameterValue: string };
/** The part of the driver's client that this file uses; tests put another in its place. */
type Asked = Pick<Client, "connect" | "query" | "end" | "on" | "host" | "port">;

export class ServerList {
  readonly #configs: readonly ClientConfig[];
  readonly #onPrimary: (server: ServerAddress) => void;
  readonly #createClient: (config: ClientConfig) => Asked;
  #asked: { readonly answer: Promise<Found>; atMs: number } | null = null;
  #last: Found | null = null;

  constructor(
    configs: readonly ClientConfig[],
    {
      onPrimary = () => {},
      createClient = (config) => new Client(config),
    }: { onPrimary?: (server: ServerAddress) => void; createClient?: (config: ClientConfig) => Asked } = {},
  ) {
    this.#configs = configs;
    this.#onPrimary = onPrimary;
    this.#createClient = createClient;
  }

  /** The primary as found last. Null: none was found yet. */
  get last(): ServerAddress | null {
    return this.#last;
  }

  /** The primary now, or half a second ago. Errors: none answers as one; the error is that of a database that is away. */
  primary(): Promise<ServerAddress> {
    if (this.#asked !== null && performance.now() - this.#asked.atMs < REMEMBERED_MS) return this.#asked.answer;
    // Until there is an answer no other question is sent; its age counts from its arrival.
    const asked = { answer: this.#find(), atMs: Number.POSITIVE_INFINITY };
    this.#asked = asked;
    asked.answer.then(
      () => (asked.atMs = performance.now()),
      () => (this.#asked = null),
    );
    return asked.answer;
  }

  async #find(): Promise<Found> {
    const found = await Promise.any(this.#configs.map((config) => this.#ask(config))).catch((cause: unknown) => {
      const error = new Error("None of the servers in DATABASE_URL answers as the primary.", { cause });
      throw Object.assign(error, { code: "ECONNREFUSED" });
    });
    if (found.host !== this.#last?.host || found.port !== this.#last.port) this.#onPrimary(found);
    this.#last = found;
    return found;
  }

  /** Errors: the server is not the primary, or was it before another one. */
  async #ask(config: ClientConfig): Promise<Found> {
    const client = this.#createClient({ ...config, connectionTimeoutMillis: ANSWER_WITHIN_MS });
    client.on("error", () => {}); // its query fails as well
    try {
      await client.connect();
      const query = { text: `SELECT ${HISTORY_COLUMNS}`, query_timeout: ANSWER_WITHIN_MS };
      const { rows } = await client.query<{ system: string; timeline: number | null }>(query);
      const { system = "", timeline = null } = rows[0] ?? {};
      const { host, port } = client;
      if (timeline === null) throw new Error(`${host}:${port} is a standby.`);
      const last = this.#last;
      // A former primary that was paused or cut off still takes itself for one.
      if (last !== null && last.system === system && timeline < last.timeline)
        throw new Error(`${host}:${port} was the primary before the present one.`);
      return { host, port, system, timeline };
    } finally {
      client.end().catch(() => {}); // it is not waited for, and one that is gone needs no closing
    }
  }
}

/**
 * What a client of ours is made with. `servers`: it goes to the primary among them. `primaryOnly`: a standby is refused, to which a
 * balancer may lead.
 */
export type PrimaryClientConfig = ClientConfig & { readonly servers?: ServerList; readonly primaryOnly?: boolean };

/** A connection to the primary of several servers, or to the one server of its configuration. */
export class PrimaryClient extends Client {
  readonly #servers: ServerList | null;
  readonly #primaryOnly: boolean;
  #isStandby = false;

  constructor(config: PrimaryClientConfig = {}) {
    super(config);
    this.#servers = config.servers ?? null;
    this.#primaryOnly = config.primaryOnly ?? false;
    // PostgreSQL reports it with each connection, so no question is needed. The driver's types lack its own protocol.
    const protocol = Reflect.get(this, "connection") as NodeJS.EventEmitter;
    protocol.on("parameterStatus", ({ parameterName, parameterValue }: ParameterStatus) => {
      if (parameterName === "in_hot_standby") this.#isStandby = parameterValue === "on";
    });
  }

  override connect(): Promise<Client>;
  override connect(callback: ((error: Error) => void) | ((error: null, client: Client) => void)): void;
  override connect(callback?: ((error: Error) => void) | ((error: null, client: Client) => void)) {
    if (callback === undefined) return this.#connect();
    callbackify(() => this.#connect())(callback as (error: NodeJS.ErrnoException | null, client?: Client) => void);
    return undefined;
  }

  async #connect(): Promise<Client> {
    if (this.#servers !== null) {
      // The host is also the name that a certificate must have.
      const { host, port } = await this.#servers.primary();
      this.host = host;
      this.port = port;
    }
    await super.connect();
    if (!this.#primaryOnly || !this.#isStandby) return this;
    // A pooler repeats what its server reported when it was made, also after the promotion of that server.
    const asked = { text: "SELECT pg_is_in_recovery() AS standby", query_timeout: ANSWER_WITHIN_MS };
    const { rows } = await this.query<{ standby: boolean }>(asked).catch(() => ({ rows: [] }));
    if (rows[0]?.standby === false) return this;
    await this.end().catch(() => {}); // it is refused, whatever becomes of it
    throw Object.assign(new Error("The database server is a standby."), { code: "ECONNREFUSED" });
  }
}
