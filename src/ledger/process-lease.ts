// The lease of a serving process. Holds belong to a process; once its lease has run out and another process has declared
// it dead, its holds are open to all. Dead is for ever: a process that wakes up dead goes on under a new id.

import type { Client, QueryResult } from "pg";
import type { Database } from "../database/database.ts";
import { isDatabaseAway } from "../database/transactions.ts";
import { UpstreamBusy } from "../kernel/errors.ts";
import { timeOfUuidv7, uuidv7 } from "../kernel/ids.ts";
import { LeaseTerm, type RequestTerm } from "./lease-term.ts";

/** How often a process renews its lease. A gap of twice this many starts its term anew. */
export const LEASE_RENEWAL_MS = 5_000;
const TERM = "interval '20 s'";
const GAP = "interval '10 s'";

// All times are the database's: clock_timestamp() is read when the statement runs, not when a transaction began.
const REGISTER = `INSERT INTO process (id, expires_at) VALUES ($1::uuid, clock_timestamp() + ${TERM})
RETURNING clock_timestamp() AS now`;

const RENEW = `
UPDATE process SET
  gapless_since = CASE WHEN clock_timestamp() - renewed_at <= ${GAP} THEN gapless_since ELSE clock_timestamp() END,
  renewed_at = clock_timestamp(), expires_at = clock_timestamp() + ${TERM}
WHERE id = $1::uuid AND dead_at IS NULL RETURNING clock_timestamp() AS now`;

// Only a process that has itself renewed without a gap for a whole term may bury another: after an outage of the
// database nobody has, so nobody kills anybody. SKIP LOCKED leaves alone who is just renewing.
const BURY = `
UPDATE process p SET dead_at = clock_timestamp() FROM (
  SELECT v.id FROM process v
  WHERE v.dead_at IS NULL AND v.expires_at < clock_timestamp() AND EXISTS (
    SELECT FROM process m WHERE m.id = $1::uuid AND m.dead_at IS NULL AND m.expires_at > clock_timestamp()
      AND m.gapless_since <= clock_timestamp() - ${TERM})
  ORDER BY v.id FOR NO KEY UPDATE OF v SKIP LOCKED
) d WHERE p.id = d.id RETURNING p.id`;

// A process that stops in order has resolved its holds; nobody needs to wait for its lease to run out.
const RESIGN = `UPDATE process SET dead_at = clock_timestamp() WHERE id = $1::uuid AND dead_at IS NULL`;

const SERVES = `SELECT FROM process WHERE dead_at IS NULL AND expires_at > clock_timestamp() LIMIT 1`;

/** Whether a process serves from this database. */
export async function isServed(client: Pick<Client, "query">): Promise<boolean> {
  return (await client.query(SERVES)).rowCount !== 0;
}

/** A statement of the lease without an answer for so long is given up; there are three more before the term ends. */
const ANSWER_WITHIN_MS = 4_000;

/** As TERM, by our own clock, which goes on while a process is paused. */
const TERM_MS = 20_000;

/**
 * How old and how new the id of an admitted request may be, by the database's clock: a body takes five minutes at most to come,
 * and clocks may differ by three. Partitions, pages and the audit's horizon go by the time in the id.
 */
export const OLDEST_REQUEST_MS = 8 * 60_000;
export const NEWEST_REQUEST_MS = 3 * 60_000;

/** It has a connection of its own: requests that wait for locks must not keep a process from showing that it lives. */
export class ProcessLease {
  readonly #database: Pick<Database, "connect">;
  /** Shared by those who ask while it is being made: a second connection would belong to nobody. */
  #connection: Promise<Client> | null = null;
  #processId = "";
  /** When the last renewal that came through was sent. */
  #renewedAtMs = 0;
  #renewing: Promise<void> | null = null;
  /** When the lease was last seen to be worked on, with or without success: a longer gap than the term means that nobody ran. */
  #workedOnAtMs = performance.now();
  /** The database's time less our monotonic one, as seen with the last renewal. */
  #databaseAheadMs = 0;
  #term = this.#newTerm();

  private constructor(database: Pick<Database, "connect">) {
    this.#database = database;
  }

  /** Registers this process. */
  static async take(database: Pick<Database, "connect">): Promise<ProcessLease> {
    const lease = new ProcessLease(database);
    await lease.#register();
    return lease;
  }

  get processId(): string {
    return this.#processId;
  }

  /**
   * The owner of the holds placed now. Errors: UpstreamBusy while the lease may have run out: others may have declared this
   * process dead, and would resolve at once what it places.
   */
  owner(): string {
    if (performance.now() - this.#renewedAtMs > TERM_MS) {
      this.renew().catch(() => {}); // the tick tries again and tells
      throw new UpstreamBusy();
    }
    return this.#processId;
  }

