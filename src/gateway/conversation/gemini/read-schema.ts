// Schemas of Gemini's own kind as JSON schemas. It has OpenAPI's subset with the names of types in capitals, and its clients also
// write those where a JSON schema belongs.

import { isObject, type JsonObject } from "../../request/field-rules.ts";

const TYPES: ReadonlySet<string> = new Set(["STRING", "NUMBER", "INTEGER", "BOOLEAN", "ARRAY", "OBJECT", "NULL"]);
/** Members with one schema, with a list of them, and with schemas by name. */
const ONE: ReadonlySet<string> = new Set(["items", "additionalProperties", "not"]);
const MANY: ReadonlySet<string> = new Set(["anyOf", "oneOf", "allOf", "prefixItems"]);
const NAMED: ReadonlySet<string> = new Set(["properties", "patternProperties", "$defs", "defs", "definitions"]);
/** Google's JSON writes 64-bit numbers as texts. */
const NUMBERS: ReadonlySet<string> = new Set(
  "minItems maxItems minLength maxLength minProperties maxProperties".split(" "),
);
/** The member is Gemini's alone, and other upstreams refuse what they do not know. */
const LEFT_OUT: ReadonlySet<string> = new Set(["propertyOrdering", "property_ordering", "nullable"]);

/** The schema in the words of JSON Schema. */
export function plainSchema(schema: JsonObject): JsonObject {
  const plain: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(schema)) {
    if (!LEFT_OUT.has(name)) plain[name === "any_of" ? "anyOf" : name] = plainMember(name, value);
  }
  return schema["nullable"] === true ? withNull(plain) : plain;
}

function plainMember(name: string, value: unknown): unknown {
  if (name === "type") return plainType(value);
  if (ONE.has(name) && isObject(value)) return plainSchema(value);
  if ((MANY.has(name) || name === "any_of" || name === "items") && Array.isArray(value)) return value.map(plainItem);
  if (NAMED.has(name) && isObject(value)) {
    return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, plainItem(each)]));
  }
  return NUMBERS.has(name) && typeof value === "string" && /^\d+$/.test(value) ? Number(value) : value;
}

function plainItem(value: unknown): unknown {
  return isObject(value) ? plainSchema(value) : value;
}

function plainType(type: unknown): unknown {
  if (Array.isArray(type)) return type.map(plainType);
  return typeof type === "string" && TYPES.has(type) ? type.toLowerCase() : type;
}

function withNull(schema: JsonObject): JsonObject {
  const { type, anyOf } = schema;
  if (typeof type === "string" && type !== "null") return { ...schema, type: [type, "null"] };
  return Array.isArray(anyOf) ? { ...schema, anyOf: [...(anyOf as unknown[]), { type: "null" }] } : schema;
}
