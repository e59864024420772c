// Where the bytes of a chat answer go on the REST face: the raw HTTP response, with its back-pressure.

import type { ServerResponse } from "node:http";
import type { ChatAnswerHead, ChatSink } from "../../../gateway/chat.ts";
import { rateHeaders } from "../../calls/rate-headers.ts";
import type { HeaderLines } from "../../http/answer-headers.ts";

/** How long a client may take nothing of an answer that is written and settled, before its connection is closed. */
export const UNREAD_WITHIN_MS = 60_000;

const NO_HEADERS: HeaderLines = {};

/** A sink over one response. What is written to a client that has left goes nowhere and is never waited for. */
export class ChatResponseSink implements ChatSink {
  readonly #response: ServerResponse;
  readonly #requestId: string;
  /** The answer that is not streamed, until it is known to be whole: then it goes out with its length, in one packet. */
  #whole: { headers: Record<string, string>; bytes: Buffer | null } | null = null;
  #started = false;

  readonly #unreadWithinMs: number;

  readonly #headers: HeaderLines;

  /** `headers` are those that every answer has. */
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

  /** Whether the answer has begun, so that an error can no longer be told by status. */
  get started(): boolean {
    return this.#started;
  }

  start(head: ChatAnswerHead): void {
    this.#started = true;
    const headers: Record<string, string> = {
      ...this.#headers,
      "content-type": head.streamed ? "text/event-stream; charset=utf-8" : "application/json",
      "x-request-id": this.#requestId,
      ...(head.rate === null ? {} : rateHeaders(head.rate)),
    };
    if (head.demo) headers["x-saldo-demo"] = "1";
    if (head.replayOf !== undefined) {
      headers["x-saldo-replayed"] = "true";
      headers["x-saldo-answered-request"] = head.replayOf;
    }
    if (head.streamed) {
      // Proxies such as nginx would collect the events otherwise.
      headers["x-accel-buffering"] = "no";
      if (!this.#response.destroyed) this.#response.writeHead(200, headers);
      return;
    }
    if (head.costIdr !== null) headers["x-saldo-cost-idr"] = head.costIdr;
    this.#whole = { headers, bytes: null };
  }

  write(bytes: Buffer): boolean {
    const response = this.#response;
    if (response.destroyed) return true;
    const whole = this.#whole;
    if (whole === null) return response.write(bytes);
    if (whole.bytes === null) {
      whole.bytes = bytes;
      return true;
    }
    // A second piece: the length is not known, so the answer goes out in chunks.
    this.#whole = null;
    response.writeHead(200, whole.headers);
    response.write(whole.bytes);
    return response.write(bytes);
  }

  onDrained(callback: () => void): void {
    const response = this.#response;
    if (response.destroyed || !response.writableNeedDrain) {
      queueMicrotask(callback);
      return;
    }
    // A client that leaves never drains. Whoever waits must wake up, or its upstream connection is held for ever.
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

  end(): void {
    const response = this.#response;
    if (response.destroyed) return;
    const whole = this.#whole;
    if (whole === null) {
      response.end();
      this.#leaveUnread();
      return;
    }
    const bytes = whole.bytes ?? Buffer.alloc(0);
    whole.headers["content-length"] = String(bytes.length);
    response.writeHead(200, whole.headers);
    response.end(bytes);
    this.#leaveUnread();
  }

  /** Nobody is waited for who never reads what is left. Whoever reads slowly is: each byte taken begins the time anew. */
  #leaveUnread(): void {
    const response = this.#response;
    if (response.writableLength > 0) response.setTimeout(this.#unreadWithinMs, () => response.destroy());
  }
}
