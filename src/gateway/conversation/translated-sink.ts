// The sink for clients of another protocol than chat: it reads the upstream's answer and writes it in theirs.

import { DomainError, UpstreamBusy } from "../../kernel/errors.ts";
import { timeOfUuidv7 } from "../../kernel/ids.ts";
import { invariant } from "../../kernel/invariant.ts";
import type { ChatAnswerHead, ChatSink, StreamEnding, WholeAnswer } from "../chat.ts";
import type { AnswerReader, ShownFormat } from "../formats/shown-format.ts";
import { parseObject } from "../request/parse-object.ts";
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
  #origin = "";
  #reader: AnswerReader | null = null;
  #writer: AnswerWriter | null = null;

  constructor(facts: TranslationFacts) {
    this.#facts = facts;
  }

  accepts(json: Buffer, format: ShownFormat): boolean {
    try {
      // Which upstream answers makes no difference to whether the answer has a form.
      wholeAnswer(this.#writerFor(this.#facts.requestId), json, format.openReader(""));
      return true;
    } catch (error) {
      if (error instanceof DomainError) return false;
      throw error;
    }
  }

  answer(head: ChatAnswerHead, { json, format, costIdr }: WholeAnswer): void {
    const body = wholeAnswer(this.#writerFor(this.#answeredRequest(head)), json, format.openReader(head.origin));
    this.#facts.output.answer(head, { body, costIdr });
  }

  begin(head: ChatAnswerHead): void {
    const { output } = this.#facts;
    this.#origin = head.origin;
    this.#writer = this.#writerFor(this.#answeredRequest(head));
    output.begin(head);
    output.write(this.#writer.begin());
  }

  pass(bytes: Buffer, format: ShownFormat): boolean {
    const events = this.#translated(bytes, format);
    return events.length === 0 || this.#facts.output.write(events);
  }

  keepAlive(): void {
    const { output } = this.#facts;
    const { keepAlive } = this.#openWriter;
    if (keepAlive === null) output.keepAlive();
    else output.write([keepAlive]);
  }

  end({ passed, format }: StreamEnding): void {
    const writer = this.#openWriter;
    const events = this.#translated(passed, format);
    for (const last of this.#readerOf(format).end()) events.push(...writer.write(last));
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

  #translated(bytes: Buffer, format: ShownFormat): ProtocolEvent[] {
    const writer = this.#openWriter;
    const reader = this.#readerOf(format);
    const parts = format
      .chunksIn(bytes)
      .map(parseObject)
      .filter((part) => part !== null);
    return parts.flatMap((part) => reader.read(part)).flatMap((event) => writer.write(event));
  }

  #readerOf(format: ShownFormat): AnswerReader {
    this.#reader ??= format.openReader(this.#origin);
    return this.#reader;
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
function wholeAnswer(writer: AnswerWriter, json: Buffer, reader: AnswerReader): object {
  const answer = parseObject(json.toString("utf8"));
  if (answer === null) throw new UpstreamBusy();
  return writer.whole([...reader.read(answer), ...reader.end()]);
}
