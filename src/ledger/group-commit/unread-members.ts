// Members of lost statements whose rows the server refuses to read: a damaged page, a locked partition, a full disk. They wait here,
// apart from the lane, so that others do not wait with them. Each is read by itself over the pool until its row was read or it has
// waited too long. Their lost backend has ended: a lane reads nothing before that, and only what it failed to read comes here.

import type { Pool, Submittable } from "pg";
import { ServiceBusy } from "../../kernel/errors.ts";
import type { Waiting } from "./lane-queue.ts";
import { isDatabaseAway, sqlState } from "../../database/transactions.ts";
import { answerAll, recall } from "./member-outcomes.ts";
import { type PipelinedStatement, StatementPipeline, type TextRows } from "./statement-pipeline.ts";

const PAUSE_MS = { first: 50, most: 2_000 };
/** How many are read at a time. The pool has other work. */
const MOST_READS = 2;
/** A connection without an answer for so long is given up. */
const ANSWER_WITHIN_MS = 5_000;

type Unread = { readonly waiting: Waiting; pauseMs: number; timer: NodeJS.Timeout | undefined };

export class UnreadMembers {
  readonly #pool: Pool;
  readonly #onUnwritten: (members: Waiting[]) => void;
  readonly #unread = new Set<Unread>();
  readonly #due: Unread[] = [];
  #reads = 0;

  /** `onUnwritten` takes back a member for which nothing was written. Without an answer it is called with all at `close`. */
  constructor(pool: Pool, onUnwritten: (members: Waiting[]) => void) {
    this.#pool = pool;
    this.#onUnwritten = onUnwritten;
  }

  /** How many members wait. */
  get waiting(): number {
    return this.#unread.size;
  }

  /** Keeps members until it is known whether their rows are written. */
  add(members: readonly Waiting[]): void {
    for (const waiting of members) {
      const unread: Unread = { waiting, pauseMs: PAUSE_MS.first, timer: undefined };
      this.#unread.add(unread);
      this.#due.push(unread);
    }
    this.#readDue();
  }

  /** Returns all members, whether their rows were read or not. */
  close(): void {
    const members = [...this.#unread].map(({ waiting }) => waiting);
    for (const { timer } of this.#unread) clearTimeout(timer);
    this.#unread.clear();
    this.#due.length = 0;
    this.#onUnwritten(members);
  }

  #readDue(): void {
    while (this.#reads < MOST_READS && this.#due.length > 0) void this.#readInTurn();
  }

  async #readInTurn(): Promise<void> {
    this.#reads += 1;
    for (let unread = this.#due.shift(); unread !== undefined; unread = this.#due.shift()) await this.#read(unread);
    this.#reads -= 1;
  }

  async #read(unread: Unread): Promise<void> {
    if (this.#isGivenUp(unread)) return;
    try {
      const outcomes = await recall((statements) => this.#run(statements), [unread.waiting]);
      if (!this.#unread.delete(unread)) return; // closed meanwhile, and its caller has an answer
      answerAll(outcomes);
      if (outcomes.unanswered.length > 0) this.#onUnwritten(outcomes.unanswered);
    } catch (error) {
      this.#readLater(unread, error);
    }
  }

  #readLater(unread: Unread, error: unknown): void {
    if (!this.#unread.has(unread) || this.#isGivenUp(unread, error)) return;
    unread.timer = setTimeout(() => {
      this.#due.push(unread);
      this.#readDue();
    }, unread.pauseMs);
    unread.pauseMs = Math.min(unread.pauseMs * 2, PAUSE_MS.most);
  }

  /** Refuses a member that has waited for too long, also behind the reading of others. */
  #isGivenUp(unread: Unread, cause?: unknown): boolean {
    const { since, statement, reject } = unread.waiting;
    if (performance.now() - since <= statement.lockPatienceMs) return false;
    this.#unread.delete(unread);
    reject(new ServiceBusy(undefined, { cause }));
    return true;
  }

  async #run(statements: readonly PipelinedStatement[]): Promise<TextRows[]> {
    const client = await this.#pool.connect();
    let failed: Error | undefined;
    try {
      const pipeline = new StatementPipeline(statements, ANSWER_WITHIN_MS);
      // The driver's own queries have the same shape, but its types do not declare it.
      client.query(pipeline as unknown as Submittable);
      return await pipeline.rows;
    } catch (error) {
      // Without the server's answer it may still be running. A connection that has refused is as good as before.
      if (sqlState(error) === undefined || isDatabaseAway(error))
        failed = new Error("reading failed", { cause: error });
      throw error;
    } finally {
      client.release(failed);
    }
  }
}
