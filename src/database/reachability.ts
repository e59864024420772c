// Whether the database answers, for every caller: probes of health come from strangers and in any number. All
// of them share one answer a second, asked on a connection of its own, so that they take none from callers.

import type { Client } from "pg";
import { sqlState } from "./transactions.ts";

/** An answer is given out for so long. */
const REMEMBERED_MS = 1_000;
/** A database that takes longer for nothing is not ready. */
const ANSWER_WITHIN_MS = 2_000;
/** Then another connection takes its place: a login that is refused by now keeps those that it has, and gets no others. */
const RENEWED_MS = 10_000;
/** No such login, password or right to connect. */
const REFUSED = /^28|^42501$/;

type Connection = Pick<Client, "query" | "end">;
type Held = { readonly connection: Promise<Connection>; readonly sinceMs: number };

/** The shared probe of one login. `onChange` gets the reason when the database no longer answers it, and null when it does again. */
export class Reachability {
  readonly #connect: () => Promise<Connection>;
  readonly #onChange: (reason: unknown) => void;
  readonly #now: () => number;
  #held: Held | null = null;
  #asked: { readonly answer: Promise<boolean>; atMs: number } | null = null;
  #answered = true;

  constructor(
    connect: () => Promise<Connection>,
    {
      onChange = () => {},
      now = () => performance.now(),
    }: { onChange?: (reason: unknown) => void; now?: () => number } = {},
  ) {
    this.#connect = connect;
    this.#onChange = onChange;
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
    const held = this.#held;
    this.#held = null;
    await endOf(held);
  }

  async #ask(): Promise<boolean> {
    const { promise: late, reject } = Promise.withResolvers<never>();
    const timer = setTimeout(() => reject(new Error("The database did not answer.")), ANSWER_WITHIN_MS);
    try {
      await Promise.race([this.#connected().then((client) => client.query("SELECT")), late]);
      this.#note(null);
      return true;
    } catch (error) {
      // The next probe has a new connection.
      void this.close();
      this.#note(error);
      return false;
    } finally {
      clearTimeout(timer);
    }
  }

  /** The connection, and a new one from time to time. Where none can be made although the login is not refused, the former one stays. */
  async #connected(): Promise<Connection> {
    const former = this.#held;
    if (former !== null && this.#now() - former.sinceMs < RENEWED_MS) return former.connection;
    const fresh = { connection: this.#connect(), sinceMs: this.#now() };
    this.#held = fresh;
    try {
      const connection = await fresh.connection;
      void endOf(former);
      return connection;
    } catch (error) {
      if (former === null || this.#held !== fresh || REFUSED.test(sqlState(error) ?? "")) {
        void endOf(former);
        throw error;
      }
      this.#held = { ...former, sinceMs: fresh.sinceMs };
      return former.connection;
    }
  }

  #note(reason: unknown): void {
    if (this.#answered === (reason === null)) return;
    this.#answered = reason === null;
    this.#onChange(reason);
  }
}

async function endOf(held: Held | null): Promise<void> {
  await (await held?.connection.catch(() => null))?.end().catch(() => {
    // It is gone already.
  });
}
