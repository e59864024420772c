// The lease of a serving process. Holds belong to a process; when its lease has run out and another process has declared it dead,
// any process may resolve its holds. A dead process never lives again: it continues under a new id.

import type { Client, QueryResult } from "pg";
import type { Database } from "../database/database.ts";
import { CODE_NUMBER } from "../database/migrations/migrations.ts";
import { isDatabaseAway, sqlState, sqlStates } from "../database/transactions.ts";
import { ServiceBusy } from "../kernel/errors.ts";
import { timeOfUuidv7, uuidv7 } from "../kernel/ids.ts";
import { LeaseTerm, type RequestTerm } from "./lease-term.ts";

/** How often a process renews its lease. A gap of twice this long starts a new term. */
export const LEASE_RENEWAL_MS = 5_000;
const TERM = "interval '20 s'";
const GAP = "interval '10 s'";

// All times are the database's: clock_timestamp() is read when the statement runs, not when a transaction began.
const REGISTER = `INSERT INTO process (id, schema_code, expires_at)
VALUES ($1::uuid, ${CODE_NUMBER}, clock_timestamp() + ${TERM}) RETURNING clock_timestamp() AS now`;

const RENEW = `
UPDATE process SET
  gapless_since = CASE WHEN clock_timestamp() - renewed_at <= ${GAP} THEN gapless_since ELSE clock_timestamp() END,
  renewed_at = clock_timestamp(), expires_at = clock_timestamp() + ${TERM}
WHERE id = $1::uuid AND dead_at IS NULL RETURNING clock_timestamp() AS now`;

// Only a process that has renewed without a gap for a whole term may declare another one dead: after an outage of the database no
// process has, so none declares another dead. SKIP LOCKED skips a process that is just renewing.
const BURY = `
UPDATE process p SET dead_at = clock_timestamp() FROM (
  SELECT v.id FROM process v
  WHERE v.dead_at IS NULL AND v.expires_at < clock_timestamp() AND EXISTS (
    SELECT FROM process m WHERE m.id = $1::uuid AND m.dead_at IS NULL AND m.expires_at > clock_timestamp()
      AND m.gapless_since <= clock_timestamp() - ${TERM})
  ORDER BY v.id FOR NO KEY UPDATE OF v SKIP LOCKED
) d WHERE p.id = d.id RETURNING p.id`;

// A process that stops in order has resolved its holds, so no process has to wait for the end of its lease.
const RESIGN = `UPDATE process SET dead_at = clock_timestamp() WHERE id = $1::uuid AND dead_at IS NULL`;

const SERVES = `SELECT FROM process WHERE dead_at IS NULL AND expires_at > clock_timestamp() LIMIT 1`;

/** Whether a process serves from this database. */
export async function isServed(client: Pick<Client, "query">): Promise<boolean> {
  return (await client.query(SERVES)).rowCount !== 0;
}

const BURY_ALL = `UPDATE process SET dead_at = clock_timestamp() WHERE dead_at IS NULL`;

/** Declares all processes dead: those of a restored database serve another one, or none. Returns their number. */
export async function declareAllDead(client: Pick<Client, "query">): Promise<number> {
  return (await client.query(BURY_ALL)).rowCount ?? 0;
}

/** A statement of the lease without an answer for so long is given up; three more fit into the term. */
const ANSWER_WITHIN_MS = 4_000;

/** TERM by our own clock, which runs on while a process is paused. */
export const TERM_MS = 20_000;

/**
 * How old and how new the id of an admitted request may be, by the database's clock: a body takes five minutes at most, and
 * clocks may differ by three. Partitions, pages and the audit's horizon use the time in the id.
 */
export const OLDEST_REQUEST_MS = 8 * 60_000;
export const NEWEST_REQUEST_MS = 3 * 60_000;

