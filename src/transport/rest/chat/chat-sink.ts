// The sink of a chat answer over REST: the raw HTTP response, with its back-pressure. A stream has OpenAI's events, the format of
// upstreams, so chunks are written unparsed.

import type { ServerResponse } from "node:http";
import type { ChatAnswerHead, ChatSink, StreamEnding, WholeAnswer } from "../../../gateway/chat.ts";
import type { DomainError } from "../../../kernel/errors.ts";
import { rateHeaders } from "../../calls/rate-headers.ts";
import type { HeaderLines } from "../../http/answer-headers.ts";
import { endEvents, errorEvent, KEEP_ALIVE } from "./chat-events.ts";

/** How long a client may read nothing of an answer that is written and settled, before its connection is closed. */
export const UNREAD_WITHIN_MS = 60_000;

const NO_HEADERS: HeaderLines = {};

/** A sink over one response. Bytes for a client that has left are dropped, and no code waits for them. */
export class ChatResponseSink implements ChatSink {
  readonly #response: ServerResponse;
  readonly #requestId: string;
  #started = false;

  readonly #unreadWithinMs: number;

  readonly #headers: HeaderLines;

  /** `headers`: those of every answer. */
  constructor(
    response: ServerResponse,
    requestId: string,
    headers: HeaderLines = NO_HEADERS,
    unreadWithinMs = UNREAD_WITHIN_MS,
  ) {
    this.#headers = headers;
    this.#unreadWithinMs = unreadWithinMs;
    this.#response = response;
    this.#requestId = requestId;
  }

  /** Whether the answer has begun, so that an error can no longer be sent as a status. */
  get started(): boolean {
    return this.#started;
  }

  /** Sent with its length, in one packet. */
  answer(head: ChatAnswerHead, { json, costIdr }: WholeAnswer): void {
    this.#start(head, {
      "content-type": "application/json",
      "x-saldo-cost-idr": costIdr,
      "content-length": String(json.length),
    });
    this.#end(json);
  }

  begin(head: ChatAnswerHead): void {
    // Otherwise proxies such as nginx would collect the events.
    this.#start(head, { "content-type": "text/event-stream; charset=utf-8", "x-accel-buffering": "no" });
  }

  pass(bytes: Buffer): boolean {
    return this.#response.destroyed || this.#response.write(bytes);
  }

  keepAlive(): void {
    this.pass(KEEP_ALIVE);
  }

  end({ passed, closing }: StreamEnding): void {
    this.#end(Buffer.concat([passed, endEvents(closing)]));
  }

  fail(error: DomainError): void {
    this.#end(errorEvent(error));
  }

  onDrained(callback: () => void): void {
    const response = this.#response;
    if (response.destroyed || !response.writableNeedDrain) {
      queueMicrotask(callback);
      return;
    }
    // A client that leaves never drains. Waiting code must wake up, or its upstream connection would stay open for ever.
    const wake = () => {
      response.off("drain", wake);
      response.off("close", wake);
      callback();
    };
    response.on("drain", wake);
    response.on("close", wake);
  }

  onGone(callback: () => void): void {
    const response = this.#response;
    if (response.destroyed) {
      if (!response.writableEnded) callback();
      return;
    }
    response.once("close", () => {
      if (!response.writableEnded) callback();
    });
  }

  #start(head: ChatAnswerHead, headers: Record<string, string>): void {
    this.#started = true;
    if (this.#response.destroyed) return;
    this.#response.writeHead(200, {
      ...this.#headers,
      ...headers,
      "x-request-id": this.#requestId,
      ...(head.rate === null ? {} : rateHeaders(head.rate)),
      ...(head.demo ? { "x-saldo-demo": "1" } : {}),
      ...(head.replayOf === undefined ? {} : { "x-saldo-replayed": "true", "x-saldo-answered-request": head.replayOf }),
    });
  }

  #end(bytes: Buffer): void {
    if (this.#response.destroyed) return;
    this.#response.end(bytes);
    this.#leaveUnread();
  }

  /** Closes the connection of a client that reads nothing of the rest. One that reads slowly goes on: each byte restarts the time. */
  #leaveUnread(): void {
    const response = this.#response;
    if (response.writableLength > 0) response.setTimeout(this.#unreadWithinMs, () => response.destroy());
  }
}
