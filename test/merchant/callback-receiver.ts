// A merchant's server that receives callbacks and answers as the test sets.

import { createServer, type IncomingHttpHeaders, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";

/** A callback as it arrived. */
export type Received = { readonly headers: IncomingHttpHeaders; readonly body: string };

/** Answers a callback, or stays silent. */
export type Behaviour = (response: ServerResponse, received: Received) => void | Promise<void>;

export const sayOk: Behaviour = (response) => void response.end('{"message":"OK"}');

/** A receiver that does not answer before the test lets it. */
export function patience(): { behave: Behaviour; end: () => void } {
  const { promise, resolve } = Promise.withResolvers<void>();
  return { behave: async (response) => void (await promise, response.end('{"message":"OK"}')), end: resolve };
}

/** The id of a callback's event. */
export const eventIdOf = (received: Received | undefined) => received?.headers["x-saldo-event-id"];

export class CallbackReceiver {
  readonly received: Received[] = [];
  /** Its next answer; it accepts every callback by default. */
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

  /** The statuses it received, in the order of their arrival. */
  statuses(): string[] {
    return this.received.map(({ body }) => (JSON.parse(body) as { data: { status: string } }).data.status);
  }

  close(): Promise<void> {
    this.#server.closeAllConnections();
    return new Promise((done) => this.#server.close(() => done()));
  }
}
