// Validates messages by the rules of the contracts. The ValidationError names every wrong field.

import { type DescField, type DescMessage, isMessage, type Message, type MessageShape } from "@bufbuild/protobuf";
import {
  isReflectList,
  isReflectMap,
  isReflectMessage,
  reflect,
  type ReflectMessage,
} from "@bufbuild/protobuf/reflect";
import { createValidator, type Violation } from "@bufbuild/protovalidate";
import { ValidationError, type FieldProblem } from "../../kernel/errors.ts";

const validator = createValidator();

/** Throws unless the message keeps the rules of its contract. Errors: ValidationError. */
export function validateMessage<Desc extends DescMessage>(desc: Desc, message: MessageShape<Desc>): void {
  const result = validator.validate(desc, message);
  const problems = [...problemsOfText(desc, message)];
  if (result.kind === "invalid")
    problems.unshift(...result.violations.map((violation) => toProblem(violation, reflect(desc, message))));
  if (problems.length > 0) throw new ValidationError(problems);
  // A rule that does not compile is a bug in the contract.
  if (result.kind === "error") throw result.error;
}

/** No table can hold this character, so no text that is stored or compared may have it. */
const NUL = "\0";
/** Chats and other texts are passed to a model unchanged, whatever files they quote; none of them is stored. */
const WITH_ANY_TEXT = "saldo.gateway.v1.";

function* problemsOfText(desc: DescMessage, message: Message, path = ""): Generator<FieldProblem> {
  if (desc.typeName.startsWith(WITH_ANY_TEXT) || desc.typeName.startsWith("google.")) return;
  for (const field of desc.fields) {
    const at = path === "" ? field.jsonName : `${path}.${field.jsonName}`;
    for (const [place, value] of placesOf(field, message, at)) {
      if (typeof value === "string") {
        if (value.includes(NUL)) yield { field: place, rule: "string.nul", message: "must not hold U+0000" };
      } else if (field.message !== undefined && isMessage(value)) {
        yield* problemsOfText(field.message, value, place);
      }
    }
  }
}

/** The values of a field, each with its path: one value, or those of a list or a map. */
function placesOf(field: DescField, message: Message, at: string): [path: string, value: unknown][] {
  const values = message as unknown as Readonly<Record<string, unknown>>;
  if (field.oneof !== undefined) {
    const chosen = values[field.oneof.localName] as { case: string | undefined; value?: unknown };
    return chosen.case === field.localName ? [[at, chosen.value]] : [];
  }
  const value = values[field.localName];
  if (field.fieldKind === "list") return (value as unknown[]).map((item, i) => [`${at}[${i}]`, item]);
  if (field.fieldKind !== "map") return [[at, value]];
  return Object.entries(value as object).flatMap(([key, item]) => [
    [at, key],
    [`${at}[${JSON.stringify(key)}]`, item],
  ]);
}

function toProblem(violation: Violation, message: ReflectMessage): FieldProblem {
  return { field: pathOf(violation), rule: violation.ruleId, message: messageOf(violation, message) };
}

function messageOf(violation: Violation, message: ReflectMessage): string {
  // A missing text is empty; a second problem, that it does not match, would explain nothing.
  if (violation.ruleId === "string.pattern" && valueAt(message, violation) === "") return "is required";
  return (violation.message === "" ? "is not valid" : violation.message).replace(/^value /, "").replace(/\.$/, "");
}

function valueAt(message: ReflectMessage, violation: Violation): unknown {
  let value: unknown = message;
  for (const part of violation.field) {
    if (part.kind === "field" && isReflectMessage(value)) value = value.get(part);
    else if (part.kind === "list_sub" && isReflectList(value)) value = value.get(part.index);
    else if (part.kind === "map_sub" && isReflectMap(value)) value = value.get(part.key);
    else return undefined;
  }
  return value;
}

/** The path in the JSON names of the fields, such as `messages[0].role`. */
function pathOf(violation: Violation): string {
  let path = "";
  for (const part of violation.field) {
    switch (part.kind) {
      case "field":
        path += (path === "" ? "" : ".") + part.jsonName;
        break;
      case "list_sub":
        path += `[${part.index}]`;
        break;
      case "map_sub":
        path += `[${JSON.stringify(part.key)}]`;
        break;
      case "oneof":
      case "extension":
        path += (path === "" ? "" : ".") + part.name;
        break;
    }
  }
  return path;
}
