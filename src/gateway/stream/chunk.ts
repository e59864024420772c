// What the events of a stream mean, as far as billing and clients need to know.

import { parseForeignJson } from "../../kernel/foreign-json.ts";
import { reportsTokens } from "../metering/read-usage.ts";
import { isObject, type JsonObject } from "../request/field-rules.ts";
import { isEndMark } from "./openai-events.ts";

/** What one event means for the stream it is in. */
export type ChunkMeaning =
  /** A comment, or an event without data: it passes. */
  | { readonly kind: "opaque" }
  /** An object that is neither a chunk nor an error: no client knows it, so it is left out. */
  | { readonly kind: "foreign" }
  /** Data that is no JSON object, such as half of one. */
  | { readonly kind: "malformed" }
  | { readonly kind: "done" }
  | { readonly kind: "error"; readonly error: JsonObject | null; readonly usage: JsonObject | null }
  | {
      readonly kind: "chunk";
      readonly chunk: JsonObject;
      /** The usage object, null where there is none. */
      readonly usage: JsonObject | null;
      /** Whether it carries usage and nothing else. */
      readonly isUsageOnly: boolean;
      /** Whether it carries a part of the answer: text, a call of a tool, sound. A role alone is none. */
      readonly hasOutput: boolean;
      /** The choices in it, by index. */
      readonly choices: readonly number[];
      /** The choices that end here, by index. */
      readonly finished: readonly number[];
      readonly finishReasons: readonly string[];
    };

/** Reads the data of one event. `name`: the event's own, if it has one. */
export function meaningOf(data: string | null, name: string | null = null): ChunkMeaning {
  const text = data === null ? "" : data.trim();
  if (text === "") return { kind: "opaque" };
  if (isEndMark(text)) return { kind: "done" };
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
    kind: "chunk",
    chunk,
    usage,
    isUsageOnly: choices.length === 0 && usage !== null,
    hasOutput: choices.some(hasOutput),
    choices: choices.map(indexOf),
    finished: ended.map(indexOf),
    finishReasons: ended.map((choice) => String(choice["finish_reason"])),
  };
}

/** Whether an event has output, usage, or the end of an answer. */
export function isPartOfAnswer(meaning: ChunkMeaning): boolean {
  if (meaning.kind !== "chunk") return false;
  return meaning.hasOutput || meaning.finished.length > 0 || reportsTokens(meaning.usage);
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

/** Parses an object, null if it is none or has too much structure. */
export function parseObject(text: string): JsonObject | null {
  const parsed = parseForeignJson(text);
  return isObject(parsed) ? parsed : null;
}
