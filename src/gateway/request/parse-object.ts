import { parseForeignJson } from "../../kernel/foreign-json.ts";
import { isObject, type JsonObject } from "./field-rules.ts";

/** Parses an object, null if it is none or has too much structure. */
export function parseObject(text: string): JsonObject | null {
  const parsed = parseForeignJson(text);
  return isObject(parsed) ? parsed : null;
}
