// Our own facts in an answer: its id, the catalog's model, and in the usage what it cost.

import { inputTokensOf, outputTokensOf } from "../../../billing/cost.ts";
import type { BilledUsage } from "../../metering/bill.ts";
import { costIdr } from "../../metering/cost-idr.ts";
import { showsGeminiCounts } from "../../metering/gemini-usage.ts";
import { isObject, type JsonObject } from "../../request/field-rules.ts";
import { type Edit, insertMembers, removeMember, splice } from "../../request/splice.ts";
import type { ObjectScan } from "../../request/json-scan.ts";
import type { FoundAnswer } from "../answer-format.ts";
import type { ShownNames } from "../shown-format.ts";

/** The names under Google's own. */
export function namesOf({ id, model }: ShownNames): { readonly modelVersion: string; readonly responseId: string } {
  return { modelVersion: model, responseId: id };
}

/** The billed usage in Google's names. The upstream's own object stays where it agrees with the bill. */
export function billedUsage(reported: unknown, billed: BilledUsage): JsonObject {
  const { counts, reasoningTokens } = billed;
  const cost = { costIdr: costIdr(billed) };
  const isBilled = billed.basis === "exact" && billed.isAsReported;
  if (isBilled && isObject(reported) && showsGeminiCounts(reported, counts)) return { ...reported, ...cost };
  const [input, output] = [inputTokensOf(counts), outputTokensOf(counts)];
  return {
    promptTokenCount: input,
    candidatesTokenCount: output - reasoningTokens,
    totalTokenCount: input + output,
    cachedContentTokenCount: counts.inputTokensCached,
    thoughtsTokenCount: reasoningTokens,
    ...cost,
  };
}

/** A whole answer with our names and the billed usage. All other bytes stay. */
export function billedGemini({ json, members, usage }: FoundAnswer, names: ShownNames, billed: BilledUsage): Buffer {
  return splice(json, memberEdits(json, members, { ...namesOf(names), usageMetadata: billedUsage(usage, billed) }));
}

/** What sets members of an object, and takes one out. */
export function memberEdits(
  json: Buffer,
  members: ObjectScan["members"],
  values: JsonObject,
  { without }: { readonly without?: string } = {},
): Edit[] {
  const edits: Edit[] = [];
  const added: string[] = [];
  for (const [name, value] of Object.entries(values)) {
    const span = members.get(name);
    if (span === undefined) added.push(`${JSON.stringify(name)}:${JSON.stringify(value)}`);
    else edits.push({ ...span, text: JSON.stringify(value) });
  }
  const removed = without === undefined ? undefined : members.get(without);
  const isAlone = members.size === (removed === undefined ? 0 : 1);
  // An insertion comes before a removal that begins at the same place.
  if (added.length > 0) edits.unshift(insertMembers(json.indexOf("{"), added.join(","), isAlone));
  if (removed !== undefined) edits.push(removeMember(members, removed));
  return edits;
}
