// Whether the database answers, for every caller: probes of health come from strangers and in any number. All
// of them share one answer a second, asked on a connection of its own, so that they take none from callers.

import type { Client } from "pg";

/** An answer is given out for so long. */
const REMEMBERED_MS = 1_000;
/** A database that takes longer for nothing is not ready. */
const ANSWER_WITHIN_MS = 2_000;

/** The shared probe. */
export class Reachability {
  readonly #connect: () => Promise<Pick<Client, "query" | "end">>;
  readonly #now: () => number;
  #connection: Promise<Pick<Client, "query" | "end">> | null = null;
  #asked: { readonly answer: Promise<boolean>; atMs: number } | null = null;

  constructor(connect: () => Promise<Pick<Client, "query" | "end">>, now: () => number = () => performance.now()) {
    this.#connect = connect;
    this.#now = now;
  }

  /** Whether the database answers, or did within the last second. */
  isReachable(): Promise<boolean> {
    if (this.#asked !== null && this.#now() - this.#asked.atMs < REMEMBERED_MS) return this.#asked.answer;
    // Until there is an answer no other query is sent; its age counts from its arrival.
    const asked = { answer: this.#ask(), atMs: Number.POSITIVE_INFINITY };
    this.#asked = asked;
    void asked.answer.then(() => (asked.atMs = this.#now()));
    return asked.answer;
  }

  /** Gives the connection back. */
  async close(): Promise<void> {
    const connection = this.#connection;
    this.#connection = null;
    await (await connection?.catch(() => null))?.end().catch(() => {
      // It is gone already.
    });
  }

  async #ask(): Promise<boolean> {
    const connection = (this.#connection ??= this.#connect());
    const { promise: late, reject } = Promise.withResolvers<never>();
    const timer = setTimeout(() => reject(new Error("The database did not answer.")), ANSWER_WITHIN_MS);
    try {
      await Promise.race([connection.then((client) => client.query("SELECT")), late]);
      return true;
    } catch {
      // The callers that need the database report the reason. The next probe has a new connection.
      if (this.#connection === connection) void this.close();
      return false;
    } finally {
      clearTimeout(timer);
    }
  }
}
