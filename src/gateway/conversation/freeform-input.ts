// The input of a freeform tool in protocols that know only JSON: an object with one text.

import { parseObject } from "../request/parse-object.ts";

/** The JSON schema of that object. */
export const FREEFORM_INPUT = {
  type: "object",
  properties: { input: { type: "string" } },
  required: ["input"],
  additionalProperties: false,
} as const;

/** The JSON form of a text. */
export function wrapInput(text: string): string {
  return JSON.stringify({ input: text });
}

/** The text of a JSON form. Models that have been taught the tool write its text without JSON: that is the text itself. */
export function unwrapInput(json: string): string {
  const input = parseObject(json)?.["input"];
  return typeof input === "string" ? input : json;
}
