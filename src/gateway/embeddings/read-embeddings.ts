// Reads and checks the body of a request for vectors. Only the named parameters go to the upstream: the cost of another one is
// unknown.

import type { CatalogModel } from "../../catalog/catalog-model.ts";
import { type FieldProblem, ValidationError } from "../../kernel/errors.ts";
import { MAX_PROBLEMS } from "../request/check-messages.ts";
import { isModelId, UNPRICED } from "../request/check-parameters.ts";
import { integerBetween, isText, type JsonObject, problem, type Rule } from "../request/field-rules.ts";
import { parseStrictly, refuse, scanStrictly } from "../request/read-json.ts";
import { MAX_BYTES_PER_TOKEN } from "../request/read-request.ts";
import { originalLength, skeletonOf } from "../request/skeleton.ts";

export type Encoding = "float" | "base64";

/** A text of so many bytes, or so many tokens. */
export type EmbeddingsInput =
  | { readonly kind: "text"; readonly bytes: number }
  | { readonly kind: "tokens"; readonly tokens: number };

/** A request for vectors that was read and found well-formed. */
export type EmbeddingsRequest = {
  readonly model: string;
  /** The JSON of the input as the client wrote it. */
  readonly inputJson: Buffer;
  readonly inputs: readonly EmbeddingsInput[];
  readonly encoding: Encoding;
  readonly dimensions: number | null;
  readonly user: string | null;
};

export const MAX_INPUTS = 2_048;
/** Providers take 300 000 tokens in one request; each is a number and a comma. */
const MAX_EMBEDDINGS_JSON_TOKENS = 320_000;
const MAX_DIMENSIONS = 65_536;
const MAX_TOKEN = 2_147_483_647;

const isEncoding: Rule = (value, field) =>
  value === "float" || value === "base64" ? null : problem(field, "in", "must be float or base64");

const RULES: ReadonlyMap<string, Rule> = new Map<string, Rule>([
  ...UNPRICED,
  ["dimensions", integerBetween(1, MAX_DIMENSIONS)],
  ["encoding_format", isEncoding],
  ["user", isText],
]);

/** Reads a body. Errors: ValidationError naming each field that is wrong. */
export function readEmbeddings(body: Buffer): EmbeddingsRequest {
  const scan = scanStrictly(body, MAX_EMBEDDINGS_JSON_TOKENS);
  const parsed = parseStrictly(skeletonOf(body, scan.longStrings), scan);
  const problems: FieldProblem[] = [];
  checkParameters(parsed, problems);
  const inputs = readInputs(parsed["input"], problems);
  const span = scan.members.get("input");
  if (problems.length > 0 || span === undefined) throw new ValidationError(problems.slice(0, MAX_PROBLEMS));
  const { dimensions, user } = parsed;
  return {
    model: String(parsed["model"]),
    inputJson: body.subarray(span.start, span.end),
    inputs,
    encoding: parsed["encoding_format"] === "base64" ? "base64" : "float",
    dimensions: typeof dimensions === "number" ? dimensions : null,
    user: typeof user === "string" ? String(JSON.parse(memberText(body, scan.members.get("user")))) : null,
  };
}

/** The text of a member: a long one was shortened in the structure. */
function memberText(body: Buffer, span: { readonly start: number; readonly end: number } | undefined): string {
  return span === undefined ? '""' : body.toString("utf8", span.start, span.end);
}

function checkParameters(body: JsonObject, problems: FieldProblem[]): void {
  const wrongModel = isModelId(body["model"], "model");
  if (wrongModel !== null) problems.push(wrongModel);
  for (const [name, value] of Object.entries(body)) {
    if (name === "model" || name === "input") continue;
    const rule = RULES.get(name) ?? isUnknown;
    // Null is as good as absent.
    const found = value === null ? null : rule(value, name.slice(0, 100));
    if (found !== null) problems.push(found);
  }
}

const isUnknown: Rule = (_value, field) => problem(field, "unknown", "is not a parameter of embeddings");

function readInputs(input: unknown, problems: FieldProblem[]): EmbeddingsInput[] {
  // A list of numbers is one text as tokens.
  const isOne = typeof input === "string" || (Array.isArray(input) && typeof input[0] === "number");
  const list: readonly unknown[] | null = isOne ? [input] : Array.isArray(input) ? input : null;
  if (list === null) {
    problems.push(problem("input", "type", "must be a text, an array of texts, or tokens"));
    return [];
  }
  if (list.length === 0 || list.length > MAX_INPUTS) {
    problems.push(problem("input", "items", `must hold 1 to ${MAX_INPUTS} texts`));
    return [];
  }
  const inputs: EmbeddingsInput[] = [];
  for (const [index, item] of list.entries()) {
    const read = readInput(item, isOne ? "input" : `input[${index}]`);
    if ("kind" in read) inputs.push(read);
    else if (problems.push(read) >= MAX_PROBLEMS) break;
  }
  if (new Set(inputs.map(({ kind }) => kind)).size > 1) {
    problems.push(problem("input", "type", "must be all texts or all tokens"));
  }
  return inputs;
}

function readInput(item: unknown, field: string): EmbeddingsInput | FieldProblem {
  if (typeof item === "string") {
    return item === ""
      ? problem(field, "required", "must not be empty")
      : { kind: "text", bytes: originalLength(item) };
  }
  if (!Array.isArray(item)) return problem(field, "type", "must be a text or an array of tokens");
  if (item.length === 0) return problem(field, "required", "must not be empty");
  return item.every(isToken)
    ? { kind: "tokens", tokens: item.length }
    : problem(field, "type", `must hold only tokens, whole numbers from 0 to ${MAX_TOKEN}`);
}

function isToken(value: unknown): boolean {
  return typeof value === "number" && Number.isInteger(value) && value >= 0 && value <= MAX_TOKEN;
}

/** Refuses an input that is longer than the model reads. Errors: ValidationError. */
export function requireInputsFit({ inputs }: EmbeddingsRequest, { id, contextLength }: CatalogModel): void {
  const tooLong = inputs.findIndex((input) =>
    input.kind === "tokens" ? input.tokens > contextLength : input.bytes > MAX_BYTES_PER_TOKEN * contextLength,
  );
  if (tooLong < 0) return;
  const field = inputs.length === 1 ? "input" : `input[${tooLong}]`;
  const message = `is longer than ${id} takes, whose maximum context length is ${contextLength} tokens`;
  throw refuse(problem(field, "context_length", message), "context_length_exceeded");
}
