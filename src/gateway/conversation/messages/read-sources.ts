// Pictures and documents of a Messages request.

import { isFullText, type JsonObject } from "../../request/field-rules.ts";
import type { DocumentPart, ImagePart, TextPart } from "../conversation.ts";
import type { Problems } from "../problems.ts";

/** A part that may also be within a result. */
export type PlainPart = TextPart | ImagePart | DocumentPart;

/** Reads the blocks within a document. */
export type ReadContent = (content: unknown, where: string, problems: Problems) => readonly PlainPart[];

const IMAGE_TYPES: ReadonlySet<unknown> = new Set(["image/jpeg", "image/png", "image/gif", "image/webp"]);
const PDF = "application/pdf";
const WEB_ADDRESS = /^https?:\/\//;

export function readImage(block: JsonObject, where: string, problems: Problems): readonly ImagePart[] {
  const field = `${where}.source`;
  const source = problems.object(block["source"], field);
  if (source === null) return [];
  const { type, media_type: mediaType } = source;
  if (type === "base64") {
    if (typeof mediaType !== "string" || !IMAGE_TYPES.has(mediaType)) {
      problems.add(`${field}.media_type`, "in", `must be one of ${[...IMAGE_TYPES].join(", ")}`);
      return [];
    }
    const data = problems.text(isFullText, source["data"], `${field}.data`);
    return [{ kind: "image", source: { kind: "data", mediaType, data }, detail: null }];
  }
  if (type === "url") {
    const url = problems.text(isFullText, source["url"], `${field}.url`);
    if (url !== "" && !WEB_ADDRESS.test(url))
      problems.add(`${field}.url`, "uri", "must begin with https:// or http://");
    return [{ kind: "image", source: { kind: "url", url }, detail: null }];
  }
  refuseSource(type, field, "base64 or url", problems);
  return [];
}

/** The parts of a document: its title and its context are text before it. */
export function readDocument(
  block: JsonObject,
  where: string,
  problems: Problems,
  readContent: ReadContent,
): readonly PlainPart[] {
  const field = `${where}.source`;
  const source = problems.object(block["source"], field);
  if (source === null) return [];
  const { type } = source;
  if (type === "base64") return readPdf(block, source, field, problems);
  const about = [...textOf(block["title"]), ...textOf(block["context"])];
  if (type === "text") {
    const data = source["data"];
    if (typeof data !== "string") problems.add(`${field}.data`, "string", "must be a string");
    return [...about, ...textOf(data)];
  }
  if (type === "content") return [...about, ...readContent(source["content"], `${field}.content`, problems)];
  refuseSource(type, field, "base64, text or content", problems);
  return [];
}

function readPdf(block: JsonObject, source: JsonObject, field: string, problems: Problems): readonly PlainPart[] {
  if (source["media_type"] !== PDF) {
    problems.add(`${field}.media_type`, "in", `must be ${PDF}`);
    return [];
  }
  const data = problems.text(isFullText, source["data"], `${field}.data`);
  const { title } = block;
  const name = typeof title === "string" && title !== "" ? title : null;
  return [...textOf(block["context"]), { kind: "document", mediaType: PDF, data, name, where: field }];
}

/** All customers share the operator's account at a provider, so no file of that account may be named. */
function refuseSource(type: unknown, field: string, offered: string, problems: Problems): void {
  if (type === "file") problems.add(field, "stored", "must not be a file of the provider's account");
  else problems.add(`${field}.type`, "in", `must be ${offered}`);
}

/** A search result as text, which every model reads. */
export function readSearchResult(
  block: JsonObject,
  where: string,
  problems: Problems,
  readContent: ReadContent,
): readonly PlainPart[] {
  const found = readContent(block["content"], `${where}.content`, problems);
  return [...textOf(block["title"]), ...textOf(block["source"]), ...found];
}

function textOf(value: unknown): readonly TextPart[] {
  return typeof value === "string" && value !== "" ? [{ kind: "text", text: value }] : [];
}
