// The sink for clients of another protocol than chat. The events of an upstream that was sent the client's own bytes pass as they are;
// those of any other are read and written in the client's protocol.

import type { DomainError } from "../../kernel/errors.ts";
import { timeOfUuidv7 } from "../../kernel/ids.ts";
import { invariant } from "../../kernel/invariant.ts";
import type { ChatAnswerHead, ChatSink, StreamEnding, WholeAnswer } from "../chat.ts";
import type { ProtocolName } from "../formats/protocol-name.ts";
import type { ShownFormat } from "../formats/shown-format.ts";
import type { JsonObject } from "../request/field-rules.ts";
import { parseObject } from "../request/parse-object.ts";
import type { AnswerWriter, ProtocolEvent, ProtocolRequest } from "./protocol.ts";
import { canBeWritten, StreamTranslation, wholeAnswer } from "./translation.ts";

/**
 * Where a transport sends an answer. It gets `answer` or `passAnswer` alone, or `begin`, any number of `write`, `pass` and `keepAlive`,
 * and one of `end` and `endPassed`.
 */
export interface ProtocolOutput {
  /** `costIdr`: a decimal string in rupiah. */
  answer(head: ChatAnswerHead, answer: { readonly body: object; readonly costIdr: string }): void;
  /** A whole answer in the client's protocol, as one JSON text. */
  passAnswer(head: ChatAnswerHead, answer: WholeAnswer): void;
  begin(head: ChatAnswerHead): void;
  /** False: the client is slow; wait for `onDrained`. */
  write(events: readonly ProtocolEvent[]): boolean;
  /** The same for events in the client's protocol, as bytes. */
  pass(bytes: Buffer, format: ShownFormat): boolean;
  /** The protocol has no event for a silent connection, or its answer has not begun. */
  keepAlive(): void;
  /** The last events. `error`: they show it, where the protocol has an event for it. */
  end(events: readonly ProtocolEvent[], error?: DomainError): void;
  endPassed(ending: StreamEnding): void;
  onDrained(callback: () => void): void;
  /** Calls back when the client has left, at once if it already has. */
  onGone(callback: () => void): void;
}

export type TranslationFacts = {
  readonly protocol: ProtocolName;
  readonly request: ProtocolRequest;
  readonly requestId: string;
  /** An estimate. */
  readonly inputTokens: number;
  readonly output: ProtocolOutput;
};

export class TranslatedSink implements ChatSink {
  readonly #facts: TranslationFacts;
  #translation: StreamTranslation | null = null;
  /** The last bytes of the client's own protocol that were passed. Null: none were. */
  #passed: { readonly bytes: Buffer; readonly format: ShownFormat } | null = null;

  constructor(facts: TranslationFacts) {
    this.#facts = facts;
  }

  accepts(json: Buffer, format: ShownFormat): boolean {
    return this.#isNative(format) || canBeWritten(this.#writerFor(this.#facts.requestId), json, format);
  }

  answer(head: ChatAnswerHead, answer: WholeAnswer): void {
    const { json, format, costIdr } = answer;
    if (this.#isNative(format)) {
      this.#facts.output.passAnswer(head, answer);
      return;
    }
    const body = wholeAnswer(this.#writerFor(this.#answeredRequest(head)), json, format.openReader(head.origin));
    this.#facts.output.answer(head, { body, costIdr });
  }

  begin(head: ChatAnswerHead): void {
    this.#translation = new StreamTranslation(this.#writerFor(this.#answeredRequest(head)), head.origin);
    this.#facts.output.begin(head);
  }

  answeredBy(origin: string): void {
    this.#translation = new StreamTranslation(this.#open.writer, origin);
  }

  pass(bytes: Buffer, format: ShownFormat): boolean {
    if (this.#isNative(format)) {
      this.#passed = { bytes, format };
      return this.#facts.output.pass(bytes, format);
    }
    const events = this.#open.pass(bytes, format);
    return events.length === 0 || this.#facts.output.write(events);
  }

  /** Before the first part nothing shows whether the answer will be translated. */
  keepAlive(): void {
    const { output } = this.#facts;
    const { writer, hasBegun } = this.#open;
    if (writer.keepAlive === null || !(hasBegun || this.#passed !== null)) output.keepAlive();
    else output.write([writer.keepAlive]);
  }

  end(ending: StreamEnding): void {
    const { passed, format } = ending;
    if (this.#isNative(format)) this.#facts.output.endPassed(ending);
    else this.#facts.output.end(this.#open.end(passed, format));
  }

  fail(error: DomainError): void {
    const { writer } = this.#open;
    const begin = this.#passed === null ? this.#open.begin() : [];
    if (this.#passed !== null) writer.passed?.(lastEvent(this.#passed));
    this.#facts.output.end([...begin, ...writer.fail(error)], error);
  }

  onDrained(callback: () => void): void {
    this.#facts.output.onDrained(callback);
  }

  onGone(callback: () => void): void {
    this.#facts.output.onGone(callback);
  }

  /** Whether an answer is that of the client's own bytes. */
  #isNative(format: ShownFormat): boolean {
    const { protocol, request } = this.#facts;
    return request.native !== undefined && format.protocol === protocol;
  }

  get #open(): StreamTranslation {
    invariant(this.#translation !== null, "a stream begins before anything is written to it");
    return this.#translation;
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

function lastEvent({ bytes, format }: { readonly bytes: Buffer; readonly format: ShownFormat }): JsonObject {
  return parseObject(format.chunksIn(bytes).at(-1) ?? "") ?? {};
}
