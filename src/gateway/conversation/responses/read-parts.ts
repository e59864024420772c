// The parts of a message or of a tool's output. A part names its own data: files of a provider's account are the operator's.

import type { DocumentPart, ImagePart, TextPart } from "../conversation.ts";
import { readDataUrl } from "../data-url.ts";
import type { ObjectReader } from "./object-reader.ts";

type ContentPart = TextPart | ImagePart | DocumentPart;

const MAX_PARTS = 1_000;
const OF_USERS: ReadonlySet<unknown> = new Set(["input_text", "input_image", "input_file"]);
const OF_MODELS: ReadonlySet<unknown> = new Set(["output_text", "refusal", "input_text"]);
const OF_INSTRUCTIONS: ReadonlySet<unknown> = new Set(["input_text"]);
const DETAILS = ["low", "high", "auto", "original"] as const;

/** The parts of a message of this role. */
export function readContent(item: ObjectReader, role: "system" | "user" | "assistant"): readonly ContentPart[] {
  return readParts(item, "content", role === "user" ? OF_USERS : role === "assistant" ? OF_MODELS : OF_INSTRUCTIONS);
}

/** The output of a tool: a text or parts. */
export function readOutput(item: ObjectReader): readonly ContentPart[] {
  return readParts(item, "output", OF_USERS);
}

function readParts(item: ObjectReader, field: string, allowed: ReadonlySet<unknown>): readonly ContentPart[] {
  const value = item.object[field];
  if (typeof value === "string") return [{ kind: "text", text: value }];
  if (!Array.isArray(value)) {
    item.refuse(field, "type", "must be a string or an array of parts");
    return [];
  }
  return [...item.members(field, MAX_PARTS)].flatMap((part) => readPart(part, allowed) ?? []);
}

/** One part; null where it is wrong. */
function readPart(part: ObjectReader, allowed: ReadonlySet<unknown>): ContentPart | null {
  const { type } = part.object;
  if (!allowed.has(type)) {
    part.refuse("type", "in", `must be one of ${[...allowed].join(", ")}`);
    return null;
  }
  switch (type) {
    case "input_image":
      return readImage(part);
    case "input_file":
      return readFile(part);
    case "refusal":
      return { kind: "text", text: part.text("refusal") };
    default:
      return { kind: "text", text: part.text("text") };
  }
}

function readImage(part: ObjectReader): ImagePart | null {
  if (refusesStoredFile(part, "image_url")) return null;
  const url = part.fullText("image_url");
  const detail = part.oneOf("detail", DETAILS);
  const data = readDataUrl(url);
  if (data !== null) return { kind: "image", source: { kind: "data", ...data }, detail };
  if (/^https?:\/\//.test(url)) return { kind: "image", source: { kind: "url", url }, detail };
  if (url !== "") part.refuse("image_url", "uri", "must be an https address or a data URL in base64");
  return null;
}

/** A document by an address has no bound on its size here, so its data has to be sent. */
function readFile(part: ObjectReader): DocumentPart | null {
  if (refusesStoredFile(part, "file_data")) return null;
  if (part.has("file_url")) {
    part.refuse("file_url", "unpriced", "is not offered; send the data of the file in file_data");
    return null;
  }
  const file = part.fullText("file_data");
  const data = readDataUrl(file);
  if (data !== null)
    return { kind: "document", ...data, name: part.text("filename") || null, where: part.pathOf("file_data") };
  if (file !== "")
    part.refuse("file_data", "uri", "must be a data URL in base64, such as data:application/pdf;base64,…");
  return null;
}

function refusesStoredFile(part: ObjectReader, instead: string): boolean {
  if (!part.has("file_id")) return false;
  part.refuse("file_id", "stateless", `is not offered, because no files are stored here; send ${instead}`);
  return true;
}
