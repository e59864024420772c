// A merchant's server that is called back, and does as it is told.

import { createServer, type IncomingHttpHeaders, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";

/** A callback as it arrived. */
export type Received = { readonly headers: IncomingHttpHeaders; readonly body: string };

/** Answers a callback, or does not. */
export type Behaviour = (response: ServerResponse, received: Received) => void | Promise<void>;

export const sayOk: Behaviour = (response) => void response.end('{"message":"OK"}');

/** A receiver that does not answer before it is told to. */
export function patience(): { behave: Behaviour; end: () => void } {
  const { promise, resolve } = Promise.withResolvers<void>();
  return { behave: async (response) => void (await promise, response.end('{"message":"OK"}')), end: resolve };
}

/** The id of the event that a callback tells of. */
export const eventIdOf = (received: Received | undefined) => received?.headers["x-saldo-event-id"];

export class CallbackReceiver {
  readonly received: Received[] = [];
  /** What it does next; it takes everything unless told otherwise. */
  behave: Behaviour = sayOk;
  /** How many callbacks it had at once at most. */
  mostAtOnce = 0;
  #now = 0;
  readonly #server = createServer(async (request, response) => {
    this.#now += 1;
    this.mostAtOnce = Math.max(this.mostAtOnce, this.#now);
    response.on("close", () => (this.#now -= 1));
    const received = { headers: request.headers, body: await text(request) };
    this.received.push(received);
    await this.behave(response, received);
  });

  static async listen(): Promise<CallbackReceiver> {
    const receiver = new CallbackReceiver();
    await new Promise<void>((done) => receiver.#server.listen(0, "127.0.0.1", done));
    return receiver;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}/hooks`;
  }

  /** The statuses it was told, in the order in which they arrived. */
  statuses(): string[] {
    return this.received.map(({ body }) => (JSON.parse(body) as { data: { status: string } }).data.status);
  }

  close(): Promise<void> {
    this.#server.closeAllConnections();
    return new Promise((done) => this.#server.close(() => done()));
  }
}
