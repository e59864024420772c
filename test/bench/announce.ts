// What a helper process does once it listens; the other side is startListener.

import type { Server } from "node:net";

/** The port a listening server was given. */
export function portOf(server: Server): number {
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("the server does not listen on a port");
  return address.port;
}

/** Tells the parent where we listen, and ends with it: it holds our standard input open for as long as it lives. */
export function announce(server: Server): void {
  console.log(`listening on ${portOf(server)}`);
  process.stdin.resume().on("end", () => process.exit(0));
}
