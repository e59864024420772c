// The sink of a chat client for an upstream of another protocol: it reads the upstream's events and passes chat chunks on.

import { timeOfUuidv7 } from "../../kernel/ids.ts";
import type { DomainError } from "../../kernel/errors.ts";
import type { ChatAnswerHead, ChatSink, StreamEnding, WholeAnswer } from "../chat.ts";
import { type ChatAnswerOptions, ChatAnswerWriter } from "../conversation/chat/write-chat-answer.ts";
import type { ProtocolEvent } from "../conversation/protocol.ts";
import { canBeWritten, StreamTranslation, wholeAnswer } from "../conversation/translation.ts";
import { CHAT_FORMAT } from "../formats/chat/chat-format.ts";
import type { ShownFormat } from "../formats/shown-format.ts";
import { eventOf } from "../stream/sse.ts";

export class ChatWritingSink implements ChatSink {
  readonly #sink: ChatSink;
  readonly #origin: string;
  readonly #newWriter: () => ChatAnswerWriter;
  readonly #translation: StreamTranslation;

  /** `origin`: the id of the upstream that answers. */
  constructor(
    sink: ChatSink,
    { requestId, origin }: { readonly requestId: string; readonly origin: string },
    options: ChatAnswerOptions,
  ) {
    const facts = { requestId, createdAtMs: timeOfUuidv7(requestId), inputTokens: 0 };
    this.#sink = sink;
    this.#origin = origin;
    this.#newWriter = () => new ChatAnswerWriter(facts, options);
    this.#translation = new StreamTranslation(this.#newWriter(), origin);
  }

  accepts(answer: Buffer, format: ShownFormat): boolean {
    return canBeWritten(this.#newWriter(), answer, format);
  }

  answer(head: ChatAnswerHead, { json, format, costIdr }: WholeAnswer): void {
    const body = wholeAnswer(this.#newWriter(), json, format.openReader(this.#origin));
    this.#sink.answer(head, { json: Buffer.from(JSON.stringify(body)), format: CHAT_FORMAT, costIdr });
  }

  begin(head: ChatAnswerHead): void {
    this.#sink.begin(head);
  }

  pass(bytes: Buffer, format: ShownFormat): boolean {
    const events = this.#translation.pass(bytes, format);
    return events.length === 0 || this.#sink.pass(bytesOf(events), CHAT_FORMAT);
  }

  keepAlive(): void {
    this.#sink.keepAlive();
  }

  end({ passed, format }: StreamEnding): void {
    this.#sink.end({ passed: bytesOf(this.#translation.end(passed, format)), format: CHAT_FORMAT });
  }

  fail(error: DomainError): void {
    this.#sink.fail(error);
  }

  onDrained(callback: () => void): void {
    this.#sink.onDrained(callback);
  }

  onGone(callback: () => void): void {
    this.#sink.onGone(callback);
  }
}

function bytesOf(events: readonly ProtocolEvent[]): Buffer {
  return Buffer.concat(events.map(({ data }) => eventOf(JSON.stringify(data))));
}
