// A call whose request may have encrypted reasoning of another account: a client keeps it while a model moves between upstreams. Only
// the account that made it can read it, so the request is sent once more without any. A refused request costs nothing.

import { parseForeignJson } from "../../../kernel/foreign-json.ts";
import { isObject } from "../../request/field-rules.ts";
import type {
  ChatUpstream,
  UpstreamCall,
  UpstreamFailure,
  UpstreamListener,
  UpstreamRequest,
} from "../chat-upstream.ts";

/** How a provider refuses it. */
const UNREADABLE = /encrypted[ _]content/i;

export class SealedReasoningCall implements UpstreamCall, UpstreamListener {
  readonly #http: Pick<ChatUpstream, "call">;
  readonly #request: UpstreamRequest;
  readonly #listener: UpstreamListener;
  #call: UpstreamCall;
  #isRepeated = false;
  #isOver = false;

  constructor(http: Pick<ChatUpstream, "call">, request: UpstreamRequest, listener: UpstreamListener) {
    this.#http = http;
    this.#request = request;
    this.#listener = listener;
    this.#call = http.call(request, this);
  }

  get sent(): boolean {
    return this.#isRepeated || this.#call.sent;
  }

  pause(): void {
    this.#call.pause();
  }

  resume(): void {
    this.#call.resume();
  }

  letGo(): void {
    this.#call.letGo();
  }

  abort(): void {
    this.#isOver = true;
    this.#call.abort();
  }

  onAnswer(answer: Parameters<UpstreamListener["onAnswer"]>[0]): void {
    this.#listener.onAnswer(answer);
  }

  onData(bytes: Buffer): void {
    this.#listener.onData(bytes);
  }

  onEnd(): void {
    this.#listener.onEnd();
  }

  onFailure(failure: UpstreamFailure): void {
    const body = this.#isOver || this.#isRepeated || !isUnreadable(failure) ? null : unsealed(this.#request.body);
    if (body === null) {
      this.#listener.onFailure(failure);
      return;
    }
    this.#isRepeated = true;
    this.#call = this.#http.call({ ...this.#request, body }, this);
  }
}

function isUnreadable({ kind, message = "" }: UpstreamFailure): boolean {
  return kind === "refused" && UNREADABLE.test(message);
}

/** The request without its reasoning. Null: it has none. */
function unsealed(body: Buffer): Buffer | null {
  const request = parseForeignJson(body.toString("utf8"));
  if (!isObject(request) || !Array.isArray(request["input"])) return null;
  const items: readonly unknown[] = request["input"];
  const input = items.filter((item) => !isObject(item) || item["type"] !== "reasoning");
  return input.length === items.length ? null : Buffer.from(JSON.stringify({ ...request, input }));
}
