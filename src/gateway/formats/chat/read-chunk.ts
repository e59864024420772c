// Reads one event of a stream: its meaning, its text and its size.

import { choicesOf, textOfChunk } from "../../metering/output-text.ts";
import { isObject, type JsonObject } from "../../request/field-rules.ts";
import { fieldsOf } from "../../stream/sse.ts";
import type { ReadEvent } from "../answer-format.ts";
import { NO_OUTPUT, sizeOfText } from "../output-size.ts";
import { meaningOf } from "./chunk.ts";

/** Reads one complete event. */
export function readChunk(event: Buffer): ReadEvent {
  const { data, name } = fieldsOf(event);
  const meaning = meaningOf(data, name);
  const read = { event, data: data ?? "", meaning };
  if (meaning.kind !== "part" || !meaning.hasOutput) return { ...read, text: "", size: NO_OUTPUT };
  const text = textOfChunk(meaning.object);
  return { ...read, text, size: sizeOfText(text, hasMedia(meaning.object)) };
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
