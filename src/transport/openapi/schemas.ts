// Messages as JSON Schema. The schema of an answer has the fields that are always there, and that of a request those that must be
// sent. Of a message that an upstream writes, only the fields that this service sets are certain.

import { getOption, ScalarType, type DescField, type DescMessage } from "@bufbuild/protobuf";
import { rest } from "#gen/saldo/options/v1/options_pb.ts";
import { invariant } from "../../kernel/invariant.ts";
import { rulesOf } from "./rules.ts";
import { textOf } from "./text.ts";

/** A JSON Schema. */
export type Schema = Record<string, unknown>;

/** Where a schema is used. `relayed`: in an answer whose bytes come from an upstream. */
export type Direction = "request" | "response" | "relayed";

type Entry = { readonly desc: DescMessage; directions: Set<Direction>; open: boolean };

/** The fields of a relayed answer that this service writes or guarantees. All others may be absent or null. */
const CERTAIN: Readonly<Record<string, readonly string[]>> = {
  CreateChatCompletionResponse: ["id", "model", "choices", "usage"],
  StreamChatCompletionResponse: ["id", "model", "choices"],
  CreateResponseResponse: ["id", "object", "created_at", "status", "model", "output", "store"],
  StreamResponseResponse: ["type", "sequence_number"],
  ResponseUsage: ["input_tokens", "output_tokens", "total_tokens", "cost_idr"],
  CreateMessageResponse: ["id", "type", "role", "model", "content", "usage"],
  StreamMessageResponse: ["type"],
  MessageUsage: ["input_tokens", "output_tokens"],
  StreamGenerateContentResponse: ["candidates", "modelVersion", "responseId"],
  Usage: ["prompt_tokens", "completion_tokens", "total_tokens", "cost_idr"],
};

const wellKnown: Record<string, Schema> = {
  "google.protobuf.Timestamp": { type: "string", format: "date-time" },
  "google.protobuf.Duration": { type: "string" },
  "google.protobuf.Struct": { type: "object", additionalProperties: true },
  "google.protobuf.Value": {},
  "google.protobuf.ListValue": { type: "array" },
};

const UINT32 = { type: "integer", minimum: 0, maximum: 4_294_967_295 };
const INT32 = { type: "integer", minimum: -2_147_483_648, maximum: 2_147_483_647 };
// 64-bit numbers are strings in proto JSON: JavaScript could not hold them.
const INT64 = { type: "string", pattern: "^-?[0-9]+$" };

/** A text as tokens, and several of them. */
const TOKENS = { type: "array", items: UINT32, minItems: 1 };
const TOKEN_LISTS = { type: "array", items: TOKENS, minItems: 1, maxItems: 2_048 };

const scalars: Record<ScalarType, Schema> = {
  [ScalarType.STRING]: { type: "string" },
  [ScalarType.BYTES]: { type: "string", contentEncoding: "base64" },
  [ScalarType.BOOL]: { type: "boolean" },
  [ScalarType.DOUBLE]: { type: "number" },
  [ScalarType.FLOAT]: { type: "number" },
  [ScalarType.UINT32]: UINT32,
  [ScalarType.FIXED32]: UINT32,
  [ScalarType.INT32]: INT32,
  [ScalarType.SINT32]: INT32,
  [ScalarType.SFIXED32]: INT32,
  [ScalarType.INT64]: INT64,
  [ScalarType.UINT64]: INT64,
  [ScalarType.SINT64]: INT64,
  [ScalarType.FIXED64]: INT64,
  [ScalarType.SFIXED64]: INT64,
};

/** Collects the schemas of the messages that operations use. */
export class SchemaBook {
  readonly #entries = new Map<string, Entry>();

  /** A reference to a message that is sent. An open one may hold more fields than are named. */
  request(desc: DescMessage, { open }: { open: boolean }): Schema {
    return this.#refer(desc, "request", open);
  }

  /** A reference to a message that is answered. */
  response(desc: DescMessage, { open }: { open: boolean }): Schema {
    return this.#refer(desc, "response", open);
  }

  /** A reference to a message that an upstream wrote. It may hold more fields than are named. */
  relayed(desc: DescMessage): Schema {
    return this.#refer(desc, "relayed", true);
  }

  /** The schema of one field, without its comment. */
  field(field: DescField, direction: Direction, open = false): Schema {
    if (direction !== "relayed") return this.#plain(field, direction, open);
    const schema = this.#plain(field, direction, open);
    return isCertain(field) ? schema : orNull(schema);
  }

