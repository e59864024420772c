// One client's connection through the fault proxy and the server's connection for it: turns are collected here, and
// faults applied to them.

import type { Socket } from "node:net";
import {
  FLUSH,
  FROM_CLIENT,
  FROM_SERVER,
  type Message,
  MessageCutter,
  sqlStateOf,
  statementsOf,
  unnamedStatement,
} from "./postgres-wire.ts";

/** A client's messages up to a Sync: outside BEGIN and COMMIT one transaction. */
export type Turn = {
  /** Names of prepared statements, texts of others. */
  readonly statements: readonly string[];
};

/** The outcome of a turn. */
export type Fault =
  /** The connection is lost before the server has received any of it. */
  | "lose-request"
  /** The server has run all of it and receives no COMMIT: it rolls back. */
  | "lose-commit"
  /** The server has committed, and the client does not get the reply. */
  | "lose-reply"
  /** The client's connection is lost, the request is still under way to the server: see `stranded`. */
  | "strand-request"
  /** The client's connection is lost, the server has run all of it and may still receive the COMMIT: see `stranded`. */
  | "strand-commit"
  /** The server itself raises this SQLSTATE after the statements, in their transaction. */
  | { readonly raise: string }
  | { readonly delayMs: number };

/** A turn whose client is gone and whose server is not. */
export type Stranded = {
  /** Passes the rest of it on. Returns the outcome; `gone`: the server had ended the connection before. */
  release(): Promise<"committed" | "rolled back" | "gone">;
};

/** Chooses the faults of turns, and is notified of their outcomes. */
export type Watcher = {
  decide(turn: Turn): Fault | undefined;
  onError(state: string): void;
  onStranded(stranded: Stranded): void;
  onClosed(): void;
};

/** A pair of connections. */
export class Link {
  readonly #client: Socket;
  readonly #server: Socket;
  readonly #watcher: Watcher;
  readonly #fromClient = new MessageCutter("client");
  readonly #fromServer = new MessageCutter("server");
  /** The client's messages since its last Sync. Null until the session has begun: those pass unchanged. */
  #turn: Message[] | null = null;
  /** Turns wait behind a delayed one. */
  #sending: Promise<void> = Promise.resolve();
  /** Where the server's messages go: to the client, unless a fault takes them. */
  #receive: (message: Message) => void = (message) => void this.#client.write(message.bytes);
  #isStranded = false;

  constructor(client: Socket, server: Socket, watcher: Watcher) {
    this.#client = client;
    this.#server = server;
    this.#watcher = watcher;
    // A broken socket also closes, and the close is handled.
    for (const socket of [client, server]) socket.setNoDelay(true).on("error", () => {});
    client.on("data", (bytes) => this.#fromClient.push(bytes).forEach((message) => this.#take(message)));
    server.on("data", (bytes) => this.#fromServer.push(bytes).forEach((message) => this.#answer(message)));
    client.on("close", () => {
      if (!this.#isStranded) this.cut();
    });
    server.on("close", () => this.cut());
  }

  /** Ends both connections. */
  cut(): void {
    this.#client.destroy();
    this.#server.destroy();
    this.#watcher.onClosed();
  }

  #answer(message: Message): void {
    if (message.type === FROM_SERVER.ready) this.#turn ??= [];
    if (message.type === FROM_SERVER.error) this.#watcher.onError(sqlStateOf(message));
    this.#receive(message);
  }

  #take(message: Message): void {
    if (this.#turn === null || message.type === FROM_CLIENT.terminate) {
      this.#server.write(message.bytes);
      return;
    }
    this.#turn.push(message);
    if (message.type !== FROM_CLIENT.sync && message.type !== FROM_CLIENT.query) return;
    const messages = this.#turn;
    this.#turn = [];
    this.#sending = this.#sending.then(() => this.#send(messages));
  }

  async #send(messages: readonly Message[]): Promise<void> {
    const fault = this.#watcher.decide({ statements: statementsOf(messages) });
    const whole = Buffer.concat(messages.map(({ bytes }) => bytes));
    const commit = messages.at(-1)?.bytes ?? whole;
    const work = whole.subarray(0, whole.length - commit.length);
    if (fault === undefined) this.#server.write(whole);
    else if (typeof fault !== "string") await this.#disturb(fault, { whole, work, commit });
    else {
      const statements = messages.filter(({ type }) => type === FROM_CLIENT.execute).length;
      await this.#lose(fault, { whole, work, commit, statements });
    }
  }

  async #disturb(fault: Exclude<Fault, string>, { whole, work, commit }: Parts): Promise<void> {
    if ("raise" in fault) {
      const text = `DO $$ BEGIN RAISE EXCEPTION USING ERRCODE = '${fault.raise}', MESSAGE = 'raised by the fault proxy'; END $$`;
      this.#server.write(Buffer.concat([work, unnamedStatement(text), commit]));
      return;
    }
    await new Promise((resolve) => setTimeout(resolve, fault.delayMs));
    this.#server.write(whole);
  }

  async #lose(
    fault: Extract<Fault, string>,
    { whole, work, commit, statements }: Parts & { statements: number },
  ): Promise<void> {
    switch (fault) {
      case "lose-request":
        return this.cut();
      case "lose-reply": {
        const replied = this.#hearUntil(({ type }) => type === FROM_SERVER.ready);
        this.#server.write(whole);
        await replied;
        return this.cut();
      }
      case "strand-request":
        return this.#strand(whole);
      case "lose-commit":
      case "strand-commit": {
        // A simple query runs and commits in one message, so that there is nothing before its commit to wait for.
        if (statements === 0) return fault === "lose-commit" ? this.cut() : this.#strand(commit);
        let left = statements;
        const ran = this.#hearUntil(({ type }) => {
          if (type === FROM_SERVER.commandComplete) left -= 1;
          return left === 0 || type === FROM_SERVER.error;
        });
        this.#server.write(Buffer.concat([work, FLUSH]));
        await ran;
        return fault === "lose-commit" ? this.cut() : this.#strand(commit);
      }
    }
  }

  /** Keeps the server's messages from the client until this is true of a message, or the server is gone. */
  #hearUntil(isLast: (message: Message) => boolean): Promise<void> {
    return new Promise((resolve) => {
      this.#server.once("close", () => resolve());
      this.#receive = (message) => {
        if (isLast(message)) resolve();
      };
    });
  }

  #strand(rest: Buffer): void {
    this.#isStranded = true;
    this.#client.destroy();
    let isGone = this.#server.destroyed;
    this.#server.once("close", () => (isGone = true));
    this.#watcher.onStranded({
      release: async () => {
        let failed = false;
        let answered = false;
        const over = this.#hearUntil(({ type }) => {
          if (type === FROM_SERVER.error) failed = true;
          answered = type === FROM_SERVER.ready;
          return answered;
        });
        if (isGone) return "gone";
        this.#server.write(rest);
        await over;
        this.cut();
        if (!answered) return "gone";
        return failed ? "rolled back" : "committed";
      },
    });
  }
}

/** A turn as bytes: all of it, the part that does the work, and the Sync after that. */
type Parts = { readonly whole: Buffer; readonly work: Buffer; readonly commit: Buffer };
