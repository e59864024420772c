// Starting and stopping a port: what the HTTP, gRPC and metrics servers share.

import type { Server as NetServer, Socket } from "node:net";
import { invariant } from "../../kernel/invariant.ts";

/** A server that can be started once and stopped gracefully. */
export type StoppableServer = {
  /** Starts listening and gives the port. */
  listen(address: { host: string; port: number }): Promise<number>;
  /** Takes no new work, waits for what runs, and ends the rest after the limit. */
  close(limitMs: number): Promise<void>;
};

const LAST_WORDS_MS = 250;

/** Waits for a server to end by itself up to the limit; then its calls are aborted, and what still stands is destroyed. */
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

/** Keeps account of the connections of a server. Those that have not agreed on TLS yet are known to nothing else. */
export function connectionsOf(server: NetServer): { destroyAll(): void } {
  const open = new Set<Socket>();
  server.on("connection", (socket: Socket) => {
    open.add(socket);
    socket.once("close", () => open.delete(socket));
  });
  return { destroyAll: () => open.forEach((socket) => socket.destroy()) };
}

/** Listens and gives the port that was taken. */
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
