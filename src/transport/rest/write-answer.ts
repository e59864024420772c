// The message of an answer as REST JSON: proto JSON under the contract's names, with amounts as numbers digit for digit,
// RPC-only fields left out, and in area B the envelope around it.

import { toJson, type DescMessage, type JsonValue, type Message } from "@bufbuild/protobuf";
import { invariant } from "../../kernel/invariant.ts";
import type { HttpRoute } from "./http-rules.ts";
import { isPlainMessage, restFieldsOf, type RestFieldPlan } from "./rest-fields.ts";

const PLAIN_DECIMAL = /^-?(0|[1-9]\d*)(\.\d+)?$/;

declare global {
  interface JSON {
    /** Text that JSON.stringify writes unchanged. */
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
  for (const [name, { inMeta }] of restFieldsOf(output)) if (inMeta) meta[name] = shaped[name];
  return JSON.stringify({ data, meta });
}

function shapeMessage(desc: DescMessage, json: JsonValue | undefined): Record<string, unknown> {
  const shaped: Record<string, unknown> = {};
  if (typeof json !== "object" || json === null || Array.isArray(json)) return shaped;
  for (const [name, plan] of restFieldsOf(desc)) {
    const value = json[name];
    if (value === undefined || (plan.isLeftOutEmpty && Array.isArray(value) && value.length === 0)) continue;
    shaped[name] = Array.isArray(value) ? value.map((item) => shape(plan, item)) : shape(plan, value);
  }
  return shaped;
}

function shape({ field, isDecimal }: RestFieldPlan, value: JsonValue): unknown {
  if (field.fieldKind !== "map" && field.message !== undefined && isPlainMessage(field.message)) {
    return shapeMessage(field.message, value);
  }
  if (!isDecimal) return value;
  invariant(typeof value === "string" && PLAIN_DECIMAL.test(value), "an amount leaves the service as plain digits");
  return JSON.rawJSON(value);
}
