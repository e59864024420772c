// Reads the structure of a body that a client sent, and refuses what two parsers could read differently.

import { isUtf8 } from "node:buffer";
import { type FieldProblem, ValidationError, type ValidationReason } from "../../kernel/errors.ts";
import { MAX_JSON_DEPTH, MAX_JSON_TOKENS, tooComplex } from "../../kernel/json-bounds.ts";
import { isObject, type JsonObject, problem } from "./field-rules.ts";
import { JsonScanError, type ObjectScan, scanObject } from "./json-scan.ts";
import { countMembers, repeatedName } from "./repeated-names.ts";
import { skeletonOf } from "./skeleton.ts";

/** Finds the members of a body. `mostTokens`: of brackets, commas and colons. Errors: ValidationError. */
export function scanBody(body: Buffer, mostTokens = MAX_JSON_TOKENS): ObjectScan {
  if (!isUtf8(body)) throw refuse(problem("", "utf8", "The body must be UTF-8"));
  try {
    const scan = scanObject(body, mostTokens);
    refuseDangerousKeys(scan);
    return scan;
  } catch (error) {
    if (!(error instanceof JsonScanError)) throw error;
    throw refuse(error.reason === "too_complex" ? tooComplex(mostTokens) : SCAN_PROBLEMS[error.reason]);
  }
}

const SCAN_PROBLEMS: Readonly<Record<Exclude<JsonScanError["reason"], "too_complex">, FieldProblem>> = {
  not_an_object: problem("", "object", "The body must be a JSON object"),
  too_deep: problem("", "depth", `The body must not be nested deeper than ${MAX_JSON_DEPTH}`),
  truncated: problem("", "json", "The body must be valid JSON"),
};

/** Two parsers may choose differently between repeated keys. Then another request is billed than the one answered. */
function refuseDangerousKeys({ repeated: [first], hasProtoKey }: ObjectScan): void {
  if (first !== undefined) throw refuse(repeated(first));
  if (hasProtoKey) throw refuse(problem("__proto__", "forbidden", "is not a name a member may have"));
}

function repeated(name: string): FieldProblem {
  return problem(name.slice(0, 100), "unique", "must be sent only once");
}

/** The structure of a body; its long strings are shortened. Errors: ValidationError. */
export function parseBody(body: Buffer, scan: ObjectScan): JsonObject {
  const skeleton = skeletonOf(body, scan.longStrings);
  let parsed: unknown;
  try {
    parsed = JSON.parse(skeleton);
  } catch (cause) {
    throw new ValidationError([problem("", "json", "The body must be valid JSON")], { cause });
  }
  if (!isObject(parsed)) throw refuse(problem("", "object", "The body must be a JSON object"));
  if (countMembers(parsed) !== scan.memberCount) throw refuse(repeated(repeatedName(skeleton) ?? ""));
  return parsed;
}

/** The error of one problem. */
export function refuse(found: FieldProblem, reason?: ValidationReason): ValidationError {
  return new ValidationError([found], reason === undefined ? {} : { reason });
}
