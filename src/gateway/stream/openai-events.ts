// The stream format of OpenAI and compatible upstreams: each chunk is the data of an event, and a mark ends the stream.

import type { ChunkFormat } from "../chat.ts";
import { dataOf, splitEvents } from "./sse.ts";

const END_MARK = "[DONE]";

/** Whether the data of an event is the mark behind the last chunk. */
export function isEndMark(data: string): boolean {
  return data === END_MARK;
}

/** The format of the chunks that upstreams write and that pass through here. */
export const OPENAI_EVENTS: ChunkFormat = {
  chunksIn: (bytes) => splitEvents(bytes).flatMap((event) => dataOf(event) ?? []),
};
