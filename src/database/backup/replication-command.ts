// A command of the replication protocol whose answer is a stream: rows, then messages, then rows. The driver accepts such an object in
// place of its own queries. Messages that are not read yet hold the server back.

import { Readable } from "node:stream";
import type { Client, ClientConfig, Submittable } from "pg";
import { type Login, clientConfig, connectClient } from "../connections.ts";

/** How many messages wait to be read before the server is held back. */
const WAITING_MESSAGES = 64;

/** The part of the driver's connection that is used here. */
type Wire = {
  readonly stream: { pause(): void; resume(): void; destroy(): void };
  query(text: string): void;
  sendCopyFromChunk(chunk: Buffer): void;
};
type Row = readonly (string | null)[];

/** Opens a connection that speaks the replication protocol, under a name that `synchronous_standby_names` can have. */
export function connectReplication(login: Login, applicationName: string): Promise<Client> {
  const config: ClientConfig & { replication: string } = {
    ...clientConfig(login, applicationName),
    replication: "true",
  };
  return connectClient(config);
}

export class ReplicationCommand {
  /** The driver sets its own function here. */
  callback: (error?: unknown) => void = () => {};
  /** The rows of the answer, once it is whole. Errors: the server's, or the connection was lost. */
  readonly rows: Promise<readonly Row[]>;
  /** The messages between the rows. Errors: as `rows`. */
  readonly messages: Readable;
  readonly #text: string;
  readonly #collected: Row[] = [];
  #wire: Wire | null = null;
  #isWhole = false;
  #resolve: (rows: readonly Row[]) => void = () => {};
  #reject: (error: unknown) => void = () => {};

  private constructor(text: string) {
    this.#text = text;
    this.rows = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
    this.rows.catch(() => {}); // who reads the messages alone has the same error from them
    this.messages = new Readable({
      objectMode: true,
      highWaterMark: WAITING_MESSAGES,
      read: () => this.#wire?.stream.resume(),
    });
  }

  /** Sends a command. */
  static send(client: Client, text: string): ReplicationCommand {
    const command = new ReplicationCommand(text);
    client.once("end", () => command.handleError(new Error("the connection to the database was lost")));
    client.query(command as unknown as Submittable);
    return command;
  }

  /** Sends a message to the server. */
  reply(message: Buffer): void {
    this.#wire?.sendCopyFromChunk(message);
  }

  /** Ends the command and its connection at once: the server reads nothing while it sends. */
  abandon(): void {
    this.#wire?.stream.destroy();
    this.handleError(new Error("the command was abandoned"));
  }

  submit(wire: Wire): null {
    this.#wire = wire;
    wire.query(this.#text);
    return null;
  }

  handleRowDescription(): void {}
  handleCommandComplete(): void {}

  handleDataRow({ fields }: { fields: Row }): void {
    this.#collected.push(fields);
  }

  handleCopyData({ chunk }: { chunk: Buffer }): void {
    // The driver uses its buffer again.
    if (!this.messages.push(Buffer.from(chunk))) this.#wire?.stream.pause();
  }

  handleReadyForQuery(): void {
    this.#isWhole = true;
    this.messages.push(null);
    this.callback();
    this.#resolve(this.#collected);
  }

  handleError(error: unknown): void {
    if (this.#isWhole) return;
    this.#reject(error);
    this.messages.destroy(error instanceof Error ? error : new Error(String(error)));
    this.callback(error);
  }
}
