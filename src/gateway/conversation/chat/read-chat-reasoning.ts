// Reasoning in chat messages. Chat has no member for what a provider wants back with it. So `reasoning_details` carries that, which
// clients that know of reasoning return as they got it. An entry is a text that no client shows: the provider's, and the reasoning
// that it belongs to, because not every client returns that.

import { parseForeignJson } from "../../../kernel/foreign-json.ts";
import { isObject, type JsonObject } from "../../request/field-rules.ts";
import type { Opaque, ReasoningPart } from "../conversation.ts";
import { opaqueText, readOpaqueText } from "../opaque-text.ts";

/** The entry for what a provider wants back. `text`: the reasoning that it belongs to, empty where none is shown. */
export function reasoningDetail(index: number, text: string, { origin, blob }: Opaque): object {
  const data = opaqueText({ origin, blob: JSON.stringify([blob, text]) });
  return { type: "reasoning.encrypted", index, data };
}

/** The reasoning of a message of the model. What another service wants back is left out, and its text kept. */
export function readReasoning(message: JsonObject): ReasoningPart[] {
  const details = message["reasoning_details"];
  const parts = Array.isArray(details) ? details.filter(isObject).flatMap(partOfDetail) : [];
  if (parts.length > 0) return parts;
  const text = [message["reasoning_content"], message["reasoning"]].find((each) => typeof each === "string" && each);
  return typeof text === "string" ? [{ kind: "reasoning", text, opaque: null }] : [];
}

function partOfDetail({ text, summary, data }: JsonObject): ReasoningPart[] {
  const own = typeof data === "string" ? readOpaqueText(data) : null;
  if (own !== null) return ownPart(own);
  const shown = [text, summary].find((each) => typeof each === "string") ?? "";
  return shown === "" ? [] : [{ kind: "reasoning", text: shown, opaque: null }];
}

function ownPart({ origin, blob: packed }: Opaque): ReasoningPart[] {
  const parsed = parseForeignJson(packed);
  const [blob, text] = Array.isArray(parsed) ? parsed : [];
  if (typeof blob !== "string" || typeof text !== "string") return [];
  return [{ kind: "reasoning", text, opaque: { origin, blob } }];
}
