// The sink of a chat answer over REST. A stream has OpenAI's events, the format of upstreams, so chunks are written unparsed.

import type { ChatAnswerHead, ChatSink, StreamEnding, WholeAnswer } from "../../../gateway/chat.ts";
import type { DomainError } from "../../../kernel/errors.ts";
import type { AnswerResponse } from "../answer-response.ts";
import { END_MARK, errorEvent, KEEP_ALIVE } from "./chat-events.ts";

/** A sink over one response. */
export class ChatResponseSink implements ChatSink {
  readonly #response: AnswerResponse;

  constructor(response: AnswerResponse) {
    this.#response = response;
  }

  answer(head: ChatAnswerHead, answer: WholeAnswer): void {
    this.#response.whole(head, answer);
  }

  begin(head: ChatAnswerHead): void {
    this.#response.stream(head);
  }

  pass(bytes: Buffer): boolean {
    return this.#response.write(bytes);
  }

  keepAlive(): void {
    this.pass(KEEP_ALIVE);
  }

  end({ passed }: StreamEnding): void {
    this.#response.end(Buffer.concat([passed, END_MARK]));
  }

  fail(error: DomainError): void {
    this.#response.end(errorEvent(error));
  }

  onDrained(callback: () => void): void {
    this.#response.onDrained(callback);
  }

  onGone(callback: () => void): void {
    this.#response.onGone(callback);
  }
}
