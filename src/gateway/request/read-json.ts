// Reads a body into a JSON object, with the guards that every body needs before its members are checked.

import { isUtf8 } from "node:buffer";
import { type FieldProblem, ValidationError, type ValidationReason } from "../../kernel/errors.ts";
import { MAX_JSON_DEPTH, MAX_JSON_TOKENS, tooComplex } from "../../kernel/json-bounds.ts";
import { isObject, type JsonObject, problem } from "./field-rules.ts";
import { JsonScanError, type ObjectScan, scanObject } from "./json-scan.ts";
import { countMembers, repeatedName } from "./repeated-names.ts";

/**
 * Reads a whole body. Errors: ValidationError where it is not UTF-8, no JSON object, too deep, too complex, or has a name that is
 * repeated or not allowed.
 */
export function readStrictObject(body: Buffer): JsonObject {
  return parseStrictly(body.toString("utf8"), scanStrictly(body));
}

/**
 * Finds the members of a body. `mostTokens`: of brackets, commas and colons. Errors: ValidationError, as above, but for errors of
 * syntax and repeated names further within.
 */
export function scanStrictly(body: Buffer, mostTokens = MAX_JSON_TOKENS): ObjectScan {
  if (!isUtf8(body)) throw refuse(problem("", "utf8", "The body must be UTF-8"));
  const scan = scanBody(body, mostTokens);
  const [first] = scan.repeated;
  if (first !== undefined) throw refuse(repeated(first));
  if (scan.hasProtoKey) throw refuse(problem("__proto__", "forbidden", "is not a name a member may have"));
  return scan;
}

/**
 * Parses the text of a scanned body, or its skeleton. Two parsers may choose differently between repeated names: then another
 * request is billed than the one answered. Errors: ValidationError.
 */
export function parseStrictly(json: string, { memberCount }: ObjectScan): JsonObject {
  let parsed: unknown;
  try {
    parsed = JSON.parse(json);
  } catch (cause) {
    throw new ValidationError([problem("", "json", "The body must be valid JSON")], { cause });
  }
  if (!isObject(parsed)) throw refuse(problem("", "object", "The body must be a JSON object"));
  if (countMembers(parsed) !== memberCount) throw refuse(repeated(repeatedName(json) ?? ""));
  return parsed;
}

function scanBody(body: Buffer, mostTokens: number): ObjectScan {
  try {
    return scanObject(body, mostTokens);
  } catch (error) {
    if (!(error instanceof JsonScanError)) throw error;
    throw refuse(error.reason === "too_complex" ? tooComplex(mostTokens) : SCAN_PROBLEMS[error.reason]);
  }
}

/** Refuses what is as deep or as complex as no body may be that is scanned. Errors: ValidationError. */
export function requireJsonBounds(value: JsonObject, mostTokens = MAX_JSON_TOKENS): void {
  if (tokensWithin(value, 1) > mostTokens) throw refuse(tooComplex(mostTokens));
}

/** The brackets, commas and colons of a value as JSON. `depth`: how deep it lies. */
function tokensWithin(value: object, depth: number): number {
  if (depth > MAX_JSON_DEPTH) throw refuse(SCAN_PROBLEMS.too_deep);
  const items: readonly unknown[] = Array.isArray(value) ? value : Object.values(value);
  const separators = Array.isArray(value) ? items.length - 1 : 2 * items.length - 1;
  let tokens = 2 + Math.max(0, separators);
  for (const item of items) if (typeof item === "object" && item !== null) tokens += tokensWithin(item, depth + 1);
  return tokens;
}

const SCAN_PROBLEMS: Readonly<Record<Exclude<JsonScanError["reason"], "too_complex">, FieldProblem>> = {
  not_an_object: problem("", "object", "The body must be a JSON object"),
  too_deep: problem("", "depth", `The body must not be nested deeper than ${MAX_JSON_DEPTH}`),
  truncated: problem("", "json", "The body must be valid JSON"),
};

function repeated(name: string): FieldProblem {
  return problem(name.slice(0, 100), "unique", "must be sent only once");
}

/** The error of one problem. */
export function refuse(found: FieldProblem, reason?: ValidationReason): ValidationError {
  return new ValidationError([found], reason === undefined ? {} : { reason });
}
