// A lane: one connection on which the holds and settlements of many requests are committed together. While one group is
// being committed the next one collects; there is no timer. A request that is alone is sent at once, with the cheaper text.
// What a lane promises: each member is answered once; a group that fails is replayed member by member, so that one bad row
// never fails its neighbours; after a lost connection the lost backend is ended before anything is replayed.

import { setTimeout as sleep } from "node:timers/promises";
import type { Client, QueryArrayConfig } from "pg";
import type { Database } from "../database/database.ts";
import { isDatabaseAway, sqlState } from "../database/transactions.ts";
import { UpstreamBusy } from "../kernel/errors.ts";
import { invariant } from "../kernel/invariant.ts";

/** The largest group. Beyond it the statement costs more per member than it saves. */
export const MAX_GROUP_SIZE = 32;
/** How often a member is tried after deadlocks, serialization failures and lock time-outs. */
const MAX_ATTEMPTS = 12;
/** How long a settlement is tried while the database is away. An admission is refused as soon as the database is. */
const SETTLEMENT_PATIENCE_MS = 60_000;
const RECONNECT_PAUSE_MS = { first: 50, most: 1_000 };

const SERIALIZATION_FAILURE = "40001";
const DEADLOCK = "40P01";
const LOCK_TIMEOUT = "55P03";

/** A kind of statement a lane runs: one text for a lone member, one for a group, both named and planned once. */
export interface LaneStatement<Member, Outcome> {
  readonly name: "admission" | "settlement";
  lone(member: Member): QueryArrayConfig;
  group(members: readonly Member[]): QueryArrayConfig;
  /** One outcome per member, in order. */
  outcomes(rows: readonly unknown[][], members: readonly Member[]): Outcome[];
  /** Whether a member waits out a database that is away, or is refused at once. */
  readonly patient: boolean;
}

type Waiting = {
  readonly statement: LaneStatement<unknown, unknown>;
  readonly member: unknown;
  readonly resolve: (outcome: unknown) => void;
  readonly reject: (error: unknown) => void;
  readonly since: number;
  alone: boolean;
  attempts: number;
};

/** Counts for the metrics: how deep lanes are and how often something was replayed. */
export type LaneStatistics = { groups: number; members: number; replays: number; lostConnections: number };

export class Lane {
  readonly statistics: LaneStatistics = { groups: 0, members: 0, replays: 0, lostConnections: 0 };
  readonly #database: Database;
  readonly #queues = { admission: [] as Waiting[], settlement: [] as Waiting[] };
  #client: Client | null = null;
  #clientPid = 0;
  #lostPid: number | null = null;
  #running = false;
  #closed = false;
  #lastKind: "admission" | "settlement" = "admission";

  constructor(database: Database) {
    this.#database = database;
  }

  /** How many members wait for a group. */
  get depth(): number {
    return this.#queues.admission.length + this.#queues.settlement.length;
  }

  /** Opens the connection ahead of the first member. */
  async open(): Promise<void> {
    await this.#connection();
  }

