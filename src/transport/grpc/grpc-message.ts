// The text of a gRPC status. Connect escapes it with encodeURIComponent, and grpc-js, which undoes only what encodeURI
// does, would show its callers `Available is Rp 5%2C needed`. The protocol asks for less: control and non-ASCII bytes and `%`.

import type { ConnectRouter } from "@connectrpc/connect";
import type { UniversalServerResponse } from "@connectrpc/connect/protocol";

const HEADER = "grpc-message";

/** Rewrites the status text of every gRPC handler registered so far. Call it once, after the last service. */
export function keepGrpcMessagesReadable(router: ConnectRouter): void {
  router.handlers.forEach((handler, index) => {
    const readable = async (...args: Parameters<typeof handler>): Promise<UniversalServerResponse> => {
      const res = await handler(...args);
      const { trailer, header } = res;
      header?.forEach((_, name) => name === HEADER && escapeLess(header));
      if (trailer === undefined || res.body === undefined) return res;
      return { ...res, body: thenRun(res.body, () => escapeLess(trailer)) };
    };
    router.handlers[index] = Object.assign(readable, handler);
  });
}

/** The trailers are complete when the body has been read to its end. */
async function* thenRun<T>(body: AsyncIterable<T>, run: () => void): AsyncGenerator<T> {
  try {
    yield* body;
  } finally {
    run();
  }
}

function escapeLess(headers: Headers): void {
  const text = headers.get(HEADER);
  if (text !== null) headers.set(HEADER, encodeGrpcMessage(decodeURIComponent(text)));
}

/** Escapes a text as the gRPC protocol asks: everything but printable ASCII, and the percent sign. */
export function encodeGrpcMessage(text: string): string {
  return text.replace(/[^\x20-\x7e]+|%/g, (part) => encodeURIComponent(part.toWellFormed()));
}
