// An upstream over HTTP, whichever protocol it speaks. Requests go through undici's dispatch, the cheapest way Node has;
// connections are kept and their number is bounded. What differs from kind to kind is its `UpstreamWire`.

import { buildConnector, type Dispatcher } from "undici";
import type { UpstreamConfig } from "../../../catalog/catalog-model.ts";
import { takesServiceTier } from "../../../catalog/upstream-file.ts";
import { failpoint } from "../../../kernel/failpoint.ts";
import { publicConnector } from "../../../outbound/public-connector.ts";
import type {
  ChatUpstream,
  UpstreamCall,
  UpstreamFailure,
  UpstreamListener,
  UpstreamRequest,
} from "../chat-upstream.ts";
import { Connections } from "./connections.ts";
import { failureOfError, failureOfStatus, retryAfterOf } from "./failures.ts";
import { Turns, type UpstreamLimits } from "./semaphore.ts";

/** Streams hold a connection each, so this is also how many can run at once on one upstream. */
const MAX_CONNECTIONS = 2_048;
/** The most requests that wait for a connection; more fail at once, because the upstream is busy. */
const MAX_WAITING = 2_048;
const MAX_ERROR_BYTES = 64 * 1024;
/** How long the body of a refusal may take: the caller waits for the error, or for another route. */
const ERROR_WITHIN_MS = 1_500;
/** How long a call may go on after the end of its answer: usually only the end of the body is missing. */
const END_WITHIN_MS = 500;

/** Names and values of headers in turn, as undici takes them. */
export type HeaderList = readonly string[];

/** What is special about the requests to a kind of upstream. */
export type UpstreamWire = {
  /** What follows the base URL. It begins with a slash and may have a query. */
  readonly path: (request: UpstreamRequest) => string;
  /** The headers of each request beside those of its body, among them the credential. `apiKey` null: there is none. */
  readonly headers: (apiKey: string | null) => HeaderList;
  /** The header in which answers have an id. */
  readonly requestIdHeader: string;
  /** How many seconds the body of an error asks us to wait. Absent: headers alone name the time. */
  readonly retryAfterIn?: (body: string) => number | undefined;
  /** What an error means that has another meaning here than elsewhere. Null: it has none. */
  readonly failureOf?: (status: number, body: string) => UpstreamFailure | null;
};

export type HttpUpstreamOptions = {
  /** Null: the upstream wants no credential. */
  readonly apiKey: string | null;
  readonly limits?: UpstreamLimits;
  /** The upstream has sent bytes that answer no request. */
  readonly onMixedUp?: (() => void) | undefined;
};

/** Opens an upstream. */
export function createHttpUpstream(
  config: UpstreamConfig,
  wire: UpstreamWire,
  { apiKey, limits = { connections: MAX_CONNECTIONS, waiting: MAX_WAITING }, onMixedUp }: HttpUpstreamOptions,
): ChatUpstream {
  const base = new URL(config.baseUrl);
  const timeoutMs = config.connectTimeoutMs;
  const connections = new Connections({
    origin: base.origin,
    connections: limits.connections,
    connect: config.allowPrivateAddress
      ? buildConnector({ timeout: timeoutMs, allowH2: false })
      : publicConnector({ timeoutMs }),
    onMixedUp: onMixedUp ?? (() => undefined),
  });
  const root = base.pathname.replace(/(?<!\/)\/+$/, "");
  const headers = ["content-type", "application/json", "user-agent", "saldo", ...wire.headers(apiKey)];
  const headersOf = {
    stream: [...headers, "accept", "text/event-stream"],
    whole: [...headers, "accept", "application/json"],
  };
  const turns = new Turns(limits);

  return {
    id: config.id,
    kind: config.kind,
    outputCapField: config.outputCapField ?? "max_tokens",
    takesServiceTier: takesServiceTier(config),
    isAnthropic: base.hostname === "api.anthropic.com",
    call(request, listener) {
      const call = new HttpCall({ listener, turns, connections, wire });
      if (turns.areAllTaken) {
        call.failLater({ kind: "unbilled", reason: "too many requests wait for this upstream" });
      } else {
        const own = request.stream ? headersOf.stream : headersOf.whole;
        const options = {
          path: `${root}${wire.path(request)}`,
          method: "POST",
          headers: headersOfCall(own, request),
          body: request.body,
          headersTimeout: request.firstByteTimeoutMs ?? config.firstByteTimeoutMs,
          bodyTimeout: request.idleTimeoutMs ?? config.idleTimeoutMs,
        } as const;
        turns.ask(call, () => call.dispatch(options));
      }
      return call;
    },
    stopReuse: () => void connections.stopReuse(),
    close: () => connections.close(),
    destroy: () => connections.destroy(),
  };
}

/** Of a trace an upstream gets its place alone: nothing of a client's `tracestate` or `baggage`. */
function headersOfCall(own: string[], { headers, traceparent }: UpstreamRequest): string[] {
  if (headers === undefined && traceparent === undefined) return own;
  return [...own, ...(headers ?? []), ...(traceparent === undefined ? [] : ["traceparent", traceparent])];
}