  /**
   * The owner of the hold of this request. Errors: UpstreamBusy as `owner`, and where the id has another time than the database:
   * the clock of this machine is wrong.
   */
  ownerOf(requestId: string): string {
    const owner = this.owner();
    const aheadMs = timeOfUuidv7(requestId) - this.#databaseNowMs();
    if (aheadMs > NEWEST_REQUEST_MS || aheadMs < -OLDEST_REQUEST_MS) {
      throw new UpstreamBusy(undefined, { cause: new Error(clockDiffers(aheadMs)) });
    }
    return owner;
  }

  /** Errors: one that says by how much, when the clock of this machine differs so much that requests are refused, or soon will be. */
  requireRightClock(nowMs = Date.now()): void {
    const aheadMs = nowMs - this.#databaseNowMs();
    if (Math.abs(aheadMs) > NEWEST_REQUEST_MS) throw new Error(clockDiffers(aheadMs));
  }

  /** The term of requests that are admitted from now on. Take it before their admission. */
  term(): RequestTerm {
    if (this.#term.isOver()) this.#term = this.#newTerm();
    return this.#term;
  }

  /** Renews the lease; a process that was declared dead meanwhile registers anew. What ran under the old id is ended. */
  async renew(): Promise<void> {
    // A gap is noticed before it is closed.
    this.#term.isOver();
    this.#workedOnAtMs = performance.now();
    this.#renewing ??= this.#renew().finally(() => {
      this.#term.isOver();
      this.#workedOnAtMs = performance.now();
      this.#renewing = null;
    });
    await this.#renewing;
  }

  /** Declares processes dead whose lease has run out, if this one may. Gives their ids. */
  async buryExpired(): Promise<string[]> {
    const { rows } = await this.#query<{ id: string }>(BURY, this.#processId);
    return rows.map((row) => row.id);
  }

  /** Gives the lease up for good. Where the database is away it runs out by itself. */
  async resign(): Promise<void> {
    try {
      await this.#query(RESIGN, this.#processId).catch((error: unknown) => {
        if (!isDatabaseAway(error)) throw error;
        return this.#query(RESIGN, this.#processId); // the connection was lost, perhaps not the database
      });
    } catch (error) {
      if (!isDatabaseAway(error)) throw error;
    } finally {
      await this.close();
    }
  }

  /** Closes the connection and leaves the lease to run out. */
  async close(): Promise<void> {
    if (this.#connection !== null) await this.#giveUp(this.#connection);
  }

  async #renew(): Promise<void> {
    const startedAtMs = performance.now();
    const { rows } = await this.#query<Now>(RENEW, this.#processId);
    this.#noteClock(rows, startedAtMs);
    if (rows.length === 0) {
      this.#term.end();
      await this.#register();
    } else this.#renewedAtMs = startedAtMs;
  }

  async #register(): Promise<void> {
    const processId = uuidv7();
    const startedAtMs = performance.now();
    const { rows } = await this.#query<Now>(REGISTER, processId);
    this.#noteClock(rows, startedAtMs);
    this.#processId = processId;
    this.#renewedAtMs = startedAtMs;
  }

  #noteClock([row]: readonly Now[], startedAtMs: number): void {
    if (row !== undefined) this.#databaseAheadMs = row.now.getTime() - (startedAtMs + performance.now()) / 2;
  }

  #databaseNowMs(): number {
    return performance.now() + this.#databaseAheadMs;
  }

  #newTerm(): LeaseTerm {
    return new LeaseTerm(() => performance.now() - this.#workedOnAtMs > TERM_MS);
  }

  async #query<Row extends Record<string, unknown>>(text: string, processId: string): Promise<QueryResult<Row>> {
    this.#connection ??= this.#database.connect();
    const connection = this.#connection;
    try {
      const query = { text, values: [processId], query_timeout: ANSWER_WITHIN_MS };
      return await (await connection).query<Row>(query);
    } catch (error) {
      // The next one gets a new connection, whatever is wrong with this one.
      void this.#giveUp(connection);
      throw error;
    }
  }

  async #giveUp(connection: Promise<Client>): Promise<void> {
    if (this.#connection === connection) this.#connection = null;
    // A connection that was never made, or is gone already, is closed.
    await connection.then((client) => client.end()).catch(() => {});
  }
}

type Now = { now: Date };

function clockDiffers(aheadMs: number): string {
  const seconds = Math.round(Math.abs(aheadMs) / 1_000);
  return `the clock of this machine is ${seconds} s ${aheadMs > 0 ? "ahead of" : "behind"} the database's`;
}
