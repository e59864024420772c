// What the model wrote in a piece of a Gemini answer.

import { isObject, type JsonObject } from "../../request/field-rules.ts";
import { candidatesOf, partsOf } from "../../conversation/gemini/read-gemini-answer.ts";

/** The text in an answer or a piece of one: thoughts and calls are some too. */
export function textOfPiece(piece: JsonObject): string {
  return outputPartsOf(piece).map(textOfPart).join("");
}

/** All parts of an answer or a piece of one. */
export function outputPartsOf(piece: JsonObject): readonly JsonObject[] {
  return candidatesOf(piece).flatMap(partsOf);
}

/** The text in a part: that of a call is its name and its input. */
export function textOfPart({ text, functionCall: call }: JsonObject): string {
  const written = typeof text === "string" ? text : "";
  return isObject(call) ? `${written}${textOfCall(call)}` : written;
}

/** Whether a part has a picture or sound. */
export function isMedia({ inlineData, fileData }: JsonObject): boolean {
  return isObject(inlineData) || isObject(fileData);
}

function textOfCall({ name, args }: JsonObject): string {
  return `${typeof name === "string" ? name : ""}${isObject(args) ? JSON.stringify(args) : ""}`;
}