type HttpCallParts = {
  readonly listener: UpstreamListener;
  readonly turns: Turns;
  readonly connections: Connections;
  readonly wire: UpstreamWire;
};

/** The handler of one request, whose methods undici calls. */
class HttpCall implements UpstreamCall, Dispatcher.DispatchHandler {
  sent = false;
  readonly #listener: UpstreamListener;
  readonly #turns: Turns;
  readonly #connections: Connections;
  readonly #wire: UpstreamWire;
  #hasTurn = false;
  #controller: Dispatcher.DispatchController | null = null;
  #isOver = false;
  #lastTimer: NodeJS.Timeout | undefined;
  /** Set once an error status has come: its body is collected instead of passed on. */
  #refusal: { status: number; retryAfterSeconds: number | undefined; parts: Buffer[]; bytes: number } | null = null;

  constructor({ listener, turns, connections, wire }: HttpCallParts) {
    this.#listener = listener;
    this.#connections = connections;
    this.#turns = turns;
    this.#wire = wire;
  }

  dispatch(options: Dispatcher.DispatchOptions): void {
    this.#hasTurn = true;
    if (this.#isOver) {
      this.#passTurn();
      return;
    }
    try {
      this.#connections.dispatch(options, this);
    } catch (error) {
      this.#passTurn();
      this.#fail(failureOfError(error instanceof Error ? error : new Error("dispatch failed"), this.sent));
    }
  }

  failLater(failure: UpstreamFailure): void {
    queueMicrotask(() => this.#fail(failure));
  }

  pause(): void {
    if (!this.#isOver) this.#controller?.pause();
  }

  resume(): void {
    if (!this.#isOver) this.#controller?.resume();
  }

  letGo(): void {
    if (this.#isOver) return;
    this.resume();
    this.#lastTimer = setTimeout(() => this.abort(), END_WITHIN_MS).unref();
  }

  abort(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#turns.giveUp(this);
    this.#controller?.abort(new Error("the answer has no reader any more"));
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    // The client may have left while the request waited for a connection.
    if (this.#isOver) controller.abort(new Error("the answer has no reader any more"));
    else {
      this.sent = true;
      // undici writes the request after this call.
      if (failpoint !== undefined) setImmediate(failpoint, "after-upstream-send");
    }
  }

  onResponseStart(
    _controller: Dispatcher.DispatchController,
    status: number,
    headers: Record<string, string | string[] | undefined>,
  ): void {
    if (this.#isOver || status < 200) return;
    if (status >= 300) {
      this.#refusal = { status, retryAfterSeconds: retryAfterOf(headers, Date.now()), parts: [], bytes: 0 };
      this.#lastTimer = setTimeout(() => this.#cutRefusal("slow"), ERROR_WITHIN_MS);
      return;
    }
    const type = headers["content-type"];
    const id = headers[this.#wire.requestIdHeader];
    this.#listener.onAnswer({
      isEventStream: typeof type === "string" && type.trim().toLowerCase().startsWith("text/event-stream"),
      upstreamRequestId: typeof id === "string" ? id.slice(0, 200) : null,
    });
  }

  onResponseData(_controller: Dispatcher.DispatchController, bytes: Buffer): void {
    if (this.#isOver) return;
    if (this.#refusal === null) {
      this.#listener.onData(bytes);
    } else if (this.#refusal.bytes < MAX_ERROR_BYTES) {
      this.#refusal.parts.push(bytes);
      this.#refusal.bytes += bytes.length;
    } else {
      this.#cutRefusal("long");
    }
  }

  onResponseEnd(): void {
    this.#passTurn();
    if (this.#isOver) return;
    if (this.#refusal !== null) {
      this.#failRefused();
      return;
    }
    this.#isOver = true;
    this.#listener.onEnd();
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    this.#connections.noteCallError(error);
    this.#passTurn();
    if (this.#refusal === null) this.#fail(failureOfError(error, this.sent));
    else this.#failRefused();
  }

  /** Called only after undici has released the request: until then it holds the body, also of a client that left. */
  #passTurn(): void {
    clearTimeout(this.#lastTimer);
    if (!this.#hasTurn) return;
    this.#hasTurn = false;
    this.#turns.pass();
  }

  #cutRefusal(what: string): void {
    this.#failRefused();
    this.#controller?.abort(new Error(`the error body is too ${what}`));
  }

  #failRefused(): void {
    if (this.#refusal === null) return;
    const { status, parts, retryAfterSeconds } = this.#refusal;
    const body = Buffer.concat(parts).toString("utf8");
    const own = this.#wire.failureOf?.(status, body) ?? null;
    this.#fail(own ?? failureOfStatus(status, body, retryAfterSeconds ?? this.#wire.retryAfterIn?.(body)));
  }

  #fail(failure: UpstreamFailure): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#listener.onFailure(failure);
  }
}
