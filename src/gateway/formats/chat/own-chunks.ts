// The chunks that the gateway writes itself, as JSON texts: the end of choices that go no further, and the billed usage.

import type { BilledUsage } from "../../metering/bill.ts";
import type { JsonObject } from "../../request/field-rules.ts";
import type { ShownNames } from "../shown-format.ts";
import { billedChunk, usageJson } from "./billed-chat.ts";

/** The chunks that end an answer as a cap on its output does, one for each choice that was not finished. */
export function lengthChunks(names: ShownNames, lastChunk: JsonObject, unfinished: readonly number[]): string[] {
  return unfinished.map((index) =>
    ownChunk(names, lastChunk, [{ index, delta: {}, logprobs: null, finish_reason: "length" }], "null"),
  );
}

/** The chunk with the billed usage: the upstream's own, where it sent one. */
export function billedUsageChunk(
  names: ShownNames,
  { lastChunk, usageChunk }: { readonly lastChunk: JsonObject; readonly usageChunk: string | null },
  billed: BilledUsage,
): string {
  if (usageChunk !== null) return billedChunk(usageChunk, billed);
  return ownChunk(names, lastChunk, [], usageJson(billed));
}

function ownChunk(
  { id, model }: ShownNames,
  { created }: JsonObject,
  choices: readonly unknown[],
  usage: string,
): string {
  const chunk = {
    id,
    object: "chat.completion.chunk",
    created: typeof created === "number" ? created : 0,
    model,
    choices,
  };
  return `${JSON.stringify(chunk).slice(0, -1)},"usage":${usage}}`;
}
