// The message of an answer as REST JSON: proto JSON under the contract's names, with amounts as numbers digit for digit,
// RPC-only fields left out, and in area B the envelope around it.

import { getOption, toJson, type DescField, type DescMessage, type JsonValue, type Message } from "@bufbuild/protobuf";
import { rest } from "#gen/saldo/options/v1/options_pb.ts";
import { invariant } from "../kernel/invariant.ts";
import type { HttpRoute } from "./http-rules.ts";

const PLAIN_DECIMAL = /^-?(0|[1-9]\d*)(\.\d+)?$/;

declare global {
  interface JSON {
    /** Text that JSON.stringify writes as it is. */
    rawJSON(text: string): object;
  }
}

/** The body of a successful answer, as text. */
export function writeAnswer(route: HttpRoute, message: Message): string {
  const { output } = route.method;
  const json = toJson(output, message, { alwaysEmitImplicit: true });
  const shaped = shapeMessage(output, json);
  const data = route.responseField === null ? shaped : (shaped[route.responseField.jsonName] ?? null);
  if (!route.inEnvelope) return JSON.stringify(data);
  const meta: Record<string, unknown> = { message: "OK", statusCode: 200 };
  for (const field of output.fields) {
    if (getOption(field, rest).inMeta) meta[field.jsonName] = shaped[field.jsonName];
  }
  return JSON.stringify({ data, meta });
}

function shapeMessage(desc: DescMessage, json: JsonValue | undefined): Record<string, unknown> {
  const shaped: Record<string, unknown> = {};
  if (typeof json !== "object" || json === null || Array.isArray(json)) return shaped;
  for (const field of desc.fields) {
    const value = json[field.jsonName];
    if (value === undefined || getOption(field, rest).rpcOnly) continue;
    shaped[field.jsonName] = Array.isArray(value) ? value.map((item) => shape(field, item)) : shape(field, value);
  }
  return shaped;
}

function shape(field: DescField, value: JsonValue): unknown {
  if (
    field.fieldKind !== "map" &&
    field.message !== undefined &&
    !field.message.typeName.startsWith("google.protobuf.")
  ) {
    return shapeMessage(field.message, value);
  }
  if (!getOption(field, rest).decimalNumber) return value;
  invariant(typeof value === "string" && PLAIN_DECIMAL.test(value), "an amount leaves the service as plain digits");
  return JSON.rawJSON(value);
}
