// What a Messages request asks for that its model does not take, in the client's own bytes. It is left out or refused as it is where the
// request is translated, so a model takes the same from every client.

import type { Accepts } from "../../../catalog/catalog-model.ts";
import { isObject, type JsonObject } from "../../request/field-rules.ts";
import { type ObjectScan, scanObject } from "../../request/json-scan.ts";
import { type Edit, insertMembers, removeMembers } from "../../request/splice.ts";
import type { Conversation } from "../conversation.ts";
import { NOT_KNOWN } from "../known-names.ts";
import type { NativeFacts, NativeLimits } from "../native-request.ts";
import { unknownMembers } from "./known-members.ts";
import { refuseForModel, refusePrefill } from "./refuse-for-model.ts";
import { type ThoughtMessage, type WrittenThinking, writtenThinking } from "./written-thinking.ts";

/** A checked body, and what was read of it. */
export type AskedMessages = { readonly json: JsonObject; readonly conversation: Conversation };

/** The body's bytes, and where its members lie. */
type ScannedBody = { readonly body: Buffer; readonly members: ObjectScan["members"] };

/** The budget of thoughts that a request names; 0 where it names none. */
export function budgetOf({ thinking }: JsonObject): number {
  const budget = isObject(thinking) && thinking["type"] === "enabled" ? thinking["budget_tokens"] : 0;
  return typeof budget === "number" ? budget : 0;
}

/** Errors: ValidationError where the answer would be another one, or the provider refuses the request. */
export function checkForModel({ json }: AskedMessages, { accepts, outputBound }: NativeLimits): void {
  const [unknown] = unknownMembers(json);
  if (unknown !== undefined) throw refuseForModel(unknown, "unknown", NOT_KNOWN);
  if (accepts !== null && !accepts.prefill && isBegun(json)) throw refusePrefill();
  const takesBudget = accepts === null || accepts.thinking === "manual";
  if (!takesBudget || budgetOf(json) < outputBound) return;
  const message = `must be below the bound of the output, which is ${outputBound} here`;
  throw refuseForModel("thinking.budget_tokens", "max", message);
}

const SAMPLING = ["temperature", "top_p", "top_k"] as const;

/** What makes the bytes a request that the model takes. */
export function editsForModel(
  { body, members }: ScannedBody,
  asked: AskedMessages,
  { accepts, outputBound, knowsSafeguards }: NativeLimits & Pick<NativeFacts, "knowsSafeguards">,
): Edit[] {
  const out = new Set<string>(accepts?.sampling === false ? SAMPLING : []);
  // It has paths of the user's machine, and few servers know it.
  if (!knowsSafeguards) out.add("safeguards");
  const edits: Edit[] = [];
  const thinking = members.get("thinking");
  if (accepts !== null && thinking !== undefined && !takesThinking(accepts, asked.json)) {
    const written = writtenFor(asked, accepts, outputBound);
    if (written === null) out.add("thinking");
    else edits.push({ start: thinking.start, end: thinking.end, text: JSON.stringify(written.thinking) });
    edits.push(...effortEdits({ body, members }, asked.json, written));
  }
  const isAnyOut = [...out].some((name) => members.has(name));
  return isAnyOut ? [...edits, ...removeMembers(members, out)] : edits;
}

function takesThinking(accepts: Accepts, { thinking }: JsonObject): boolean {
  const type = isObject(thinking) ? thinking["type"] : "disabled";
  if (type === "disabled") return true;
  return accepts.thinking === (type === "enabled" ? "manual" : "adaptive");
}

function writtenFor({ json, conversation }: AskedMessages, accepts: Accepts, outputBound: number) {
  return writtenThinking(conversation, {
    accepts,
    outputBound,
    messages: messagesOf(json).map(({ content }): ThoughtMessage => {
      return { content: Array.isArray(content) ? content.filter(isObject) : [] };
    }),
    isBegun: isBegun(json),
  });
}

/** An effort beside adaptive thinking, in place of a budget; none elsewhere, where it has become one. */
function effortEdits(
  { body, members }: ScannedBody,
  { output_config: config }: JsonObject,
  written: WrittenThinking | null,
): Edit[] {
  const effort = written?.effort;
  const span = members.get("output_config");
  if (!isObject(config) || span === undefined) {
    const member = `"output_config":${JSON.stringify({ effort })}`;
    return effort === undefined || span !== undefined ? [] : [insertMembers(body.indexOf("{"), member, false)];
  }
  const inner = scanObject(body.subarray(span.start, span.end)).members;
  const moved = (edits: readonly Edit[]): Edit[] =>
    edits.map(({ start, end, text }) => ({ start: span.start + start, end: span.start + end, text }));
  if (effort === undefined) return inner.has("effort") ? moved(removeMembers(inner, new Set(["effort"]))) : [];
  return inner.has("effort") ? [] : moved([insertMembers(0, `"effort":"${effort}"`, inner.size === 0)]);
}

function isBegun(json: JsonObject): boolean {
  return messagesOf(json).at(-1)?.["role"] === "assistant";
}

function messagesOf({ messages }: JsonObject): readonly JsonObject[] {
  return Array.isArray(messages) ? messages.filter(isObject) : [];
}
