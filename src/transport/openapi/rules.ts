// The validation rules of a field, as JSON Schema keywords.

import { getOption, hasOption, type DescField } from "@bufbuild/protobuf";
import { field as fieldRules, type FieldRules } from "@bufbuild/protovalidate/gen/buf/validate/validate_pb.js";

/** The meaning of the rules of a field: keywords for its schema, and whether the field must be sent. */
export type Rules = { readonly schema: Record<string, unknown>; readonly required: boolean };

/** Reads the rules of a field. A rule that refuses the empty value makes a field without presence a required one. */
export function rulesOf(field: DescField): Rules {
  if (!hasOption(field, fieldRules)) return { schema: {}, required: false };
  const rules = getOption(field, fieldRules);
  const schema = keywordsOf(rules);
  return { schema, required: rules.required || (!field.proto.proto3Optional && refusesEmpty(schema)) };
}

function keywordsOf({ type }: FieldRules): Record<string, unknown> {
  if (type.case === "string") {
    const { minLen, maxLen, pattern, in: words, wellKnown } = type.value;
    return {
      ...(minLen > 0n ? { minLength: Number(minLen) } : {}),
      ...(maxLen > 0n ? { maxLength: Number(maxLen) } : {}),
      ...(pattern === "" ? {} : { pattern }),
      ...(words.length === 0 ? {} : { enum: words }),
      ...(wellKnown.case === "uuid" ? { format: "uuid" } : {}),
    };
  }
  if (type.case === "repeated") {
    const { minItems, maxItems } = type.value;
    return {
      ...(minItems > 0n ? { minItems: Number(minItems) } : {}),
      ...(maxItems > 0n ? { maxItems: Number(maxItems) } : {}),
    };
  }
  return type.case === "double" || type.case === "int32" || type.case === "uint32" ? boundsOf(type.value) : {};
}

type Bound<Case extends string> = { case: Case; value: number } | { case: undefined; value?: undefined };

function boundsOf(rules: { lessThan: Bound<"lt" | "lte">; greaterThan: Bound<"gt" | "gte"> }): Record<string, unknown> {
  const { lessThan, greaterThan } = rules;
  return {
    ...(greaterThan.case === "gte" ? { minimum: greaterThan.value } : {}),
    ...(greaterThan.case === "gt" ? { exclusiveMinimum: greaterThan.value } : {}),
    ...(lessThan.case === "lte" ? { maximum: lessThan.value } : {}),
    ...(lessThan.case === "lt" ? { exclusiveMaximum: lessThan.value } : {}),
  };
}

function refusesEmpty(schema: Record<string, unknown>): boolean {
  const { minLength, minItems, pattern, enum: words, format } = schema;
  return (
    minLength !== undefined ||
    minItems !== undefined ||
    format === "uuid" ||
    (typeof pattern === "string" && !new RegExp(pattern).test("")) ||
    (Array.isArray(words) && !words.includes(""))
  );
}
