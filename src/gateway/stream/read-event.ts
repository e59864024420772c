// Reads one event of a stream: its meaning, its text and its size.

import { choicesOf, textOfChunk } from "../metering/output-text.ts";
import { countNonAscii } from "../request/count-bytes.ts";
import { isObject, type JsonObject } from "../request/field-rules.ts";
import { type ChunkMeaning, meaningOf } from "./chunk.ts";
import type { OutputSize } from "./output-limit.ts";
import { fieldsOf } from "./sse.ts";

/** One event and what it means. */
export type ReadEvent = {
  readonly event: Buffer;
  readonly data: string;
  readonly meaning: ChunkMeaning;
  /** The text of the answer in it. */
  readonly text: string;
  readonly size: OutputSize;
};

const NO_OUTPUT: OutputSize = { asciiBytes: 0, otherBytes: 0, events: 0, hasMedia: false };

/** Reads one complete event. */
export function readEvent(event: Buffer): ReadEvent {
  const { data, name } = fieldsOf(event);
  const meaning = meaningOf(data, name);
  const read = { event, data: data ?? "", meaning };
  if (meaning.kind !== "chunk" || !meaning.hasOutput) return { ...read, text: "", size: NO_OUTPUT };
  const text = textOfChunk(meaning.chunk);
  return { ...read, text, size: sizeOf(text, hasMedia(meaning.chunk)) };
}

function sizeOf(text: string, media: boolean): OutputSize {
  const bytes = Buffer.from(text);
  const otherBytes = countNonAscii(bytes);
  return { asciiBytes: bytes.length - otherBytes, otherBytes, events: text === "" ? 0 : 1, hasMedia: media };
}

/** The members in which models give sound and pictures. */
const MEDIA = ["audio", "images", "image", "video"] as const;

function hasMedia(chunk: JsonObject): boolean {
  const parts = choicesOf(chunk).flatMap(({ delta, message }) => [delta, message]);
  return parts.filter(isObject).some((delta) => MEDIA.some((name) => isFilled(delta[name])) || hasMediaPart(delta));
}

function isFilled(value: unknown): boolean {
  return Array.isArray(value) ? value.length > 0 : isObject(value) || typeof value === "string";
}

/** Content in parts: each kind of media names itself in the type of its part. */
function hasMediaPart({ content }: JsonObject): boolean {
  if (!Array.isArray(content)) return false;
  return content.some((part) => isObject(part) && /image|audio|video/.test(String(part["type"])));
}
