// Reads the body of a chat request: what it asks for, how large it is, and where the members lie that an upstream needs
// changed. The body itself stays as the client wrote it.

import { isUtf8 } from "node:buffer";
import type { CatalogModel } from "../../catalog/catalog.ts";
import { type FieldProblem, ValidationError } from "../../kernel/errors.ts";
import { checkMessages, MAX_PROBLEMS, type MediaFacts } from "./check-messages.ts";
import { checkParameters } from "./check-parameters.ts";
import { countNonAscii } from "./count-bytes.ts";
import { isObject, type JsonObject, problem } from "./field-rules.ts";
import { JsonScanError, MAX_JSON_DEPTH, type ObjectScan, scanObject, type Span } from "./json-scan.ts";
import { parseSkeleton } from "./skeleton.ts";

/** A chat request that was read and found well-formed. */
export type ChatRequest = {
  readonly body: Buffer;
  /** Where the values of the top-level members lie in the body. */
  readonly members: ReadonlyMap<string, Span>;
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
  readonly messageCount: number;
  readonly media: MediaFacts;
  /** Bytes of the body that are not data of media, by kind. */
  readonly asciiBytes: number;
  readonly otherBytes: number;
};

/** No tokenizer makes tokens of more than twelve bytes on average, so longer text cannot fit the context window. */
const MAX_BYTES_PER_TOKEN = 12;

/** Reads and checks a body. Errors: ValidationError naming each field that is wrong. */
export function readRequest(body: Buffer): ChatRequest {
  if (!isUtf8(body)) throw refuse(problem("", "utf8", "The body must be UTF-8"));
  const scan = scanBody(body);
  refuseDangerousKeys(scan);
  const parsed = parse(body, scan);

  const problems: FieldProblem[] = [];
  checkParameters(parsed, problems);
  const media = checkMessages(parsed["messages"], problems);
  if (problems.length > 0) throw new ValidationError(problems.slice(0, MAX_PROBLEMS));

  const streamOptions = isObject(parsed["stream_options"]) ? parsed["stream_options"] : null;
  const otherBytes = countNonAscii(body);
  return {
    body,
    members: scan.members,
    model: String(parsed["model"]),
    stream: parsed["stream"] === true,
    streamOptions,
    wantsUsage: streamOptions?.["include_usage"] === true,
    choices: numberOr(parsed["n"], 1),
    maxTokens: numberOr(parsed["max_tokens"], null),
    maxCompletionTokens: numberOr(parsed["max_completion_tokens"], null),
    messageCount: Array.isArray(parsed["messages"]) ? parsed["messages"].length : 0,
    media,
    asciiBytes: Math.max(0, body.length - otherBytes - media.dataBytes),
    otherBytes,
  };
}

/** Refuses what the model cannot take: media it does not understand, text that cannot fit. Errors: ValidationError. */
export function requireFits(request: ChatRequest, model: CatalogModel): void {
  for (const modality of request.media.parts.keys()) {
    if (!model.inputModalities.includes(modality)) {
      throw refuse(problem("messages", "modality", `hold ${modality} content, which ${model.id} does not understand`));
    }
  }
  if (request.asciiBytes + request.otherBytes > MAX_BYTES_PER_TOKEN * model.contextLength) {
    const message = `are longer than the context window of ${model.id}, which is ${model.contextLength} tokens`;
    throw refuse(problem("messages", "context_length", message));
  }
}

function scanBody(body: Buffer): ObjectScan {
  try {
    return scanObject(body);
  } catch (error) {
    throw error instanceof JsonScanError ? refuse(SCAN_PROBLEMS[error.reason]) : error;
  }
}

const SCAN_PROBLEMS: Readonly<Record<JsonScanError["reason"], FieldProblem>> = {
  not_an_object: problem("", "object", "The body must be a JSON object"),
  too_deep: problem("", "depth", `The body must not be nested deeper than ${MAX_JSON_DEPTH}`),
  truncated: problem("", "json", "The body must be valid JSON"),
};

/** Two readers may choose differently between repeated keys, and then another request is billed than the one answered. */
function refuseDangerousKeys({ repeated: [repeated], hasProtoKey }: ObjectScan): void {
  if (repeated !== undefined) throw refuse(problem(repeated.slice(0, 100), "unique", "must be sent only once"));
  if (hasProtoKey) throw refuse(problem("__proto__", "forbidden", "is not a name a member may have"));
}

function parse(body: Buffer, scan: ObjectScan): JsonObject {
  let parsed: unknown;
  try {
    parsed = parseSkeleton(body, scan.longStrings);
  } catch (cause) {
    throw new ValidationError([problem("", "json", "The body must be valid JSON")], { cause });
  }
  if (!isObject(parsed)) throw refuse(problem("", "object", "The body must be a JSON object"));
  return parsed;
}

function refuse(found: FieldProblem): ValidationError {
  return new ValidationError([found]);
}

function numberOr<T>(value: unknown, otherwise: T): number | T {
  return typeof value === "number" ? value : otherwise;
}
