// How finely Google reads pictures: a resolution of the request, and one of each part. It decides how many tokens a picture is.

import { isObject, type JsonObject } from "../../request/field-rules.ts";
import type { Members } from "./members.ts";

/** The most tokens of a picture without a resolution, and at the highest: older models cut it into tiles at `HIGH`. */
const MOST_TOKENS = 2_240;
/** The most tokens of a picture, or of a page, by the end of the resolution's name. */
const TOKENS: ReadonlyMap<unknown, number> = new Map([
  ["MEDIA_RESOLUTION_UNSPECIFIED", MOST_TOKENS],
  ["MEDIA_RESOLUTION_LOW", 280],
  ["MEDIA_RESOLUTION_MEDIUM", 560],
  ["MEDIA_RESOLUTION_HIGH", MOST_TOKENS],
  ["MEDIA_RESOLUTION_ULTRA_HIGH", MOST_TOKENS],
]);

/** Refuses a resolution that is not known here: its tokens are not known either. `level`: it is an object with that member. */
export function checkResolution(members: Members, level: boolean): void {
  const own = level ? members.object("mediaResolution") : members;
  const name = level ? "level" : "mediaResolution";
  const value = own?.value(name) ?? null;
  if (value !== null && !TOKENS.has(value)) own?.refuse(name, "in", `must be one of ${[...TOKENS.keys()].join(", ")}`);
}

/** The most tokens of a picture of the request: those of the finest resolution that it names. The body was checked before. */
export function pictureTokensOf(json: JsonObject): number {
  const config = member(json, "generationConfig", "generation_config");
  const ofAll = isObject(config) ? (member(config, "mediaResolution", "media_resolution") ?? null) : null;
  let most = TOKENS.get(ofAll) ?? MOST_TOKENS;
  for (const part of objectsOf(json["contents"]).flatMap(partsOf)) {
    const resolution = member(part, "mediaResolution", "media_resolution");
    if (isObject(resolution)) most = Math.max(most, TOKENS.get(resolution["level"]) ?? MOST_TOKENS);
  }
  return most;
}

/** The parts of a content, and those within the results of its tools. */
function partsOf(content: JsonObject): readonly JsonObject[] {
  const parts = objectsOf(content["parts"]);
  const results = parts.map((part) => member(part, "functionResponse", "function_response")).filter(isObject);
  return [...parts, ...results.flatMap((result) => objectsOf(result["parts"]))];
}

function member(object: JsonObject, name: string, other: string): unknown {
  return object[name] ?? object[other];
}

/** The objects of a list, or the one that stands for it. */
function objectsOf(list: unknown): readonly JsonObject[] {
  return (Array.isArray(list) ? list : [list]).filter(isObject);
}
