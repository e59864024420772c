// The rules written in the contracts, as a ValidationError that names every field at fault.

import type { DescMessage, MessageShape } from "@bufbuild/protobuf";
import { createValidator, type Violation } from "@bufbuild/protovalidate";
import { ValidationError, type FieldProblem } from "../kernel/errors.ts";

const validator = createValidator();

/** Stops unless the message keeps the rules of its contract. Errors: ValidationError. */
export function validateMessage<Desc extends DescMessage>(desc: Desc, message: MessageShape<Desc>): void {
  const result = validator.validate(desc, message);
  if (result.kind === "invalid") throw new ValidationError(result.violations.map(toProblem));
  // A rule that does not compile is a bug in the contract.
  if (result.kind === "error") throw result.error;
}

function toProblem(violation: Violation): FieldProblem {
  return {
    field: pathOf(violation),
    rule: violation.ruleId,
    message: (violation.message === "" ? "is not valid" : violation.message).replace(/^value /, "").replace(/\.$/, ""),
  };
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
