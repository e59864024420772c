// Reads a body into a JSON object, with the guards that every body needs before its members are checked.

import { isUtf8 } from "node:buffer";
import { type FieldProblem, ValidationError } from "../../kernel/errors.ts";
import { MAX_JSON_DEPTH, MAX_JSON_TOKENS, TOO_COMPLEX } from "../../kernel/json-bounds.ts";
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

/** Finds the members of a body. Errors: ValidationError, as above, but for errors of syntax and repeated names further within. */
export function scanStrictly(body: Buffer): ObjectScan {
  if (!isUtf8(body)) throw refuse(problem("", "utf8", "The body must be UTF-8"));
  const scan = scanBody(body);
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

function scanBody(body: Buffer): ObjectScan {
  try {
    return scanObject(body, MAX_JSON_TOKENS);
  } catch (error) {
    throw error instanceof JsonScanError ? refuse(SCAN_PROBLEMS[error.reason]) : error;
  }
}

const SCAN_PROBLEMS: Readonly<Record<JsonScanError["reason"], FieldProblem>> = {
  not_an_object: problem("", "object", "The body must be a JSON object"),
  too_complex: TOO_COMPLEX,
  too_deep: problem("", "depth", `The body must not be nested deeper than ${MAX_JSON_DEPTH}`),
  truncated: problem("", "json", "The body must be valid JSON"),
};

function repeated(name: string): FieldProblem {
  return problem(name.slice(0, 100), "unique", "must be sent only once");
}

function refuse(found: FieldProblem): ValidationError {
  return new ValidationError([found]);
}
