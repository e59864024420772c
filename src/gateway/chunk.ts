// What the events of a stream say, as far as billing needs to know.

import { isObject, type JsonObject } from "./request/field-rules.ts";

/** What one event means for the stream it is in. */
export type ChunkMeaning =
  /** A comment, or something nobody here understands: it passes. */
  | { readonly kind: "opaque" }
  | { readonly kind: "done" }
  | { readonly kind: "error"; readonly error: unknown }
  | {
      readonly kind: "chunk";
      readonly chunk: JsonObject;
      /** The usage object, null where there is none. */
      readonly usage: JsonObject | null;
      /** Whether it carries usage and nothing else. */
      readonly isUsageOnly: boolean;
      /** The choices it speaks of, by index. */
      readonly choices: readonly number[];
      /** The choices that end here, by index. */
      readonly finished: readonly number[];
      readonly finishReasons: readonly string[];
    };

// Only these make an event worth parsing; null is what most chunks carry, and from some upstreams an empty finish_reason.
// Inside JSON strings the quotes are escaped, so text that speaks of usage does not match.
const WORTH_PARSING = /"(?:finish_reason|usage|error)"\s*:(?!\s*(?:null|""))|\[DONE\]/;

/** Whether complete events hold anything that matters to billing. Reads bytes as they are, without decoding them. */
export function isWorthParsing(events: Buffer): boolean {
  return WORTH_PARSING.test(events.toString("latin1"));
}

/** Reads the data of one event. */
export function meaningOf(data: string | null): ChunkMeaning {
  if (data === null || data.trim() === "") return { kind: "opaque" };
  if (data.trim() === "[DONE]") return { kind: "done" };
  const chunk = parseObject(data);
  if (chunk === null) return { kind: "opaque" };
  if (chunk["error"] !== undefined && chunk["error"] !== null) return { kind: "error", error: chunk["error"] };
  const choices = Array.isArray(chunk["choices"]) ? chunk["choices"].filter(isObject) : [];
  const ended = choices.filter(
    (choice) => typeof choice["finish_reason"] === "string" && choice["finish_reason"] !== "",
  );
  return {
    kind: "chunk",
    chunk,
    usage: usageOf(chunk),
    isUsageOnly: choices.length === 0 && usageOf(chunk) !== null,
    choices: choices.map(indexOf),
    finished: ended.map(indexOf),
    finishReasons: ended.map((choice) => String(choice["finish_reason"])),
  };
}

function indexOf(choice: JsonObject): number {
  return typeof choice["index"] === "number" ? choice["index"] : 0;
}

/** The usage of a chunk or an answer, wherever this upstream puts it. */
export function usageOf(chunk: JsonObject): JsonObject | null {
  if (isObject(chunk["usage"])) return chunk["usage"];
  const groq = chunk["x_groq"];
  return isObject(groq) && isObject(groq["usage"]) ? groq["usage"] : null;
}

/** Parses an object, null if it is none. */
export function parseObject(text: string): JsonObject | null {
  try {
    const parsed: unknown = JSON.parse(text);
    return isObject(parsed) ? parsed : null;
  } catch {
    return null; // Not JSON: the caller decides what that means.
  }
}
