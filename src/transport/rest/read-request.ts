// A REST request as the message of its method: body, query string and path in, one typed message out. Errors are reported per
// field, under the names that the client used.

import { create, fromJson, ScalarType, type DescMessage } from "@bufbuild/protobuf";
import type { JsonObject, JsonValue, Message } from "@bufbuild/protobuf";
import { ValidationError, type FieldProblem } from "../../kernel/errors.ts";
import { isJsonObject, JsonNumber, type JsonBody } from "./json-text.ts";
import { isPlainMessage, restFieldsOf, type RestFieldPlan } from "./rest-fields.ts";

const MAX_QUERY_PAIRS = 1000;

/** The message of a JSON body. Unknown fields are ignored. Errors: ValidationError. */
export function readBody(desc: DescMessage, body: JsonBody): JsonObject {
  const problems: FieldProblem[] = [];
  const json = isJsonObject(body) ? readObject(desc, body, "", problems) : null;
  if (json === null)
    throw new ValidationError([{ field: "", rule: "type", message: "The body must be a JSON object" }]);
  if (problems.length > 0) throw new ValidationError(problems);
  return json;
}

/**
 * The fields of a query string; a repeated field may be there several times. Unknown names and names without a value are
 * ignored.
 */
export function readQuery(desc: DescMessage, query: string): JsonObject {
  const json: Record<string, JsonValue> = {};
  let count = 0;
  for (const [name, value] of new URLSearchParams(query)) {
    if (++count > MAX_QUERY_PAIRS) break;
    const plan = restFieldsOf(desc).get(name);
    // Clients write `page=` for a field without a value.
    if (plan === undefined || value === "") continue;
    if (plan.field.fieldKind === "list") json[name] = [...((json[name] as JsonValue[] | undefined) ?? []), value];
    else json[name] = value;
  }
  return json;
}

/** Builds the message from the fields. Errors: ValidationError for a value that its field cannot hold. */
export function toMessage(desc: DescMessage, json: JsonObject): Message {
  if (Object.keys(json).length === 0) return create(desc);
  try {
    return fromJson(desc, json, { ignoreUnknownFields: true });
  } catch (cause) {
    throw new ValidationError([problemOf(desc, json)], { cause });
  }
}

/** Finds the wrong fields by trying each alone: proto JSON names only the first error, in its own words. */
function problemOf(desc: DescMessage, json: JsonObject): FieldProblem {
  for (const [name, value] of Object.entries(json)) {
    try {
      fromJson(desc, { [name]: value }, { ignoreUnknownFields: true });
    } catch {
      return { field: name, rule: "type", message: "has a value that the field cannot hold" };
    }
  }
  return { field: "", rule: "type", message: "The request cannot be read" };
}

function readObject(
  desc: DescMessage,
  object: { readonly [key: string]: JsonBody },
  path: string,
  problems: FieldProblem[],
): JsonObject {
  const json: Record<string, JsonValue> = {};
  for (const [name, plan] of restFieldsOf(desc)) {
    // An inherited name such as `constructor` is no field of the body.
    const value = Object.hasOwn(object, name) ? object[name] : undefined;
    if (value === undefined || value === null) continue;
    const read = readField(plan, value, path === "" ? name : `${path}.${name}`, problems);
    if (read !== undefined) json[name] = read;
  }
  return json;
}

function readField(
  plan: RestFieldPlan,
  value: JsonBody,
  path: string,
  problems: FieldProblem[],
): JsonValue | undefined {
  const wrong = (message: string) => void problems.push({ field: path, rule: "type", message });
  const { field } = plan;
  if (field.fieldKind === "list") {
    if (!Array.isArray(value)) return wrong("must be an array");
    const items = value.map((item: JsonBody, i) => readValue(plan, item, `${path}[${i}]`, problems));
    return items.filter((item) => item !== undefined);
  }
  if (field.fieldKind === "map") return isJsonObject(value) ? plain(value) : wrong("must be an object");
  return readValue(plan, value, path, problems);
}

function readValue(
  plan: RestFieldPlan,
  value: JsonBody,
  path: string,
  problems: FieldProblem[],
): JsonValue | undefined {
  const wrong = (message: string) => void problems.push({ field: path, rule: "type", message });
  const { field, isDecimal } = plan;
  if (field.message !== undefined) {
    if (!isPlainMessage(field.message)) return plain(value);
    return isJsonObject(value) ? readObject(field.message, value, path, problems) : wrong("must be an object");
  }
  if (isDecimal) {
    return value instanceof JsonNumber ? value.source : wrong("must be a number");
  }
  const { scalar } = field;
  if (scalar === undefined) return typeof value === "string" ? value : wrong("must be one of the documented words");
  if (scalar === ScalarType.STRING || scalar === ScalarType.BYTES) {
    return typeof value === "string" ? value : wrong("must be a string");
  }
  if (scalar === ScalarType.BOOL) return typeof value === "boolean" ? value : wrong("must be true or false");
  if (!(value instanceof JsonNumber)) return wrong("must be a number");
  // Whole numbers stay text, so that 64 bits are kept exactly.
  return scalar === ScalarType.DOUBLE || scalar === ScalarType.FLOAT ? Number(value.source) : value.source;
}

/** A value for a field of any JSON, with ordinary numbers. */
function plain(value: JsonBody): JsonValue {
  if (value instanceof JsonNumber) return Number(value.source);
  if (Array.isArray(value)) return value.map(plain);
  if (!isJsonObject(value)) return value as JsonValue;
  // `__proto__` would set the prototype of the object it is copied to.
  return Object.fromEntries(
    Object.entries(value)
      .filter(([key]) => key !== "__proto__")
      .map(([key, item]) => [key, plain(item)]),
  );
}
