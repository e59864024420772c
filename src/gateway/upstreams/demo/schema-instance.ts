// A small instance of a JSON schema, as a model writes that was asked for one: the same for the same schema, and bounded, because the
// schema is a client's.

import { isObject, type JsonObject } from "../../request/field-rules.ts";

/** Deeper values are null: a schema that needs itself has no finite instance. */
const MAX_DEPTH = 32;
const MAX_VALUES = 2_000;
const MAX_ITEMS = 100;
const MAX_TEXT_LENGTH = 1_000;
const MAX_REFERENCES = 32;

/** Texts of formats that a validator checks. */
const FORMATS: Readonly<Record<string, string>> = {
  "date-time": "2026-01-01T00:00:00Z",
  date: "2026-01-01",
  time: "00:00:00Z",
  duration: "P1D",
  email: "demo@example.com",
  hostname: "example.com",
  ipv4: "192.0.2.1",
  ipv6: "2001:db8::1",
  uri: "https://example.com/",
  uuid: "00000000-0000-4000-8000-000000000000",
};

/** The instance. Patterns, and what a schema forbids, are not read. */
export function instanceOf(schema: JsonObject): unknown {
  return new Instance(schema).of(schema, 0);
}

class Instance {
  readonly #document: JsonObject;
  #values = 0;

  constructor(document: JsonObject) {
    this.#document = document;
  }

  of(found: unknown, depth: number): unknown {
    this.#values += 1;
    if (depth > MAX_DEPTH || this.#values > MAX_VALUES) return null;
    const schema = this.#resolved(found);
    if ("const" in schema) return schema["const"];
    if (Array.isArray(schema["enum"])) return schema["enum"][0] ?? null;
    switch (typeOf(schema)) {
      case "object":
        return this.#object(schema, depth);
      case "array":
        return this.#array(schema, depth);
      case "integer":
      case "number":
        return numberOf(schema);
      case "boolean":
        return true;
      case "null":
        return null;
      default:
        return textOf(schema);
    }
  }

  /** A schema with what it refers to, all of its parts, and the first of its alternatives. */
  #resolved(found: unknown): JsonObject {
    let schema = isObject(found) ? found : {};
    for (let step = 0; step < MAX_REFERENCES; step += 1) {
      const { $ref: reference, allOf, anyOf, oneOf, ...own } = schema;
      const parts = [
        ...(typeof reference === "string" ? [this.#at(reference)] : []),
        ...(Array.isArray(allOf) ? allOf : []),
        ...[anyOf, oneOf].flatMap((list): unknown[] => (Array.isArray(list) ? list.slice(0, 1) : [])),
      ].filter(isObject);
      if (parts.length === 0) return own;
      schema = parts.reduce(merged, own);
    }
    return {};
  }

  /** What a reference within the document is for, such as `#/$defs/step`. */
  #at(reference: string): unknown {
    const [base, ...path] = reference.split("/");
    if (base !== "#") return null;
    let value: unknown = this.#document;
    for (const part of path) {
      const name = part.replaceAll("~1", "/").replaceAll("~0", "~");
      value = isObject(value) && Object.hasOwn(value, name) ? value[name] : null;
    }
    return value;
  }

  #object({ properties, required, additionalProperties }: JsonObject, depth: number): JsonObject {
    const names = Array.isArray(required) ? required.filter((name) => typeof name === "string") : [];
    const members = names.map((name): [string, unknown] => {
      const isKnown = isObject(properties) && Object.hasOwn(properties, name);
      return [name, this.of(isKnown ? properties[name] : additionalProperties, depth + 1)];
    });
    return Object.fromEntries(members);
  }

  #array({ items, prefixItems, minItems }: JsonObject, depth: number): unknown[] {
    const first: unknown[] = Array.isArray(prefixItems) ? prefixItems : [];
    const length = typeof minItems === "number" ? Math.min(minItems, MAX_ITEMS) : 0;
    return Array.from({ length }, (_, index) => this.of(first[index] ?? items, depth + 1));
  }
}

/** One schema that asks for what both do. */
function merged(schema: JsonObject, part: JsonObject): JsonObject {
  const { properties, required } = schema;
  const both = [...new Set([...listOf(required), ...listOf(part["required"])])];
  const known = {
    ...(isObject(part["properties"]) ? part["properties"] : {}),
    ...(isObject(properties) ? properties : {}),
  };
  return {
    ...part,
    ...schema,
    ...(both.length === 0 ? {} : { required: both }),
    ...(Object.keys(known).length === 0 ? {} : { properties: known }),
  };
}

function listOf(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}

function typeOf({ type, properties, required, items, prefixItems, minimum }: JsonObject): unknown {
  const named: unknown = Array.isArray(type) ? type[0] : type;
  if (named !== undefined) return named;
  if (properties !== undefined || required !== undefined) return "object";
  if (items !== undefined || prefixItems !== undefined) return "array";
  return minimum === undefined ? "string" : "number";
}

/** A number within the bounds: 1 where it is. */
function numberOf(schema: JsonObject): number {
  const { type, multipleOf, minimum, exclusiveMinimum, maximum, exclusiveMaximum } = schema;
  const step = positive(multipleOf) ?? (type === "integer" ? 1 : null);
  const least = Math.max(boundOf(minimum, -Infinity), boundOf(exclusiveMinimum, -Infinity));
  const most = Math.min(boundOf(maximum, Infinity), boundOf(exclusiveMaximum, Infinity));
  const isWithin = (value: number): boolean =>
    value >= least && value <= most && value !== exclusiveMinimum && value !== exclusiveMaximum;
  const wanted = step === null || step <= 1 ? 1 : step;
  if (isWithin(wanted)) return wanted;
  if (step !== null) {
    const next = least === -Infinity ? Math.floor(most / step) * step : Math.ceil(least / step) * step;
    return isWithin(next) ? next : next + (least === -Infinity ? -step : step);
  }
  if (least === -Infinity) return most - 1;
  return most === Infinity ? least + 1 : (least + most) / 2;
}

function boundOf(value: unknown, otherwise: number): number {
  return typeof value === "number" ? value : otherwise;
}

function positive(value: unknown): number | null {
  return typeof value === "number" && value > 0 ? value : null;
}

const WORD = "demo";

function textOf({ format, minLength, maxLength }: JsonObject): string {
  if (typeof format === "string" && Object.hasOwn(FORMATS, format)) return FORMATS[format] ?? WORD;
  const least = typeof minLength === "number" ? Math.min(minLength, MAX_TEXT_LENGTH) : 0;
  const text = WORD.padEnd(least, ` ${WORD}`);
  return typeof maxLength === "number" ? text.slice(0, Math.max(0, maxLength)) : text;
}
