// Runs a call and reports its end, for interceptors that note how calls end.

import type { StreamRequest, StreamResponse, UnaryRequest, UnaryResponse } from "@connectrpc/connect";

type Request = UnaryRequest | StreamRequest;
type Response = UnaryResponse | StreamResponse;

export type Watcher = {
  ended(): void;
  /** Returns the error that is thrown instead. */
  failed(thrown: unknown): unknown;
};

/** Runs a call and reports its end; a stream ends with its last message, not with its first. */
export async function watch(
  next: (req: Request) => Promise<Response>,
  req: Request,
  watcher: Watcher,
): Promise<Response> {
  try {
    const res = await next(req);
    if (res.stream) return { ...res, message: watchStream(res.message, watcher) };
    watcher.ended();
    return res;
  } catch (thrown) {
    throw watcher.failed(thrown);
  }
}

async function* watchStream<T>(messages: AsyncIterable<T>, watcher: Watcher): AsyncGenerator<T> {
  let hasFailed = false;
  try {
    yield* messages;
  } catch (thrown) {
    hasFailed = true;
    throw watcher.failed(thrown);
  } finally {
    // Also reached when the client leaves between two messages.
    if (!hasFailed) watcher.ended();
  }
}