  #plain(field: DescField, direction: Direction, open: boolean): Schema {
    const options = getOption(field, rest);
    if (options.decimalNumber) return { type: "number" };
    // The rules are those of requests.
    const rules = direction === "relayed" ? {} : rulesOf(field).schema;
    if (options.orArrayOf !== "") {
      const part = field.parent.file.messages.find((message) => message.name === options.orArrayOf);
      invariant(part !== undefined, `${options.orArrayOf} is a message of ${field.parent.file.name}`);
      const parts = { type: "array", items: this.#refer(part, direction, open) };
      return { anyOf: [{ type: "string", ...rules }, parts, { type: "null" }] };
    }
    if (field.fieldKind === "list") {
      const list = { type: "array", items: this.#one(field, direction, open), ...rules };
      if (options.orTokens) return { anyOf: [{ type: "string", minLength: 1 }, list, TOKENS, TOKEN_LISTS] };
      return options.orBase64 ? { anyOf: [list, { type: "string", contentEncoding: "base64" }] } : list;
    }
    if (field.fieldKind === "map") return { type: "object", additionalProperties: this.#one(field, direction, open) };
    return { ...this.#one(field, direction, open), ...rules };
  }

  /** The schemas by name, once every operation was written. */
  schemas(): Record<string, Schema> {
    return Object.fromEntries([...this.#entries].map(([name, entry]) => [name, this.#write(entry)]));
  }

  #one(field: DescField, direction: Direction, open: boolean): Schema {
    if (field.message !== undefined) {
      return wellKnown[field.message.typeName] ?? this.#refer(field.message, direction, open);
    }
    if (field.enum !== undefined) return { type: "string", enum: field.enum.values.map((value) => value.name) };
    invariant(field.scalar !== undefined, "a field that is no message and no enum is a scalar");
    return scalars[field.scalar];
  }

  /** Adds the message and all messages in it. */
  #refer(desc: DescMessage, direction: Direction, open: boolean): Schema {
    const name = this.#nameOf(desc, direction);
    const entry = this.#entries.get(name) ?? { desc, directions: new Set<Direction>(), open: false };
    invariant(entry.desc.typeName === desc.typeName, `only one message in REST is called ${name}`);
    this.#entries.set(name, entry);
    const isNews = !entry.directions.has(direction) || (open && !entry.open);
    entry.directions.add(direction);
    entry.open ||= open;
    if (isNews) for (const field of restFields(desc)) this.field(field, direction, entry.open);
    return { $ref: `#/components/schemas/${name}` };
  }

  /** The request of an operation is written before its answer. */
  #nameOf({ name }: DescMessage, direction: Direction): string {
    const isSent = this.#entries.get(name)?.directions.has("request") === true;
    return direction === "relayed" && isSent ? `Answered${name}` : name;
  }

  #write({ desc, directions, open }: Entry): Schema {
    const direction = (["request", "relayed"] as const).find((each) => directions.has(each)) ?? "response";
    const fields = restFields(desc);
    const required = fields.filter((field) => isRequired(field, direction)).map((field) => field.jsonName);
    return {
      type: "object",
      description: textOf(desc).whole,
      ...(required.length === 0 ? {} : { required }),
      properties: Object.fromEntries(
        fields.map((field) => [field.jsonName, described(this.field(field, direction, open), textOf(field).whole)]),
      ),
      ...(open ? { additionalProperties: true } : {}),
    };
  }
}

function restFields(desc: DescMessage): DescField[] {
  return desc.fields.filter((field) => !getOption(field, rest).rpcOnly && !getOption(field, rest).inMeta);
}

/**
 * In an answer every field without presence is written, zero or not, unless its contract omits it when it is empty. In a request
 * the rules decide which fields are required.
 */
function isRequired(field: DescField, direction: Direction): boolean {
  if (direction === "relayed") return isCertain(field);
  const isWritten = direction === "response" && !hasPresence(field) && !getOption(field, rest).leftOutEmpty;
  return rulesOf(field).required || getOption(field, rest).orTokens || isWritten;
}

function isCertain(field: DescField): boolean {
  return CERTAIN[field.parent.name]?.includes(field.jsonName) ?? false;
}

function orNull(schema: Schema): Schema {
  if (typeof schema["type"] === "string") return { ...schema, type: [schema["type"], "null"] };
  return "$ref" in schema ? { anyOf: [schema, { type: "null" }] } : schema;
}

function hasPresence(field: DescField): boolean {
  return (
    field.proto.proto3Optional ||
    (field.message !== undefined && field.fieldKind === "message") ||
    field.oneof !== undefined
  );
}

function described(schema: Schema, description: string): Schema {
  return { ...schema, description };
}
