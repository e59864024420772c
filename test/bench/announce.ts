// How a helper process reports its port; the other side is startListener.

import type { Server } from "node:net";

/** The port a listening server was given. */
export function portOf(server: Server): number {
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("the server does not listen on a port");
  return address.port;
}

/** Reports the port to the parent, and ends with it: the parent holds our standard input open as long as it lives. */
export function announce(server: Server): void {
  console.log(`listening on ${portOf(server)}`);
  process.stdin.resume().on("end", () => process.exit(0));
}
