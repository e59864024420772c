// Reads the body of a chat request: its parameters, its size, and the places of the members that are changed for an upstream.
// The body itself stays as the client wrote it.

import type { CatalogModel } from "../../catalog/catalog-model.ts";
import { type FieldProblem, ValidationError } from "../../kernel/errors.ts";
import { CacheMarks, type CacheWrites } from "./cache-marks.ts";
import { checkMessages, MAX_PROBLEMS, type MediaFacts } from "./check-messages.ts";
import { checkParameters } from "./check-parameters.ts";
import { countNonAscii } from "./count-bytes.ts";
import { isObject, type JsonObject, problem } from "./field-rules.ts";
import { type MemberSpan, type ObjectScan, scanObject } from "./json-scan.ts";
import { parseStrictly, refuse, requireJsonBounds, scanStrictly } from "./read-json.ts";
import { skeletonOf } from "./skeleton.ts";

/** A chat request that was read and found well-formed. */
export type ChatRequest = {
  readonly body: Buffer;
  /** Where the top-level members lie in the body. */
  readonly members: ReadonlyMap<string, MemberSpan>;
  readonly model: string;
  readonly stream: boolean;
  /** The client's `stream_options`, null where it sent none. */
  readonly streamOptions: JsonObject | null;
  /** Whether the client wants the usage chunk at the end of a stream. */
  readonly wantsUsage: boolean;
  /** `n`: how many answers. */
  readonly choices: number;
  /** The client's own bounds on the output, null where it sent none. */
  readonly maxTokens: number | null;
  readonly maxCompletionTokens: number | null;
  /** Whether it leaves the service tier to the provider: `service_tier` is `auto`. */
  readonly choosesTier: boolean;
  /** The client's name of a prompt cache, null where it sent none. */
  readonly cacheKey: string | null;
  /** The prompt cache writes that it asks for, and the field that asks for most; empty where none does. */
  readonly cacheWrites: CacheWrites;
  readonly cacheField: string;
  /** Whether pictures are asked for in the answer. */
  readonly asksForPictures: boolean;
  readonly messageCount: number;
  readonly media: MediaFacts;
  /** Bytes of the body that are not data of media, by kind. */
  readonly asciiBytes: number;
  readonly otherBytes: number;
};

/** No tokenizer makes tokens of more than twelve bytes on average, so longer text cannot fit the context window. */
export const MAX_BYTES_PER_TOKEN = 12;

/** A body with less outside of its long strings is parsed before it is compared with the context window. */
const QUICKLY_PARSED_BYTES = 256 * 1_024;

/** The models that are sold, by their ids. */
type SoldModels = ReadonlyMap<string, Pick<CatalogModel, "contextLength">>;
const NO_MODELS: SoldModels = new Map();

/**
 * Reads and checks a body. A body that cannot fit the model's context window is refused before it is parsed, where the model
 * is known by then. Errors: ValidationError naming each field that is wrong.
 */
export function readRequest(body: Buffer, models: SoldModels = NO_MODELS): ChatRequest {
  const scan = scanStrictly(body);
  refuseUnfit(body, scan, models);
  return checkedRequest({
    body,
    parsed: parseStrictly(skeletonOf(body, scan.longStrings), scan),
    members: scan.members,
  });
}

/**
 * Reads and checks a body that was written here, by what it holds: it is sound JSON. Its members are looked for where they are
 * needed. Errors: ValidationError naming each field that is wrong.
 */
export function readWrittenRequest(body: Buffer, json: JsonObject): ChatRequest {
  requireJsonBounds(json);
  const request = checkedRequest({ body, parsed: json, members: null });
  // Only a scan shows where the data of media lies in the body.
  return request.media.items.length === 0 ? request : readRequest(body);
}

type ParsedBody = {
  readonly body: Buffer;
  readonly parsed: JsonObject;
  /** Null: the body was not scanned. */
  readonly members: ReadonlyMap<string, MemberSpan> | null;
};

function checkedRequest({ body, parsed, members }: ParsedBody): ChatRequest {
  const problems: FieldProblem[] = [];
  checkParameters(parsed, problems);
  const marks = new CacheMarks();
  marks.lookAtBody(parsed, problems);
  const media = checkMessages(parsed["messages"], problems, marks);
  if (problems.length > 0) throw new ValidationError(problems.slice(0, MAX_PROBLEMS));

  const streamOptions = isObject(parsed["stream_options"]) ? parsed["stream_options"] : null;
  const otherBytes = countNonAscii(body);
  return {
    body,
    get members() {
      members ??= scanObject(body).members;
      return members;
    },
    model: String(parsed["model"]),
    stream: parsed["stream"] === true,
    streamOptions,
    wantsUsage: streamOptions?.["include_usage"] === true,
    choices: numberOr(parsed["n"], 1),
    maxTokens: numberOr(parsed["max_tokens"], null),
    maxCompletionTokens: numberOr(parsed["max_completion_tokens"], null),
    choosesTier: parsed["service_tier"] === "auto",
    cacheKey: textOrNull(parsed["prompt_cache_key"]),
    cacheWrites: marks.writes,
    cacheField: marks.field,
    asksForPictures: Array.isArray(parsed["modalities"]) && parsed["modalities"].includes("image"),
    messageCount: Array.isArray(parsed["messages"]) ? parsed["messages"].length : 0,
    media,
    asciiBytes: Math.max(0, body.length - otherBytes - media.dataBytes),
    otherBytes,
  };
}

/** Refuses media that the model does not support, and text that cannot fit. Errors: ValidationError. */
export function requireFits(request: ChatRequest, model: CatalogModel): void {
  if (request.asksForPictures && model.otherPrices?.imageOutput === undefined) {
    const message = `must be text alone, because ${model.id} has no price for pictures in its answers`;
    throw refuse(problem("modalities", "unpriced", message));
  }
  for (const modality of request.media.parts.keys()) {
    if (!model.inputModalities.includes(modality)) {
      throw refuse(problem("messages", "modality", `hold ${modality} content, which ${model.id} does not understand`));
    }
  }
  requireTextFits(request.asciiBytes + request.otherBytes, model.id, model.contextLength);
}

function requireTextFits(textBytes: number, model: string, contextLength: number): void {
  if (textBytes <= MAX_BYTES_PER_TOKEN * contextLength) return;
  const message = `are longer than ${model} takes, whose maximum context length is ${contextLength} tokens`;
  throw new ValidationError([problem("messages", "context_length", message)], { reason: "context_length_exceeded" });
}

/** Bytes outside of long strings are no data of media, so all of them have to fit the context window. */
function refuseUnfit(body: Buffer, { longStrings, members }: ObjectScan, models: SoldModels): void {
  let textBytes = body.length;
  for (const { start, end } of longStrings) textBytes -= end - start;
  const member = members.get("model");
  if (textBytes <= QUICKLY_PARSED_BYTES || member === undefined) return;
  if (member.end - member.start > MAX_MODEL_ID_BYTES) return;
  // An escaped spelling is left to the check after parsing.
  const model = body.toString("utf8", member.start + 1, member.end - 1);
  const sold = models.get(model);
  if (sold !== undefined) requireTextFits(textBytes, model, sold.contextLength);
}

/** Longer values of `model` are refused later. */
const MAX_MODEL_ID_BYTES = 1_024;

function textOrNull(value: unknown): string | null {
  return typeof value === "string" ? value : null;
}

function numberOr<T>(value: unknown, otherwise: T): number | T {
  return typeof value === "number" ? value : otherwise;
}
