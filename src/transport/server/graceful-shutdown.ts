// How an HTTP server leaves while it is in use. Closing a kept-alive connection can cross with a request that is on its way,
// and whoever sent it cannot know whether it was done. So for a moment the server goes on, says that it is not ready, and
// lets every answer end its connection; only then is the port closed, which a client or a balancer is told before it sends.

import type { Server, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";

/** How long a server goes on serving once it leaves, while anybody is connected. */
const GOES_ON_MS = 500;
/** A connection whose answer had already said that it stays open is given so long for another request. */
const LAST_REQUEST_WITHIN_MS = 500;
const LOOK_MS = 10;

export type Leaving = {
  readonly isLeaving: boolean;
  /** Notes the answer that is being given on a connection. */
  note(socket: Socket, response: ServerResponse): void;
  /** Goes on serving for a moment, but no longer than the limit and not when nobody is connected. */
  leave(limitMs: number): Promise<void>;
};

/** Keeps account of the answers of a server. */
export function prepareToLeave(server: Server): Leaving {
  const latest = new Map<Socket, ServerResponse | null>();
  let isLeaving = false;
  const note = (socket: Socket): void => {
    latest.set(socket, null);
    socket.once("close", () => latest.delete(socket));
  };
  server.on("connection", note);
  // Over TLS a request names the socket that decrypts, which stands on that of the connection.
  server.on("secureConnection", note);
  return {
    get isLeaving() {
      return isLeaving;
    },
    note(socket, response) {
      if (isLeaving) response.shouldKeepAlive = false;
      // A request without a connection is a test's.
      if (latest.has(socket)) latest.set(socket, response);
    },
    async leave(limitMs) {
      isLeaving = true;
      server.keepAliveTimeout = LAST_REQUEST_WITHIN_MS;
      for (const response of latest.values()) if (response?.headersSent === false) response.shouldKeepAlive = false;
      const goesOnUntil = performance.now() + Math.min(GOES_ON_MS, limitMs);
      while (latest.size > 0 && performance.now() < goesOnUntil) await sleep(LOOK_MS);
    },
  };
}
