// Starting and stopping a port: what the HTTP, gRPC and metrics servers share.

import type { Server as NetServer, Socket } from "node:net";
import { invariant } from "../../kernel/invariant.ts";

/** A server that can be started once and stopped gracefully. */
export type StoppableServer = {
  /** Starts listening and returns the port. */
  listen(address: { host: string; port: number }): Promise<number>;
  /** Takes no new work, waits for running calls, and ends the rest after the limit. */
  close(limitMs: number): Promise<void>;
};

const LAST_WORDS_MS = 250;

/** Waits up to the limit for a server to end; then its calls are aborted, and the remaining connections are destroyed. */
export async function endWithin(
  limitMs: number,
  closed: Promise<unknown>,
  by: { abort: () => void; destroy: () => void },
): Promise<void> {
  const abort = setTimeout(by.abort, limitMs);
  const destroy = setTimeout(by.destroy, limitMs + LAST_WORDS_MS);
  try {
    await closed;
  } finally {
    clearTimeout(abort);
    clearTimeout(destroy);
  }
}

/** Tracks the connections of a server. Only here are connections known that have not finished their TLS handshake. */
export function connectionsOf(server: NetServer): { destroyAll(): void } {
  const open = new Set<Socket>();
  server.on("connection", (socket: Socket) => {
    open.add(socket);
    socket.once("close", () => open.delete(socket));
  });
  return { destroyAll: () => open.forEach((socket) => socket.destroy()) };
}

/** Listens and returns the port. */
export async function listenOn(server: NetServer, { host, port }: { host: string; port: number }): Promise<number> {
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, host, () => {
      server.off("error", reject);
      resolve();
    });
  });
  const address = server.address();
  invariant(address !== null && typeof address === "object", "a listening server has a port");
  return address.port;
}
