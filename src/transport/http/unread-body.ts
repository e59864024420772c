// Answers that are sent before the body of their request has arrived. Node reads and drops a small rest, and the connection stays
// open. For a large rest the answer ends the connection, which is then read for a short while, so that the client reads the
// answer before it meets a closed connection.

import type { IncomingMessage, ServerResponse } from "node:http";

/** A rest up to this size costs less than a new connection. */
const SMALL_REST_BYTES = 64 * 1024;
/** The most bytes of a large rest that are read and dropped. */
const DROPPED_BYTES = 1024 * 1024;
const DROPPED_WITHIN_MS = 2_000;

/** Prepares an answer whose headers are not sent yet. It does nothing where the body has arrived. */
export function leaveBodyUnread(request: IncomingMessage, response: ServerResponse): void {
  if (request.complete || response.headersSent) return;
  const { "content-length": stated, "transfer-encoding": coding } = request.headers;
  const isSmall = coding === undefined && Number(stated ?? 0) <= SMALL_REST_BYTES;
  // Node drops the rest of a body that is not read.
  if (isSmall && request.readableFlowing === null) return;
  response.shouldKeepAlive = false;
  const { socket } = request;
  // Node calls this once the answer is written. Its own method would close at once, and the answer could be lost.
  socket.destroySoon = () => {
    socket.end();
    const destroy = (): void => void socket.destroy();
    const timer = setTimeout(destroy, DROPPED_WITHIN_MS);
    socket.once("close", () => clearTimeout(timer));
    let left = DROPPED_BYTES;
    request.on("error", destroy).on("end", destroy);
    request.on("data", (part: Buffer) => {
      left -= part.length;
      if (left < 0) destroy();
    });
    request.resume();
  };
}
