// Names of members that are checked or priced. Upstreams written in Go ignore the case of names, and of two names that are the
// same to them they read the last one. So a name that differs from a known one by case alone would avoid every check here.

import type { FieldProblem } from "../../kernel/errors.ts";
import { isObject, type JsonObject, problem } from "./field-rules.ts";

/** Members by which a request asks an upstream to write to its prompt cache; they may lie in messages, parts and tools. */
export const CACHE_MARKS: ReadonlySet<string> = new Set(["cache_control", "prompt_cache_breakpoint"]);

export const MESSAGE_NAMES = withMarks("role content name tool_calls tool_call_id function_call refusal audio");
export const PART_NAMES = withMarks("type text refusal image_url input_audio video_url");
/** Of the objects that hold a picture, a sound or a video. */
export const MEDIA_NAMES: ReadonlySet<string> = new Set(["url", "data", "detail", "format"]);
const TOOL_NAMES = withMarks("type function custom");
const FUNCTION_NAMES = withMarks("name description parameters strict");
export const STREAM_OPTION_NAMES: ReadonlySet<string> = new Set(["include_usage"]);

/** The problem of a name that differs from a known one by case alone, or null. `where` is the path of its object. */
export function otherSpelling(name: string, known: { has(name: string): boolean }, where = ""): FieldProblem | null {
  if (known.has(name)) return null;
  const folded = fold(name);
  if (folded === name || !known.has(folded)) return null;
  return problem(
    where === "" ? name : `${where}.${name}`,
    "spelling",
    `must be written ${folded}, in small ASCII letters`,
  );
}

/** The first such name among the members of an object. */
export function otherSpellingIn(object: JsonObject, known: ReadonlySet<string>, where: string): FieldProblem | null {
  for (const name of Object.keys(object)) {
    const found = otherSpelling(name, known, where);
    if (found !== null) return found;
  }
  return null;
}

/** The first such name in a tool or in its definition. */
export function otherSpellingInTool(tool: JsonObject, where: string): FieldProblem | null {
  const definition = tool["function"];
  return (
    otherSpellingIn(tool, TOOL_NAMES, where) ??
    (isObject(definition) ? otherSpellingIn(definition, FUNCTION_NAMES, `${where}.function`) : null)
  );
}

function withMarks(names: string): ReadonlySet<string> {
  return new Set([...names.split(" "), ...CACHE_MARKS]);
}

/** Small letters for capitals and for the two characters that fold to ASCII letters: the long s and the Kelvin sign. */
function fold(name: string): string {
  return name.toLowerCase().replaceAll("\u017F", "s");
}
