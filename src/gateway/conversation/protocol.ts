// What a client's protocol is to the gateway: a reader of its requests, and a writer of its answers. Transports write the events
// as their protocol has them on the wire; text of server-sent events, bodies of errors and HTTP statuses are theirs.

import type { DomainError } from "../../kernel/errors.ts";
import type { AnswerEvent } from "./answer-events.ts";
import type { ProtocolName } from "../formats/protocol-name.ts";
import type { JsonObject } from "../request/field-rules.ts";
import type { Conversation } from "./conversation.ts";
import type { NativeRequest } from "./native-request.ts";

/** A request that was read. */
export type ProtocolRequest = {
  readonly conversation: Conversation;
  /** What it asks of an upstream of the same protocol, which gets its bytes. Absent: its bytes never pass through. */
  readonly native?: NativeRequest;
  /** Makes the writer of its answer. */
  readonly writer: (facts: AnswerFacts) => AnswerWriter;
};

/** What an answer shows of its request. */
export type AnswerFacts = {
  /** The id of the answer is made of it. */
  readonly requestId: string;
  readonly createdAtMs: number;
  /** An estimate for protocols that show the input's size first. The billed usage follows at the end. */
  readonly inputTokens: number;
};

/** One event in the form of the client's protocol: a JSON object, and its name where the protocol names events. */
export type ProtocolEvent = { readonly name: string | null; readonly data: object };

/** Writes one answer. A stream is `begin`, `write` for each event, and `end` or `fail`; a whole answer is `whole` alone. */
export interface AnswerWriter {
  begin(): ProtocolEvent[];
  write(event: AnswerEvent): ProtocolEvent[];
  /** What completes the answer after the last event. */
  end(): ProtocolEvent[];
  /** Bytes of the upstream were passed in place of what this writes; this is their last event. Absent: what follows does not depend on it. */
  passed?(last: JsonObject): void;
  /** What ends a stream that broke off. */
  fail(error: DomainError): ProtocolEvent[];
  /** What keeps a silent connection open; null: a comment of the transport does. */
  readonly keepAlive: ProtocolEvent | null;
  /** The answer in one piece. Errors: UpstreamBusy where it cannot be one, such as a call whose input is no JSON. */
  whole(events: readonly AnswerEvent[]): object;
}

/** A protocol of clients. */
export interface ClientProtocol {
  readonly name: ProtocolName;
  /** The headers that belong to a request, in small letters. Absent: none does. */
  readonly headerNames?: readonly string[];
  /**
   * Reads and checks a body. Everything that cannot be expressed or has no price is refused by its own field. Errors:
   * ValidationError naming each field that is wrong.
   */
  read(body: Buffer): ProtocolRequest;
}
