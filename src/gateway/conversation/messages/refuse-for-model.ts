import { ValidationError } from "../../../kernel/errors.ts";
import { problem } from "../../request/field-rules.ts";

/** The refusal of a turn that the model is to go on with, where it goes on with none. */
export function refusePrefill(): ValidationError {
  return refuseForModel(
    "messages",
    "prefill",
    "must not end with a turn of the assistant: this model does not go on with it",
  );
}

/** A refusal of what a model of Anthropic's would refuse itself. The field is named as in most protocols of clients. */
export function refuseForModel(field: string, rule: string, message: string): ValidationError {
  return new ValidationError([problem(field, rule, message)]);
}
