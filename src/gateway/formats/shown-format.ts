// The side of a format that sinks see.

import type { AnswerEvent } from "../conversation/answer-events.ts";
import type { JsonObject } from "../request/field-rules.ts";
import type { ProtocolName } from "./protocol-name.ts";

/** The names that a client sees in place of the upstream's. */
export type ShownNames = { readonly id: string; readonly model: string };

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
