// HTTP as bytes on a connection: what fetch would not send, or not so slowly.

import { once } from "node:events";
import { connect, type Socket } from "node:net";
import type { Running } from "./fakes.ts";

/** A server that is silent for so long will not answer any more. */
const SILENCE_MS = 15_000;

/** A connection to the HTTP port, which keeps what it is answered. */
export class RawConnection {
  readonly socket: Socket;
  answer = "";

  constructor(at: Pick<Running, "http">) {
    this.socket = connect(Number(new URL(at.http).port), "127.0.0.1").setNoDelay(true);
    // The server may answer and close before everything was sent.
    this.socket.on("error", () => undefined);
    this.socket.setTimeout(SILENCE_MS, () => this.socket.destroy());
    this.socket.on("data", (bytes: Buffer) => (this.answer += bytes.toString("latin1")));
  }

  /** Sends bytes; returns when the kernel has taken them, or the connection is gone. */
  async send(bytes: string | Buffer): Promise<void> {
    if (this.socket.destroyed || this.socket.write(bytes)) return;
    await this.#either("drain");
  }

  /** Waits for a status line and gives the status. */
  async status(): Promise<number> {
    for (;;) {
      const status = /HTTP\/1\.1 (\d{3})/.exec(this.answer)?.[1];
      if (status !== undefined) return Number(status);
      if (this.socket.closed) throw new Error("the connection was closed without an answer");
      await this.#either("data");
    }
  }

  /** Waits for an event, or for the end of the connection. */
  #either(event: "drain" | "data"): Promise<void> {
    return new Promise((resolve) => {
      const done = (): void => {
        this.socket.off(event, done).off("close", done);
        resolve();
      };
      this.socket.on(event, done).on("close", done);
    });
  }

  async closed(): Promise<void> {
    if (!this.socket.closed) await once(this.socket, "close");
  }

  close(): void {
    this.socket.destroy();
  }
}

/** Sends one request and gives all that comes back until the server closes the connection. */
export async function exchange(at: Pick<Running, "http">, bytes: string): Promise<string> {
  const connection = new RawConnection(at);
  await connection.send(bytes);
  await connection.closed();
  return connection.answer;
}
