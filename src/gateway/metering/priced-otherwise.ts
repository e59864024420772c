// What an answer reports that is charged at other prices than those of its tokens: a tier, a speed, a place, runs of a provider's tools,
// or attempts beside the answer. Requests ask for none of them, so a report is the sign of a provider's own settings, or of a new member.

import { isObject, type JsonObject } from "../request/field-rules.ts";
import { parseObject } from "../request/parse-object.ts";

/** Tiers at the prices of the catalog. Groq and Vertex have names of their own for it. */
const STANDARD_TIER = /^(?:default|standard|standard_only|auto|on_demand|unspecified|service_tier_unspecified|)$/i;
const STANDARD_TRAFFIC = /^(?:on_demand|provisioned_throughput|traffic_type_unspecified|)$/i;
/** Older models name no place. */
const STANDARD_PLACE = /^(?:global|not_available|)$/i;
const STANDARD_SPEED = /^(?:standard|)$/i;

const isTextBeside =
  (standard: RegExp) =>
  (value: unknown): boolean =>
    typeof value === "string" && !standard.test(value);

/** Each member with the test of a value that the catalog has no price for. */
const SIGNS: readonly (readonly [string, (value: unknown) => boolean])[] = [
  ["service_tier", isTextBeside(STANDARD_TIER)],
  ["serviceTier", isTextBeside(STANDARD_TIER)],
  ["trafficType", isTextBeside(STANDARD_TRAFFIC)],
  ["speed", isTextBeside(STANDARD_SPEED)],
  ["inference_geo", isTextBeside(STANDARD_PLACE)],
  ["server_tool_use", (value) => hasCount(value, MAX_NESTING)],
  ["tool_usage", (value) => hasCount(value, MAX_NESTING)],
  ["iterations", hasOtherAttempts],
];

/** Members that answers have beside their usage. */
const BESIDE_USAGE = ["service_tier", "tool_usage"] as const;
const MAX_NESTING = 3;

/** Whether a usage object shows what has no price here. */
export function isPricedOtherwise(usage: JsonObject | null): boolean {
  return usage !== null && SIGNS.some(([name, isSign]) => isSign(usage[name]));
}

/** A usage object with what its answer shows of other prices. The same object where it shows nothing. */
export function withSigns(usage: JsonObject | null, answer: JsonObject): JsonObject | null {
  if (usage === null) return null;
  const found = BESIDE_USAGE.filter((name) => isPricedOtherwise({ [name]: answer[name] }));
  if (found.length === 0) return usage;
  return { ...usage, ...Object.fromEntries(found.map((name) => [name, answer[name]])) };
}

/** The same of an answer in one piece. `textOf`: the JSON of a member, null where it is absent. */
export function wholeWithSigns(usage: JsonObject | null, textOf: (name: string) => string | null): JsonObject | null {
  const texts = BESIDE_USAGE.map((name) => `"${name}":${textOf(name) ?? "null"}`);
  return withSigns(usage, parseObject(`{${texts.join(",")}}`) ?? {});
}

/** Any number above zero, however it is named. */
function hasCount(value: unknown, nesting: number): boolean {
  if (typeof value === "number") return value > 0;
  return nesting > 0 && isObject(value) && Object.values(value).some((member) => hasCount(member, nesting - 1));
}

/** The model's own messages are in the counts of the answer; what other models and steps took is in none. */
function hasOtherAttempts(value: unknown): boolean {
  return Array.isArray(value) && value.some((each) => isObject(each) && (each["type"] ?? "message") !== "message");
}
