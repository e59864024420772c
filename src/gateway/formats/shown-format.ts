// The side of a format that sinks see.

import type { AnswerEvent } from "../conversation/answer-events.ts";
import type { JsonObject } from "../request/field-rules.ts";
import type { ProtocolName } from "./protocol-name.ts";

/** The names that a client sees in place of the upstream's. */
export type ShownNames = { readonly id: string; readonly model: string };

/** A client of the answer's own protocol, which gets the bytes of its upstream. */
export type NativeClient = {
  /** The id of the upstream, with which opaque texts are tagged. */
  readonly origin: string;
  /** Members that an answer repeats of its request, as the client wrote them. */
  readonly repeated: JsonObject;
  /** Texts that stay between us and the upstream: its own name of the model, and its names of our customer. */
  readonly hidden: readonly string[];
};

/** What an answer shows of our own. */
export type ShownAs = {
  readonly names: ShownNames;
  /** Absent: readers of another protocol get the answer, and tag its opaque texts themselves. */
  readonly native?: NativeClient | undefined;
};

/** Reads the shown events of a stream, or a shown whole answer, in no protocol's own form. */
export interface AnswerReader {
  /** `part`: the data of one event, or a whole answer. */
  read(part: JsonObject): AnswerEvent[];
  /** The events behind the last part: how it ended, and the billed usage. */
  end(): AnswerEvent[];
}

/** How shown bytes are taken apart by sinks whose clients have another protocol. */
export interface ShownFormat {
  readonly protocol: ProtocolName;
  /** The JSON text of each event in the bytes, in order. Comments and marks are left out. */
  chunksIn(bytes: Buffer): string[];
  /** `origin`: the id of the upstream that answers, with which opaque texts are tagged. */
  openReader(origin: string): AnswerReader;
}
