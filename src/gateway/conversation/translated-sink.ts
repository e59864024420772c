// The sink for clients of another protocol than chat: it reads the upstream's answer and writes it in theirs.

import { DomainError, UpstreamBusy } from "../../kernel/errors.ts";
import { timeOfUuidv7 } from "../../kernel/ids.ts";
import { invariant } from "../../kernel/invariant.ts";
import type { ChatAnswerHead, ChatSink, ChunkFormat, StreamEnding, WholeAnswer } from "../chat.ts";
import { ChatAnswerReader, readChatAnswer } from "./chat/read-chat-answer.ts";
import type { AnswerWriter, ProtocolEvent, ProtocolRequest } from "./protocol.ts";

/** Where a transport sends an answer. It gets `answer` alone, or `begin`, any number of `write` and `keepAlive`, and `end`. */
export interface ProtocolOutput {
  /** `costIdr`: a decimal string in rupiah. */
  answer(head: ChatAnswerHead, answer: { readonly body: object; readonly costIdr: string }): void;
  begin(head: ChatAnswerHead): void;
  /** False: the client is slow; wait for `onDrained`. */
  write(events: readonly ProtocolEvent[]): boolean;
  /** The protocol has no event for a silent connection. */
  keepAlive(): void;
  /** The last events. */
  end(events: readonly ProtocolEvent[]): void;
  onDrained(callback: () => void): void;
  /** Calls back when the client has left, at once if it already has. */
  onGone(callback: () => void): void;
}

export type TranslationFacts = {
  readonly request: ProtocolRequest;
  readonly requestId: string;
  /** An estimate. */
  readonly inputTokens: number;
  readonly output: ProtocolOutput;
};

export class TranslatedSink implements ChatSink {
  readonly #facts: TranslationFacts;
  readonly #reader = new ChatAnswerReader();
  #writer: AnswerWriter | null = null;

  constructor(facts: TranslationFacts) {
    this.#facts = facts;
  }

  accepts(answer: Buffer): boolean {
    try {
      wholeAnswer(this.#writerFor(this.#facts.requestId), answer);
      return true;
    } catch (error) {
      if (error instanceof DomainError) return false;
      throw error;
    }
  }

  answer(head: ChatAnswerHead, { json, costIdr }: WholeAnswer): void {
    const body = wholeAnswer(this.#writerFor(this.#answeredRequest(head)), json);
    this.#facts.output.answer(head, { body, costIdr });
  }

  begin(head: ChatAnswerHead): void {
    const { output } = this.#facts;
    this.#writer = this.#writerFor(this.#answeredRequest(head));
    output.begin(head);
    output.write(this.#writer.begin());
  }

  pass(bytes: Buffer, format: ChunkFormat): boolean {
    const events = this.#translated(format.chunksIn(bytes));
    return events.length === 0 || this.#facts.output.write(events);
  }

  keepAlive(): void {
    const { output } = this.#facts;
    const { keepAlive } = this.#openWriter;
    if (keepAlive === null) output.keepAlive();
    else output.write([keepAlive]);
  }

  end({ passed, format, closing }: StreamEnding): void {
    const writer = this.#openWriter;
    const events = this.#translated([...format.chunksIn(passed), ...closing]);
    for (const last of this.#reader.end()) events.push(...writer.write(last));
    this.#facts.output.end([...events, ...writer.end()]);
  }

  fail(error: DomainError): void {
    this.#facts.output.end(this.#openWriter.fail(error));
  }

  onDrained(callback: () => void): void {
    this.#facts.output.onDrained(callback);
  }

  onGone(callback: () => void): void {
    this.#facts.output.onGone(callback);
  }

  #translated(chunks: readonly string[]): ProtocolEvent[] {
    const writer = this.#openWriter;
    return chunks.flatMap((json) => this.#reader.read(json)).flatMap((event) => writer.write(event));
  }

  get #openWriter(): AnswerWriter {
    invariant(this.#writer !== null, "a stream begins before anything is written to it");
    return this.#writer;
  }

  /** A kept answer is that of an earlier request. */
  #answeredRequest({ replayOf }: ChatAnswerHead): string {
    return replayOf ?? this.#facts.requestId;
  }

  #writerFor(requestId: string): AnswerWriter {
    const { request, inputTokens } = this.#facts;
    return request.writer({ requestId, createdAtMs: timeOfUuidv7(requestId), inputTokens });
  }
}

/** Errors: UpstreamBusy where the answer has no form in the protocol. */
function wholeAnswer(writer: AnswerWriter, json: Buffer): object {
  const events = readChatAnswer(json.toString("utf8"));
  if (events === null) throw new UpstreamBusy();
  return writer.whole(events);
}
