// How the fields of a message differ over REST from plain proto JSON. Options are decoded from bytes at each read, so the result
// is kept.

import { getOption, type DescField, type DescMessage } from "@bufbuild/protobuf";
import { rest } from "#gen/saldo/options/v1/options_pb.ts";

/** A field over REST with the options of its contract. */
export type RestFieldPlan = {
  readonly field: DescField;
  /** The string is a JSON number, digit for digit. */
  readonly isDecimal: boolean;
  /** It is in `meta` of the answer. */
  readonly inMeta: boolean;
  /** A list without items is left out. */
  readonly isLeftOutEmpty: boolean;
};

const plans = new WeakMap<DescMessage, ReadonlyMap<string, RestFieldPlan>>();

/** The fields that REST callers can send and get, by their JSON names. */
export function restFieldsOf(desc: DescMessage): ReadonlyMap<string, RestFieldPlan> {
  const known = plans.get(desc);
  if (known !== undefined) return known;
  const plan = new Map<string, RestFieldPlan>();
  for (const field of desc.fields) {
    const { rpcOnly, decimalNumber, inMeta, leftOutEmpty } = getOption(field, rest);
    if (rpcOnly) continue;
    plan.set(field.jsonName, { field, isDecimal: decimalNumber, inMeta, isLeftOutEmpty: leftOutEmpty });
  }
  plans.set(desc, plan);
  return plan;
}

/** Whether a message has fields of its own over REST; well-known types have a JSON form of their own. */
export function isPlainMessage(desc: DescMessage): boolean {
  return !desc.typeName.startsWith("google.protobuf.");
}
