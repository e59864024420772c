// Any upstream with OpenAI's chat completions, and embeddings, over HTTP. Requests go through undici's dispatch, the cheapest way
// Node has; connections are kept and their number is bounded.

import { buildConnector, type Dispatcher } from "undici";
import type { UpstreamConfig } from "../../../catalog/catalog-model.ts";
import { failpoint } from "../../../kernel/failpoint.ts";
import { publicConnector } from "../../../outbound/public-connector.ts";
import type { ChatUpstream, UpstreamCall, UpstreamFailure, UpstreamListener } from "../chat-upstream.ts";
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

/** Opens an upstream. `apiKey` null: it wants no credential. `onMixedUp`: it has sent bytes that answer no request. */
export function createOpenAiCompatibleUpstream(
  config: UpstreamConfig,
  apiKey: string | null,
  limits: UpstreamLimits = { connections: MAX_CONNECTIONS, waiting: MAX_WAITING },
  onMixedUp: () => void = () => undefined,
): ChatUpstream {
  const base = new URL(config.baseUrl);
  const timeoutMs = config.connectTimeoutMs;
  const connections = new Connections({
    origin: base.origin,
    connections: limits.connections,
    connect: config.allowPrivateAddress
      ? buildConnector({ timeout: timeoutMs, allowH2: false })
      : publicConnector({ timeoutMs }),
    onMixedUp,
  });
  const root = base.pathname.replace(/(?<!\/)\/+$/, "");
  const paths = { chat: `${root}/chat/completions`, embeddings: `${root}/embeddings` } as const;
  const headers = ["content-type", "application/json", "user-agent", "saldo"];
  if (apiKey !== null) headers.push("authorization", `Bearer ${apiKey}`);
  const headersOf = {
    stream: [...headers, "accept", "text/event-stream"],
    whole: [...headers, "accept", "application/json"],
  };
  const turns = new Turns(limits);

  return {
    id: config.id,
    kind: config.kind,
    outputCapField: config.outputCapField ?? "max_tokens",
    call({ body, stream, endpoint = "chat", firstByteTimeoutMs, idleTimeoutMs }, listener) {
      const call = new HttpCall(listener, turns, connections);
      if (turns.areAllTaken) {
        call.failLater({ kind: "unbilled", reason: "too many requests wait for this upstream" });
      } else {
        const options = {
          path: paths[endpoint],
          method: "POST",
          headers: stream ? headersOf.stream : headersOf.whole,
          body,
          headersTimeout: firstByteTimeoutMs ?? config.firstByteTimeoutMs,
          bodyTimeout: idleTimeoutMs ?? config.idleTimeoutMs,
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

/** The handler of one request, whose methods undici calls. */
class HttpCall implements UpstreamCall, Dispatcher.DispatchHandler {
  sent = false;
  readonly #listener: UpstreamListener;
  readonly #turns: Turns;
  readonly #connections: Connections;
  #hasTurn = false;
  #controller: Dispatcher.DispatchController | null = null;
  #isOver = false;
  #lastTimer: NodeJS.Timeout | undefined;
  /** Set once an error status has come: its body is collected instead of passed on. */
  #refusal: { status: number; retryAfterSeconds: number | undefined; parts: Buffer[]; bytes: number } | null = null;

  constructor(listener: UpstreamListener, turns: Turns, connections: Connections) {
    this.#listener = listener;
    this.#connections = connections;
    this.#turns = turns;
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
    const id = headers["x-request-id"];
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
    this.#fail(failureOfStatus(status, Buffer.concat(parts).toString("utf8"), retryAfterSeconds));
  }

  #fail(failure: UpstreamFailure): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#listener.onFailure(failure);
  }
}
