// Reasoning in chat messages. Chat has no member for what a provider wants back with it, so `reasoning_details` carries that, which
// clients that know of reasoning return as they got it: each entry has the text that the provider showed, and ours has its origin.

import { isObject, type JsonObject } from "../../request/field-rules.ts";
import type { ReasoningPart } from "../conversation.ts";
import { opaqueText, readOpaqueText } from "../opaque-text.ts";
import type { Opaque } from "../conversation.ts";

const TEXT = "reasoning.text";
const ENCRYPTED = "reasoning.encrypted";

/** The entry for what a provider wants back. `text`: the reasoning that it belongs to, empty where none is shown. */
export function reasoningDetail(index: number, text: string, opaque: Opaque): object {
  const ours = opaqueText(opaque);
  return text === "" ? { type: ENCRYPTED, index, data: ours } : { type: TEXT, index, text, signature: ours };
}

/** The reasoning of a message of the model. What another service wants back is left out, and its text kept. */
export function readReasoning(message: JsonObject): ReasoningPart[] {
  const details = message["reasoning_details"];
  const parts = Array.isArray(details) ? details.filter(isObject).flatMap(partOfDetail) : [];
  if (parts.length > 0) return parts;
  const text = [message["reasoning_content"], message["reasoning"]].find((each) => typeof each === "string" && each);
  return typeof text === "string" ? [{ kind: "reasoning", text, opaque: null }] : [];
}

function partOfDetail({ text, summary, signature, data }: JsonObject): ReasoningPart[] {
  const shown = [text, summary].find((each) => typeof each === "string") ?? "";
  const hidden = [signature, data].find((each) => typeof each === "string");
  const opaque = typeof hidden === "string" ? readOpaqueText(hidden) : null;
  return shown === "" && opaque === null ? [] : [{ kind: "reasoning", text: shown, opaque }];
}
