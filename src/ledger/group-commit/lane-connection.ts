// The connection of a lane. After a connection was lost, the next one is opened only when the lost backend has certainly ended:
// before that, the outcome of its work is open.

import type { Client, Submittable } from "pg";
import type { Database } from "../../database/database.ts";
import { type History, readHistory } from "../../database/history.ts";
import { backendOf, type Backend } from "../../database/login-connections.ts";
import { failpoint } from "../../kernel/failpoint.ts";
import { invariant } from "../../kernel/invariant.ts";
import { type PipelinedStatement, StatementPipeline, type TextRows } from "./statement-pipeline.ts";

/** A statement without an answer for so long counts as lost, like its connection. A statement waits for rows 250 ms at most. */
const ANSWER_WITHIN_MS = 5_000;

export class LaneConnection {
  readonly #database: Database;
  readonly #onLost: () => void;
  #client: Client | null = null;
  #backend: Backend | null = null;
  #lost: Backend | null = null;
  #history: History | null = null;

  constructor(database: Database, onLost: () => void) {
    this.#database = database;
    this.#onLost = onLost;
  }

  get isOpen(): boolean {
    return this.#client !== null;
  }

  /** The history of the books on the server that was connected last. Null: none was, or it is a standby. */
  get history(): History | null {
    return this.#history;
  }

  /** The connection, opened if there is none. Errors: whatever makes the database unavailable. */
  async get(): Promise<this> {
    if (this.#client !== null) return this;
    if (this.#lost !== null) {
      await this.#database.endBackend(this.#lost);
      this.#lost = null;
    }
    const client = await this.#database.connect();
    client.on("error", () => {
      if (this.#client === client) this.drop();
    });
    try {
      this.#backend = await backendOf(client);
      this.#history = await readHistory(client);
    } catch (error) {
      await client.end().catch(() => {}); // the first error is the one to report
      throw error;
    }
    this.#client = client;
    return this;
  }

  /** Runs statements in one transaction and returns the rows of each. */
  async run(statements: readonly PipelinedStatement[]): Promise<TextRows[]> {
    invariant(this.#client !== null, "a lane runs its statements on an open connection");
    const pipeline = new StatementPipeline(statements, ANSWER_WITHIN_MS);
    if (anyNamed(statements, "admission")) failpoint?.("before-hold-commit");
    // The driver's own queries have the same shape, but its types do not declare it.
    this.#client.query(pipeline as unknown as Submittable);
    if (anyNamed(statements, "settlement")) failpoint?.("mid-settle"); // all of the statement is on its way to the server
    return pipeline.rows;
  }

  /** Gives the connection up as lost. */
  drop(): void {
    if (this.#client === null) return;
    this.#onLost();
    this.#lost = this.#backend;
    this.#client.end().catch(() => {}); // it is gone; ending it only frees the socket
    this.#client = null;
  }

  async close(): Promise<void> {
    const client = this.#client;
    this.#client = null;
    await client?.end().catch(() => {}); // a connection that is already gone is closed
  }
}

/** Whether there are statements of a kind; asked for failpoints alone. */
function anyNamed(statements: readonly PipelinedStatement[], kind: string): boolean {
  return failpoint !== undefined && statements.some(({ name }) => name.includes(kind));
}
