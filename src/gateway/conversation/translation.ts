// Translates the answer of an upstream into the protocol of its client: shown events are read, and written by the client's writer.

import { DomainError, UpstreamBusy } from "../../kernel/errors.ts";
import type { AnswerReader, ShownFormat } from "../formats/shown-format.ts";
import { parseObject } from "../request/parse-object.ts";
import type { AnswerEvent } from "./answer-events.ts";
import type { AnswerWriter, ProtocolEvent } from "./protocol.ts";
import { WholeCharacters } from "./whole-characters.ts";

/** One stream. */
export class StreamTranslation {
  readonly writer: AnswerWriter;
  readonly #origin: string;
  readonly #characters = new WholeCharacters();
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
    const reader = this.#readerOf(format);
    const parts = format
      .chunksIn(bytes)
      .map(parseObject)
      .filter((part) => part !== null);
    return [...this.begin(), ...parts.flatMap((part) => this.#write(reader.read(part)))];
  }

  /** The events for the last bytes, and those that complete the answer. */
  end(passed: Buffer, format: ShownFormat): ProtocolEvent[] {
    const events = this.pass(passed, format);
    return [...events, ...this.#write(this.#readerOf(format).end()), ...this.writer.end()];
  }

  #write(events: readonly AnswerEvent[]): ProtocolEvent[] {
    return events.flatMap((event) => this.#characters.read(event)).flatMap((event) => this.writer.write(event));
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
  const characters = new WholeCharacters();
  return writer.whole([...reader.read(answer), ...reader.end()].flatMap((event) => characters.read(event)));
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
