// Stops an HTTP server that is in use. A connection may be closed while a request is on its way, and then its client cannot know
// whether it was done. So the server goes on for a moment: it reports that it is not ready, and every answer ends its
// connection. Only then the port is closed, when clients and balancers already know it.

import type { Server, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";

/** How long a stopping server goes on serving while clients are connected. */
const GOES_ON_MS = 500;
/** How long a connection may send another request after an answer that promised to keep it open. */
const LAST_REQUEST_WITHIN_MS = 500;
const LOOK_MS = 10;

export type Leaving = {
  readonly isLeaving: boolean;
  /** Records the running answer of a connection. */
  note(socket: Socket, response: ServerResponse): void;
  /** Goes on serving for a moment, at most for the limit, and not without connected clients. */
  leave(limitMs: number): Promise<void>;
};

/** Tracks the answers of a server. */
export function prepareToLeave(server: Server): Leaving {
  const latest = new Map<Socket, ServerResponse | null>();
  let isLeaving = false;
  const note = (socket: Socket): void => {
    latest.set(socket, null);
    socket.once("close", () => latest.delete(socket));
  };
  server.on("connection", note);
  // Over TLS a request has the socket that decrypts, which wraps that of the connection.
  server.on("secureConnection", note);
  return {
    get isLeaving() {
      return isLeaving;
    },
    note(socket, response) {
      if (isLeaving) response.shouldKeepAlive = false;
      // Only tests have requests without a connection.
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
