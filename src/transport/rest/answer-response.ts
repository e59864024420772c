// The raw HTTP response of an answer of a model: its head, its back-pressure, and clients that leave or do not read.

import type { ServerResponse } from "node:http";
import type { ChatAnswerHead } from "../../gateway/chat.ts";
import { rateHeaders } from "../calls/rate-headers.ts";
import type { HeaderLines } from "../http/answer-headers.ts";

/** How long a client may read nothing of an answer that is written and settled, before its connection is closed. */
const UNREAD_WITHIN_MS = 60_000;

/** The headers of a stream of events. Without the last one proxies such as nginx would collect the events. */
const EVENT_STREAM: HeaderLines = { "content-type": "text/event-stream; charset=utf-8", "x-accel-buffering": "no" };

type ResponseFacts = {
  readonly response: ServerResponse;
  readonly requestId: string;
  /** Those of every answer. */
  readonly headers: HeaderLines;
  readonly unreadWithinMs?: number;
};

/** Bytes for a client that has left are dropped, and no code waits for them. */
export class AnswerResponse {
  readonly #facts: ResponseFacts;
  #started = false;

  constructor(facts: ResponseFacts) {
    this.#facts = facts;
  }

  /** Whether the answer has begun, so that an error can no longer be sent as a status. */
  get started(): boolean {
    return this.#started;
  }

  /** Sends an answer in one piece, with its length, in one packet. */
  whole(head: ChatAnswerHead, { json, costIdr }: { readonly json: Buffer; readonly costIdr: string }): void {
    this.#start(head, {
      "content-type": "application/json",
      "x-saldo-cost-idr": costIdr,
      "content-length": String(json.length),
    });
    this.end(json);
  }

  /** Begins a stream of events. */
  stream(head: ChatAnswerHead): void {
    this.#start(head, EVENT_STREAM);
  }

  /** False: the client is slow; wait for `onDrained`. */
  write(bytes: Buffer | string): boolean {
    const { response } = this.#facts;
    return response.destroyed || response.write(bytes);
  }

  end(bytes: Buffer | string): void {
    const { response } = this.#facts;
    if (response.destroyed) return;
    response.end(bytes);
    this.#leaveUnread();
  }

  /** Calls back once more bytes are welcome. */
  onDrained(callback: () => void): void {
    const { response } = this.#facts;
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

  /** Calls back when the client has left, at once if it already has. */
  onGone(callback: () => void): void {
    const { response } = this.#facts;
    if (response.destroyed) {
      if (!response.writableEnded) callback();
      return;
    }
    response.once("close", () => {
      if (!response.writableEnded) callback();
    });
  }

  #start(head: ChatAnswerHead, more: HeaderLines): void {
    const { response, requestId, headers } = this.#facts;
    this.#started = true;
    if (response.destroyed) return;
    response.writeHead(200, {
      ...headers,
      ...more,
      "x-request-id": requestId,
      ...(head.rate === null ? {} : rateHeaders(head.rate)),
      ...(head.demo ? { "x-saldo-demo": "1" } : {}),
      ...(head.replayOf === undefined ? {} : { "x-saldo-replayed": "true", "x-saldo-answered-request": head.replayOf }),
    });
  }

  /** Closes the connection of a client that reads nothing of the rest. One that reads slowly goes on: each byte restarts the time. */
  #leaveUnread(): void {
    const { response, unreadWithinMs = UNREAD_WITHIN_MS } = this.#facts;
    if (response.writableLength > 0) response.setTimeout(unreadWithinMs, () => response.destroy());
  }
}