  /**
   * Runs a member with the next group of its kind, or by itself if `alone`; a member that runs alone goes before those
   * that came later. Errors: UpstreamBusy when the database is away or the row stays locked.
   */
  submit<Member, Outcome>(
    statement: LaneStatement<Member, Outcome>,
    member: Member,
    { alone = false } = {},
  ): Promise<Outcome> {
    return new Promise<Outcome>((resolve, reject) => {
      if (this.#closed) return reject(new UpstreamBusy());
      const waiting = { statement, member, resolve, reject, since: performance.now(), alone, attempts: 0 } as Waiting;
      const queue = this.#queues[statement.name];
      if (alone) queue.splice(indexOfFirstShared(queue), 0, waiting);
      else queue.push(waiting);
      if (this.#running) return;
      this.#running = true;
      queueMicrotask(() => void this.#run());
    });
  }

  /** Finishes what waits and closes the connection. */
  async close(): Promise<void> {
    while (this.#running) await sleep(5);
    this.#closed = true;
    await this.#client?.end().catch(() => {}); // a connection that is already gone is closed
    this.#client = null;
  }

  async #run(): Promise<void> {
    try {
      for (let group = this.#nextGroup(); group.length > 0; group = this.#nextGroup()) await this.#commit(group);
    } finally {
      this.#running = false;
    }
  }

  /** The kinds take turns, so that neither waits for the other to run dry. */
  #nextGroup(): Waiting[] {
    const other = this.#lastKind === "admission" ? "settlement" : "admission";
    const kind = this.#queues[other].length > 0 ? other : this.#lastKind;
    this.#lastKind = kind;
    const queue = this.#queues[kind];
    if (queue[0]?.alone === true) return queue.splice(0, 1);
    let size = 0;
    while (size < queue.length && size < MAX_GROUP_SIZE && queue[size]?.alone === false) size += 1;
    return queue.splice(0, size);
  }

  async #commit(group: Waiting[]): Promise<void> {
    const statement = group[0]?.statement;
    invariant(statement !== undefined, "a group has a member");
    const members = group.map((waiting) => waiting.member);
    try {
      const client = await this.#connection();
      const query = members.length === 1 ? statement.lone(members[0]) : statement.group(members);
      const { rows } = await client.query<unknown[]>(query);
      const outcomes = statement.outcomes(rows, members);
      this.statistics.groups += 1;
      this.statistics.members += group.length;
      for (const [index, waiting] of group.entries()) waiting.resolve(outcomes[index]);
    } catch (error) {
      this.statistics.replays += 1;
      if (this.#client === null || isDatabaseAway(error)) await this.#afterLostConnection(group, error);
      else this.#afterFailedStatement(group, error);
    }
  }

  /** The outcome is unknown: the same members run again, as they were, once the lost backend is known to be gone. */
  async #afterLostConnection(group: Waiting[], error: unknown): Promise<void> {
    this.#dropConnection();
    const queue = this.#queues[group[0]?.statement.name ?? "admission"];
    queue.unshift(...group);
    for (let pauseMs = RECONNECT_PAUSE_MS.first; ; pauseMs = Math.min(pauseMs * 2, RECONNECT_PAUSE_MS.most)) {
      try {
        await this.#connection();
        return;
      } catch (reason) {
        if (!isDatabaseAway(reason) && !isDatabaseAway(error)) this.#refuse(() => true, reason);
        this.#refuse((waiting) => !waiting.statement.patient, reason);
        this.#refuse((waiting) => performance.now() - waiting.since > SETTLEMENT_PATIENCE_MS, reason);
        if (this.depth === 0) return;
        await sleep(pauseMs);
      }
    }
  }

  #refuse(which: (waiting: Waiting) => boolean, cause: unknown): void {
    for (const queue of [this.#queues.admission, this.#queues.settlement]) {
      const kept: Waiting[] = [];
      for (const waiting of queue.splice(0)) {
        if (which(waiting)) waiting.reject(new UpstreamBusy(undefined, { cause }));
        else kept.push(waiting);
      }
      queue.push(...kept);
    }
  }

  /** Nothing was written. Members run again one by one; a lone member's own error is its answer, unless it may pass. */
  #afterFailedStatement(group: Waiting[], error: unknown): void {
    const code = sqlState(error);
    const mayPass = code === SERIALIZATION_FAILURE || code === DEADLOCK || code === LOCK_TIMEOUT;
    const [first] = group;
    if (group.length === 1 && first !== undefined) {
      first.attempts += 1;
      if (!mayPass) return first.reject(error);
      if (first.attempts >= MAX_ATTEMPTS) return first.reject(new UpstreamBusy(undefined, { cause: error }));
    }
    for (const waiting of group) waiting.alone = true;
    // Behind those that wait: a row that stays locked must not hold up its neighbours.
    const queue = this.#queues[first?.statement.name ?? "admission"];
    queue.push(...group);
  }

  async #connection(): Promise<Client> {
    if (this.#client !== null) return this.#client;
    if (this.#lostPid !== null) {
      await this.#database.endBackend(this.#lostPid);
      this.#lostPid = null;
    }
    const client = await this.#database.connect();
    client.on("error", () => {
      if (this.#client === client) this.#dropConnection();
    });
    const { rows } = await client.query<{ pid: number }>("SELECT pg_backend_pid() AS pid").catch(async (error) => {
      await client.end().catch(() => {}); // the first error is the one to tell
      throw error;
    });
    this.#clientPid = rows[0]?.pid ?? 0;
    this.#client = client;
    return client;
  }

  #dropConnection(): void {
    if (this.#client === null) return;
    this.statistics.lostConnections += 1;
    this.#lostPid = this.#clientPid;
    this.#client.end().catch(() => {}); // it is gone; ending it only frees the socket
    this.#client = null;
  }
}

function indexOfFirstShared(queue: readonly Waiting[]): number {
  const index = queue.findIndex((waiting) => !waiting.alone);
  return index === -1 ? queue.length : index;
}
