// Translates the answer of an upstream into the protocol of its client: shown events are read, and written by the client's writer.

import { DomainError, UpstreamBusy } from "../../kernel/errors.ts";
import type { AnswerReader, ShownFormat } from "../formats/shown-format.ts";
import { parseObject } from "../request/parse-object.ts";
import type { AnswerWriter, ProtocolEvent } from "./protocol.ts";

/** One stream. */
export class StreamTranslation {
  readonly writer: AnswerWriter;
  readonly #origin: string;
  #reader: AnswerReader | null = null;
  /** Whether the events before the first part were written. */
  hasBegun = false;

  /** `origin`: the id of the upstream that answers. */
  constructor(writer: AnswerWriter, origin: string) {
    this.writer = writer;
    this.#origin = origin;
  }

  /** What the protocol has before the first part of an answer; nothing from the second call on. */
  begin(): ProtocolEvent[] {
    if (this.hasBegun) return [];
    this.hasBegun = true;
    return this.writer.begin();
  }

  /** The events for bytes of an upstream's stream. */
  pass(bytes: Buffer, format: ShownFormat): ProtocolEvent[] {
    const { writer } = this;
    const reader = this.#readerOf(format);
    const parts = format
      .chunksIn(bytes)
      .map(parseObject)
      .filter((part) => part !== null);
    return [...this.begin(), ...parts.flatMap((part) => reader.read(part)).flatMap((event) => writer.write(event))];
  }

  /** The events for the last bytes, and those that complete the answer. */
  end(passed: Buffer, format: ShownFormat): ProtocolEvent[] {
    const { writer } = this;
    const events = this.pass(passed, format);
    for (const last of this.#readerOf(format).end()) events.push(...writer.write(last));
    return [...events, ...writer.end()];
  }

  #readerOf(format: ShownFormat): AnswerReader {
    this.#reader ??= format.openReader(this.#origin);
    return this.#reader;
  }
}

/** A whole answer as the writer's protocol has it. Errors: UpstreamBusy where it has no form there. */
export function wholeAnswer(writer: AnswerWriter, json: Buffer, reader: AnswerReader): object {
  const answer = parseObject(json.toString("utf8"));
  if (answer === null) throw new UpstreamBusy();
  return writer.whole([...reader.read(answer), ...reader.end()]);
}

/** Whether a whole answer has a form in the writer's protocol. Which upstream answers makes no difference to it. */
export function canBeWritten(writer: AnswerWriter, json: Buffer, format: ShownFormat): boolean {
  try {
    wholeAnswer(writer, json, format.openReader(""));
    return true;
  } catch (error) {
    if (error instanceof DomainError) return false;
    throw error;
  }
}
