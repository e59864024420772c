// The rules written in the contracts, as a ValidationError that names every field at fault.

import type { DescMessage, MessageShape } from "@bufbuild/protobuf";
import {
  isReflectList,
  isReflectMap,
  isReflectMessage,
  reflect,
  type ReflectMessage,
} from "@bufbuild/protobuf/reflect";
import { createValidator, type Violation } from "@bufbuild/protovalidate";
import { ValidationError, type FieldProblem } from "../kernel/errors.ts";

const validator = createValidator();

/** Stops unless the message keeps the rules of its contract. Errors: ValidationError. */
export function validateMessage<Desc extends DescMessage>(desc: Desc, message: MessageShape<Desc>): void {
  const result = validator.validate(desc, message);
  if (result.kind === "invalid")
    throw new ValidationError(result.violations.map((violation) => toProblem(violation, reflect(desc, message))));
  // A rule that does not compile is a bug in the contract.
  if (result.kind === "error") throw result.error;
}

function toProblem(violation: Violation, message: ReflectMessage): FieldProblem {
  return { field: pathOf(violation), rule: violation.ruleId, message: messageOf(violation, message) };
}

function messageOf(violation: Violation, message: ReflectMessage): string {
  // A text that is missing is empty; that it does not match either would explain nothing.
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

/** The path in the names a JSON client knows, such as `messages[0].role`. */
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
