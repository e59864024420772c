// What the events of a stream mean, as far as billing and clients need to know.

import { withSigns } from "../../metering/priced-otherwise.ts";
import { isObject, type JsonObject } from "../../request/field-rules.ts";
import { parseObject } from "../../request/parse-object.ts";
import type { EventMeaning } from "../answer-format.ts";

/** The data of the event behind the last chunk. */
const END_MARK = "[DONE]";

/** Reads the data of one event. `name`: the event's own, if it has one. */
export function meaningOf(data: string | null, name: string | null = null): EventMeaning {
  const text = data === null ? "" : data.trim();
  if (text === "") return { kind: "opaque" };
  if (text === END_MARK) return { kind: "done" };
  const chunk = parseObject(text);
  const usage = chunk === null ? null : usageOf(chunk);
  if (name === "error") return { kind: "error", error: chunk === null ? null : (errorIn(chunk) ?? chunk), usage };
  if (chunk === null) return { kind: "malformed" };
  const error = errorIn(chunk);
  if (error !== null) return { kind: "error", error, usage };
  if (!Array.isArray(chunk["choices"]) && usage === null) return { kind: "foreign" };
  const choices = Array.isArray(chunk["choices"]) ? chunk["choices"].filter(isObject) : [];
  const ended = choices.filter(
    (choice) => typeof choice["finish_reason"] === "string" && choice["finish_reason"] !== "",
  );
  return {
    kind: "part",
    object: chunk,
    usage: withSigns(usage, chunk),
    isUsageOnly: choices.length === 0 && usage !== null,
    hasOutput: choices.some(hasOutput),
    choices: choices.map(indexOf),
    finished: ended.map(indexOf),
    hasFailed: ended.some((choice) => choice["finish_reason"] === "error"),
  };
}

function indexOf(choice: JsonObject): number {
  return typeof choice["index"] === "number" ? choice["index"] : 0;
}

/** Whether a choice of a chunk or of an answer has anything of the model in it. */
export function hasOutput({ delta, message, text }: JsonObject): boolean {
  if (typeof text === "string" && text !== "") return true;
  return [delta, message].some(
    (part) => isObject(part) && Object.entries(part).some(([name, value]) => name !== "role" && !isBlank(value)),
  );
}

function isBlank(value: unknown): boolean {
  if (value === undefined || value === null || value === "" || value === false) return true;
  return Array.isArray(value) && value.length === 0;
}

/**
 * The error that an object announces in place of an answer: under `error`, as an object or as a text, or flat, as its own
 * members. Null: it announces none.
 */
export function errorIn(object: JsonObject): JsonObject | null {
  const { error } = object;
  if (isObject(error)) return error;
  // Members beside the text of an error, such as a code, belong to it.
  if (!isBlank(error)) return { ...object, error: null, message: error };
  if (object["object"] === "error" || object["type"] === "error") return object;
  if (Array.isArray(object["choices"])) return null;
  const isFlat = FLAT_MESSAGES.some((name) => !isBlank(object[name]));
  return isFlat ? object : null;
}

/** The members with a flat error, in an object without choices: FastAPI has `detail`. */
const FLAT_MESSAGES = ["message", "error_message", "error_msg", "detail"] as const;

/** The usage of a chunk or an answer, in whichever member an upstream puts it. */
export function usageOf(chunk: JsonObject): JsonObject | null {
  if (isObject(chunk["usage"])) return chunk["usage"];
  const groq = chunk["x_groq"];
  if (isObject(groq) && isObject(groq["usage"])) return groq["usage"];
  return usageOfChoice(chunk);
}

/** Moonshot streams it in the choice that ends. */
function usageOfChoice({ choices }: JsonObject): JsonObject | null {
  if (!Array.isArray(choices)) return null;
  const ended: unknown = choices.find((choice) => isObject(choice) && isObject(choice["usage"]));
  return isObject(ended) && isObject(ended["usage"]) ? ended["usage"] : null;
}
