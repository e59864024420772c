// The parts of a content. Who wrote it decides which parts it may have.

import { isFullText, isJsonObject, isObject, isText, type JsonObject } from "../../request/field-rules.ts";
import { parseObject } from "../../request/parse-object.ts";
import type { CallPart, DocumentPart, ImagePart, Part, ResultPart, TextPart } from "../conversation.ts";
import { checkResolution } from "./media-resolution.ts";
import type { Members } from "./members.ts";
import { readSignature } from "./opaque-signature.ts";

const MAX_PARTS = 10_000;

/** A result before it is matched with its call. `id`: empty where the client sent none. */
export type UnmatchedResult = {
  readonly kind: "unmatched";
  readonly id: string;
  readonly name: string;
  readonly where: Members;
  readonly result: Pick<ResultPart, "parts" | "isError">;
};

/** A part as it was read. A call without an id has an empty one. */
export type ReadPart = Exclude<Part, ResultPart> | UnmatchedResult;

type Place = "system" | "user" | "model";

/** The parts of a content. */
export function readParts(content: Members, place: Place): ReadPart[] {
  return content.objects("parts", MAX_PARTS).flatMap((part) => readPart(part, place));
}

/** Parts that Google's own tools make, and files that its service keeps. */
const PROVIDER_PARTS: readonly (readonly [string, string])[] = [
  ["fileData", "must not be a file of the provider's account or of another server: send its data in inlineData"],
  ["executableCode", "belongs to a tool of the provider and is not offered"],
  ["codeExecutionResult", "belongs to a tool of the provider and is not offered"],
  ["toolCall", "belongs to a tool of the provider and is not offered"],
  ["toolResponse", "belongs to a tool of the provider and is not offered"],
];

/** Whether a part is one of those, which is a problem. */
function isOfProvider(part: Members): boolean {
  for (const [name, message] of PROVIDER_PARTS) {
    if (part.value(name) === null) continue;
    part.refuse(name, "stored", message);
    return true;
  }
  return false;
}

function readPart(part: Members, place: Place): ReadPart[] {
  if (isOfProvider(part)) return [];
  checkResolution(part, true);
  const [call, result, data] = ["functionCall", "functionResponse", "inlineData"].map((name) => part.object(name));
  if (call) return place === "model" ? readCall(call, part) : refuseThere(part, "functionCall");
  if (result) return place === "user" ? [readResult(result)] : refuseThere(part, "functionResponse");
  if (data) return place === "user" ? readData(data) : refuseThere(part, "inlineData");
  const text = part.text("text", isText);
  if (part.value("thought") !== true) return text === "" ? [] : [{ kind: "text", text }];
  const signature = readSignature(part.value("thoughtSignature"));
  const opaque = signature?.opaque ?? null;
  return text === "" && opaque === null ? [] : [{ kind: "reasoning", text, opaque }];
}

function refuseThere(part: Members, name: string): ReadPart[] {
  part.refuse(name, "in", "must not be in a content of this role");
  return [];
}

function readCall(call: Members, part: Members): ReadPart[] {
  const id = call.optional("id", isText);
  const args = call.optional("args", isJsonObject) as JsonObject | null;
  const read: CallPart = {
    kind: "call",
    id: typeof id === "string" ? id : "",
    tool: { name: call.text("name", isFullText), namespace: null },
    input: JSON.stringify(args ?? {}),
  };
  const signature = readSignature(part.value("thoughtSignature"));
  if (signature === null) return [read];
  const { kind, opaque } = signature;
  return kind === "call" ? [{ ...read, opaque }] : [{ kind: "reasoning", text: "", opaque }, read];
}

function readResult(result: Members): UnmatchedResult {
  const id = result.optional("id", isText);
  const name = result.text("name", isText);
  const response = result.optional("response", isJsonObject) as JsonObject | null;
  const media = result.objects("parts", MAX_PARTS).flatMap((part): (TextPart | ImagePart | DocumentPart)[] => {
    if (isOfProvider(part)) return [];
    checkResolution(part, true);
    const data = part.object("inlineData");
    const read = data === null ? [] : readData(data);
    if (data === null) part.refuse("inlineData", "required", "must be sent");
    if (read.some(({ kind }) => kind === "audio")) {
      part.refuse("inlineData", "modality", "must be a picture or a document within the answer of a function");
    }
    return read.filter((each) => each.kind !== "audio");
  });
  const { text, isError } = readResponse(response ?? {});
  const parts = [...(text === "" ? [] : [{ kind: "text", text } as const]), ...media];
  return { kind: "unmatched", id: typeof id === "string" ? id : "", name, where: result, result: { parts, isError } };
}

/**
 * What a tool returned, as a text: that of the member `output` or `error` where it is the only one, as Google's clients write it.
 * A text that is an object itself keeps its member, so that it is not taken for one.
 */
function readResponse(response: JsonObject): { readonly text: string; readonly isError: boolean } {
  const [[name, value] = [], ...others] = Object.entries(response);
  if (name === undefined) return { text: "", isError: false };
  const isError = name === "error" && others.length === 0;
  const isPlain = typeof value === "string" && others.length === 0 && (isError || name === "output");
  const text = isPlain && parseObject(value) === null ? value : JSON.stringify(response);
  return { text, isError };
}

const PDF = "application/pdf";
/** The names of sound formats where they differ from what is behind the slash. */
const SOUNDS: Readonly<Record<string, string>> = { mpeg: "mp3", "x-wav": "wav", wave: "wav", "x-aiff": "aiff" };

type MediaPart = Exclude<ReadPart, CallPart | UnmatchedResult | { kind: "reasoning" }>;

/** Data by its media type. Texts are read, since every model takes a text. */
function readData(data: Members): MediaPart[] {
  const type = data.text("mimeType", isFullText).toLowerCase().split(";", 1)[0]?.trim() ?? "";
  const content = data.text("data", isFullText);
  if (type === "" || content === "") return [];
  const [family, kind = ""] = type.split("/");
  if (family === "image") {
    return [{ kind: "image", source: { kind: "data", mediaType: type, data: content }, detail: null }];
  }
  if (type === PDF) {
    const name = data.value("displayName");
    const where = data.pathOf("data");
    return [{ kind: "document", mediaType: PDF, data: content, name: typeof name === "string" ? name : null, where }];
  }
  if (family === "audio") return [{ kind: "audio", format: SOUNDS[kind] ?? kind, data: content }];
  if (family === "text") return [{ kind: "text", text: Buffer.from(content, "base64").toString("utf8") }];
  data.refuse("mimeType", "in", `must be an image, a sound, a text or ${PDF}`);
  return [];
}

/** The texts of instructions. */
export function readInstructions(body: Members): TextPart[] {
  const value = body.value("systemInstruction");
  if (value === null) return [];
  if (typeof value === "string") return value === "" ? [] : [{ kind: "text", text: value }];
  const content = body.object("systemInstruction");
  if (content === null) return [];
  // Some clients write the parts alone.
  const isBare = isObject(value) && content.value("parts") === null;
  const parts = isBare ? readPart(content, "system") : readParts(content, "system");
  return parts.filter((part) => part.kind === "text");
}
