// A REST request as the message of its method: body, query string and path in, one typed message out. What is wrong is
// told per field, in the names the client used.

import { create, fromJson, getOption, ScalarType, type DescField, type DescMessage } from "@bufbuild/protobuf";
import type { JsonObject, JsonValue, Message } from "@bufbuild/protobuf";
import { rest } from "#gen/saldo/options/v1/options_pb.ts";
import { ValidationError, type FieldProblem } from "../kernel/errors.ts";
import { isJsonObject, JsonNumber, type JsonBody } from "./json-text.ts";

const MAX_QUERY_PAIRS = 1000;

/** The message of a JSON body. Unknown fields are passed over. Errors: ValidationError. */
export function readBody(desc: DescMessage, body: JsonBody): JsonObject {
  const problems: FieldProblem[] = [];
  const json = isJsonObject(body) ? readObject(desc, body, "", problems) : null;
  if (json === null)
    throw new ValidationError([{ field: "", rule: "type", message: "The body must be a JSON object" }]);
  if (problems.length > 0) throw new ValidationError(problems);
  return json;
}

/** The fields named in a query string; a repeated field may come several times. Unknown names are passed over. */
export function readQuery(desc: DescMessage, query: string): JsonObject {
  const json: Record<string, JsonValue> = {};
  let count = 0;
  for (const [name, value] of new URLSearchParams(query)) {
    if (++count > MAX_QUERY_PAIRS) break;
    const field = restFields(desc).get(name);
    if (field === undefined) continue;
    if (field.fieldKind === "list") json[name] = [...((json[name] as JsonValue[] | undefined) ?? []), value];
    else json[name] = value;
  }
  return json;
}

/** Builds the message from what was read. Errors: ValidationError for a value its field cannot hold. */
export function toMessage(desc: DescMessage, json: JsonObject): Message {
  if (Object.keys(json).length === 0) return create(desc);
  try {
    return fromJson(desc, json, { ignoreUnknownFields: true });
  } catch (cause) {
    throw new ValidationError([problemOf(desc, json)], { cause });
  }
}

/** Finds the field at fault by trying each alone: proto JSON names only the first error, in words of its own. */
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

const known = new WeakMap<DescMessage, ReadonlyMap<string, DescField>>();

/** The fields of a message that REST callers can name. */
function restFields(desc: DescMessage): ReadonlyMap<string, DescField> {
  const cached = known.get(desc);
  if (cached !== undefined) return cached;
  const fields = desc.fields.filter((field) => !getOption(field, rest).rpcOnly);
  const map = new Map(fields.map((field) => [field.jsonName, field]));
  known.set(desc, map);
  return map;
}

function readObject(
  desc: DescMessage,
  object: { readonly [key: string]: JsonBody },
  path: string,
  problems: FieldProblem[],
): JsonObject {
  const json: Record<string, JsonValue> = {};
  for (const [name, field] of restFields(desc)) {
    // An inherited name such as `constructor` is no field of the body.
    const value = Object.hasOwn(object, name) ? object[name] : undefined;
    if (value === undefined || value === null) continue;
    const read = readField(field, value, path === "" ? name : `${path}.${name}`, problems);
    if (read !== undefined) json[name] = read;
  }
  return json;
}

function readField(field: DescField, value: JsonBody, path: string, problems: FieldProblem[]): JsonValue | undefined {
  const wrong = (message: string) => void problems.push({ field: path, rule: "type", message });
  if (field.fieldKind === "list") {
    if (!Array.isArray(value)) return wrong("must be an array");
    const items = value.map((item: JsonBody, i) => readValue(field, item, `${path}[${i}]`, problems));
    return items.filter((item) => item !== undefined);
  }
  if (field.fieldKind === "map") return isJsonObject(value) ? plain(value) : wrong("must be an object");
  return readValue(field, value, path, problems);
}

function readValue(field: DescField, value: JsonBody, path: string, problems: FieldProblem[]): JsonValue | undefined {
  const wrong = (message: string) => void problems.push({ field: path, rule: "type", message });
  if (field.message !== undefined) {
    // Well-known types such as Timestamp and Struct have a JSON form of their own.
    if (field.message.typeName.startsWith("google.protobuf.")) return plain(value);
    return isJsonObject(value) ? readObject(field.message, value, path, problems) : wrong("must be an object");
  }
  if (getOption(field, rest).decimalNumber) {
    return value instanceof JsonNumber ? value.source : wrong("must be a number");
  }
  const { scalar } = field;
  if (scalar === undefined) return typeof value === "string" ? value : wrong("must be one of the documented words");
  if (scalar === ScalarType.STRING || scalar === ScalarType.BYTES) {
    return typeof value === "string" ? value : wrong("must be a string");
  }
  if (scalar === ScalarType.BOOL) return typeof value === "boolean" ? value : wrong("must be true or false");
  if (!(value instanceof JsonNumber)) return wrong("must be a number");
  // Whole numbers go on as text, so that 64 bits arrive as they were written.
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
