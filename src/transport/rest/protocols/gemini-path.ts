// What a request of Gemini has in its address: the model, and the form of its stream.

import { ValidationError } from "../../../kernel/errors.ts";

const BEFORE_MODEL = "/models/";

/** The model's id; empty where it cannot be read, which is the id of no model. */
export function modelIn(url: string): string {
  const [path = ""] = url.split("?", 1);
  const named = path.slice(path.indexOf(BEFORE_MODEL) + BEFORE_MODEL.length, path.lastIndexOf(":"));
  try {
    return decodeURIComponent(named);
  } catch {
    return "";
  }
}

/** Without `alt=sse` Google streams one JSON array, which no client here has asked for. Errors: ValidationError. */
export function requireEvents(url: string): void {
  const [, query = ""] = url.split("?", 2);
  if (new URLSearchParams(query).get("alt") === "sse") return;
  const message = "must be sse: streams are server-sent events here, so add ?alt=sse to the address";
  throw new ValidationError([{ field: "alt", rule: "in", message }]);
}
