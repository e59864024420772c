// The content of a chat message as parts. Its shape was checked by then (`request/check-messages.ts`).

import { lifetimeOfMarks } from "../../request/cache-marks.ts";
import { isObject, type JsonObject } from "../../request/field-rules.ts";
import type { AudioPart, ImagePart, TextPart } from "../conversation.ts";
import { readDataUrl } from "../data-url.ts";
import type { ChatAlone } from "./chat-alone.ts";

/** A part of a message. */
export type ContentPart = TextPart | ImagePart | AudioPart;

/** The parts of a message's content: empty texts are none. A mark on the message is one on its last text. */
export function readParts(message: JsonObject, where: string, found: ChatAlone): ContentPart[] {
  const { content } = message;
  const parts: ContentPart[] = [];
  if (typeof content === "string") addText(parts, content, {});
  for (const [index, part] of (Array.isArray(content) ? content : []).entries()) {
    if (isObject(part)) addPart(parts, part, `${where}.content[${index}]`, found);
  }
  return withMark(parts, message);
}

/** The parts where texts alone are allowed. */
export function readTexts(message: JsonObject, where: string, found: ChatAlone): TextPart[] {
  return readParts(message, where, found).flatMap((part) => {
    if (part.kind === "text") return part;
    found.add(`${where}.content`, "modality", `must not hold ${part.kind} content`);
    return [];
  });
}

/** The parts with the marks of an object that has them on its last text. */
export function withMark<T extends { readonly kind: string }>(parts: readonly T[], object: JsonObject): T[] {
  const mark = lifetimeOfMarks(object);
  const last = mark === null ? -1 : parts.findLastIndex(({ kind }) => kind === "text");
  return parts.map((part, index) => (index === last ? { ...part, cacheMark: mark } : part));
}

function addPart(parts: ContentPart[], part: JsonObject, where: string, found: ChatAlone): void {
  switch (part["type"]) {
    case "text":
      return addText(parts, part["text"], part);
    case "refusal":
      return addText(parts, part["refusal"], part);
    case "image_url":
      return addImage(parts, part["image_url"], where, found);
    case "input_audio":
      return addAudio(parts, part["input_audio"], where, found);
    default:
      found.add(`${where}.type`, "unsupported", `must not be ${String(part["type"])}`);
  }
}

function addText(parts: ContentPart[], text: unknown, marked: JsonObject): void {
  if (typeof text !== "string" || text === "") return;
  parts.push(...withMark<ContentPart>([{ kind: "text", text }], marked));
}

function addImage(parts: ContentPart[], image: unknown, where: string, found: ChatAlone): void {
  const { url, detail } = isObject(image) ? image : {};
  const address = String(url);
  const data = readDataUrl(address);
  const source = data === null ? ({ kind: "url", url: address } as const) : ({ kind: "data", ...data } as const);
  if (data === null && !/^https?:\/\//.test(address)) {
    found.add(`${where}.image_url.url`, "uri", "must be an https address or a data URL in base64");
    return;
  }
  parts.push({ kind: "image", source, detail: typeof detail === "string" && detail !== "" ? detail : null });
}

function addAudio(parts: ContentPart[], audio: unknown, where: string, found: ChatAlone): void {
  const { data, format } = isObject(audio) ? audio : {};
  if (typeof format === "string" && format !== "") parts.push({ kind: "audio", format, data: String(data) });
  else found.add(`${where}.input_audio.format`, "required", "must be sent");
}
