import { ValidationError } from "../../../kernel/errors.ts";
import { problem } from "../../request/field-rules.ts";

/** A refusal of what a model of Google's has no form for. The field is named as in most protocols of clients. */
export function refuseForGemini(field: string, rule: string, message: string): ValidationError {
  return new ValidationError([problem(field, rule, message)]);
}
