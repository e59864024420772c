import { type ChunkMeaning, meaningOf } from "./chunk.ts";
import { textOfChunk } from "./estimate.ts";
import { dataOf } from "./sse.ts";

/** One event and what it says. `text`: of the answer. */
export type ReadEvent = {
  readonly event: Buffer;
  readonly data: string | null;
  readonly meaning: ChunkMeaning;
  readonly text: string;
};

/** Reads one complete event. */
export function readEvent(event: Buffer): ReadEvent {
  const data = dataOf(event);
  const meaning = meaningOf(data);
  return { event, data, meaning, text: meaning.kind === "chunk" ? textOfChunk(meaning.chunk) : "" };
}
