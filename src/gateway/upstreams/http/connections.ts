// The connections to one upstream. HTTP/1.1 matches answers to requests by their order alone. Bytes that answer no request, after
// an answer or on an idle connection, would be taken for the answer to the next request, perhaps another customer's. undici
// destroys a connection on which it sees such bytes. It cannot see them where they arrive together with the next request, so
// after the first such bytes every request has a connection of its own.

import { type buildConnector, type Dispatcher, Pool } from "undici";

/** Below the five seconds after which common servers close an idle connection: a reset after sending may be billed. */
const KEEP_ALIVE_MS = 4_000;
const MAX_HEADER_BYTES = 32 * 1024;

export type ConnectionFacts = {
  readonly origin: string;
  readonly connections: number;
  readonly connect: buildConnector.connector;
  /** Called once, when the upstream has sent bytes that answer no request. */
  readonly onMixedUp: () => void;
};

export class Connections {
  readonly #facts: ConnectionFacts;
  #pool: Pool;
  /** The pool whose connections were kept: it ends what it carries. */
  #retired: Pool | null = null;
  /** The last error that a call was given: its connection is closed by it. */
  #lastCallError: Error | null = null;

  constructor(facts: ConnectionFacts) {
    this.#facts = facts;
    this.#pool = this.#open(1);
    this.#pool.on("disconnect", (_origin, _targets, error) => {
      if (isUnasked(error) && error !== this.#lastCallError && this.stopReuse()) facts.onMixedUp();
    });
  }

  dispatch(options: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler): void {
    this.#pool.dispatch(options, handler);
  }

  /** The error of a call does not show bytes that answer no request. */
  noteCallError(error: Error): void {
    this.#lastCallError = error;
  }

  /** From now on no connection serves a second request. False: it was so before. */
  stopReuse(): boolean {
    if (this.#retired !== null) return false;
    this.#retired = this.#pool;
    this.#pool = this.#open(0);
    void this.#retired.close();
    return true;
  }

  async close(): Promise<void> {
    await Promise.all([this.#pool.close(), this.#retired?.closed === false ? this.#retired.close() : undefined]);
  }

  async destroy(): Promise<void> {
    await Promise.all([this.#pool.destroy(), this.#retired?.destroy()]);
  }

  /** `pipelining` 0: each request closes its connection. */
  #open(pipelining: 0 | 1): Pool {
    const { origin, connections, connect } = this.#facts;
    return new Pool(origin, {
      connections,
      pipelining,
      keepAliveTimeout: KEEP_ALIVE_MS,
      maxHeaderSize: MAX_HEADER_BYTES,
      connect,
    });
  }
}

/** How undici closes a connection on which bytes came while no request was running. */
function isUnasked(error: Error & { readonly code?: string }): boolean {
  return error.code === "UND_ERR_SOCKET" && error.message === "bad response";
}