/** The lease has a connection of its own: requests that wait for locks must not delay a renewal. */
export class ProcessLease {
  readonly #database: Pick<Database, "connect">;
  /** Shared by all callers while it is being opened: a second connection would have no owner. */
  #connection: Promise<Client> | null = null;
  #processId = "";
  /** When the last successful renewal was sent. */
  #renewedAtMs = 0;
  #renewing: Promise<void> | null = null;
  /** When the process last tried to renew, successful or not: a gap longer than the term means that it was paused. */
  #workedOnAtMs = performance.now();
  /** The database's time less our monotonic time, at the last renewal. */
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
   * The owner of new holds. Errors: ServiceBusy while the lease may have run out: another process may have declared this one
   * dead, and would resolve its new holds at once.
   */
  owner(): string {
    if (performance.now() - this.#renewedAtMs > TERM_MS) {
      this.renew().catch(() => {}); // the job tries again and logs the error
      throw new ServiceBusy();
    }
    return this.#processId;
  }

  /**
   * The owner of the hold of this request. Errors: ServiceBusy as `owner`, and where the id's time differs from the database's:
   * the clock of this machine is wrong.
   */
  ownerOf(requestId: string): string {
    const owner = this.owner();
    const aheadMs = timeOfUuidv7(requestId) - this.#databaseNowMs();
    if (aheadMs > NEWEST_REQUEST_MS || aheadMs < -OLDEST_REQUEST_MS) {
      throw new ServiceBusy(undefined, { cause: new Error(clockDiffers(aheadMs)) });
    }
    return owner;
  }

  /** Errors: one with the difference, when the clock of this machine is so wrong that requests are refused, or soon will be. */
  requireRightClock(nowMs = Date.now()): void {
    const aheadMs = nowMs - this.#databaseNowMs();
    if (Math.abs(aheadMs) > NEWEST_REQUEST_MS) throw new Error(clockDiffers(aheadMs));
  }

  /** The term of requests that are admitted from now on. Read it before their admission. */
  term(): RequestTerm {
    if (this.#term.isOver()) this.#term = this.#newTerm();
    return this.#term;
  }

  /** Renews the lease; a process that was declared dead registers again. Requests under the old id are ended. */
  async renew(): Promise<void> {
    // A gap must be noticed before the renewal closes it.
    this.#term.isOver();
    this.#workedOnAtMs = performance.now();
    this.#renewing ??= this.#renew().finally(() => {
      this.#term.isOver();
      this.#workedOnAtMs = performance.now();
      this.#renewing = null;
    });
    await this.#renewing;
  }

  /** Declares processes dead whose lease has run out, if this one may. Returns their ids. */
  async expireDeadProcesses(): Promise<string[]> {
    const { rows } = await this.#query<{ id: string }>(BURY, this.#processId);
    return rows.map((row) => row.id);
  }

  /** Ends the lease for good. While the database is unavailable the lease runs out by itself. */
  async resign(): Promise<void> {
    try {
      await this.#query(RESIGN, this.#processId).catch((error: unknown) => {
        if (!isDatabaseAway(error)) throw error;
        return this.#query(RESIGN, this.#processId); // the connection was lost, perhaps not the database
      });
    } catch (error) {
      // A row that an unconfirmed commit still holds is as out of reach as the database.
      if (!isDatabaseAway(error) && sqlState(error) !== sqlStates.lockTimeout) throw error;
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
      // The next statement gets a new connection, whatever is wrong with this one.
      void this.#giveUp(connection);
      throw error;
    }
  }

  async #giveUp(connection: Promise<Client>): Promise<void> {
    if (this.#connection === connection) this.#connection = null;
    // The connection was never opened, or is closed already.
    await connection.then((client) => client.end()).catch(() => {});
  }
}

type Now = { now: Date };

function clockDiffers(aheadMs: number): string {
  const seconds = Math.round(Math.abs(aheadMs) / 1_000);
  return `the clock of this machine is ${seconds} s ${aheadMs > 0 ? "ahead of" : "behind"} the database's`;
}
