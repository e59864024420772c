// A Messages request for an upstream of the same protocol: the client's own bytes, with what has to differ there. Nothing else is
// touched, since providers bind thoughts and cached prompts to the exact text before them.

import { CacheMarks } from "../../request/cache-marks.ts";
import { isObject, type JsonObject } from "../../request/field-rules.ts";
import { scanObject } from "../../request/json-scan.ts";
import { type Edit, insertMembers, splice } from "../../request/splice.ts";
import type { Conversation } from "../conversation.ts";
import type { NativeFacts, NativeRequest } from "../native-request.ts";
import { type AskedMessages, budgetOf, checkForModel, editsForModel } from "./edits-for-model.ts";
import { hasForeignThoughts, hasOwnThoughts, withoutForeignThoughts } from "./foreign-thoughts.ts";

/** The body for the upstream. The client's has been read by then, so it has a model and a bound. */
function nativeBody(body: Buffer, facts: NativeFacts, request: ReadMessages): Buffer {
  const { model, outputBound, userTag } = facts;
  const { members } = scanObject(body);
  const edits: Edit[] = [];
  const set = (name: string, text: string): void => {
    const member = members.get(name);
    if (member !== undefined) edits.push({ start: member.start, end: member.end, text });
  };
  set("model", JSON.stringify(model));
  set("max_tokens", String(outputBound));
  const added: string[] = [];
  const setOrAdd = (name: string, text: string): void => {
    if (members.has(name)) set(name, text);
    else added.push(`"${name}":${text}`);
  };
  // A provider's project may have a dearer tier for `auto`, and for requests that name none.
  (facts.takesServiceTier ? setOrAdd : set)("service_tier", STANDARD_TIER);
  setOrAdd("metadata", JSON.stringify({ user_id: userTag }));
  if (added.length > 0) edits.push(insertMembers(body.indexOf("{"), added.join(","), false));
  const messages = members.get("messages");
  if (request.hasForeign && messages !== undefined) edits.push(withoutForeignThoughts(body, messages));
  edits.push(...editsForModel({ body, members }, request, facts));
  return splice(body, edits);
}

const STANDARD_TIER = '"standard_only"';

/** A checked request. */
type ReadMessages = AskedMessages & { readonly hasForeign: boolean };

/** A request for Anthropic itself. `json`: the checked body. */
export function nativeMessages(json: JsonObject, body: Buffer, conversation: Conversation): NativeRequest {
  const marks = new CacheMarks();
  marks.look(json, "");
  for (const [name, member] of Object.entries(json)) marks.lookWithin(member, name);
  const { thinking, messages } = json;
  const request = { json, conversation, hasForeign: hasForeignThoughts(messages) };
  return {
    thinks: isObject(thinking) && thinking["type"] !== "disabled",
    thoughtBudget: budgetOf(json),
    unseenTokens: bytesOfExamples(json),
    check: (limits) => checkForModel(request, limits),
    cacheWrites: marks.writes,
    cacheField: marks.field,
    isSealed: hasOwnThoughts(messages),
    write: (facts) => ({ body: nativeBody(body, facts, request), headers: nativeHeaders(facts) }),
  };
}

/** Examples of a tool's input are a part of the prompt, and have no place in the chat form. */
function bytesOfExamples({ tools }: JsonObject): number {
  let bytes = 0;
  for (const tool of Array.isArray(tools) ? tools.filter(isObject) : []) {
    if (tool["input_examples"] !== undefined) bytes += Buffer.byteLength(JSON.stringify(tool["input_examples"]));
  }
  return bytes;
}

const VERSION = "anthropic-version";
const BETA = "anthropic-beta";

/** The headers of a client that belong to its request. */
export const MESSAGES_HEADERS: readonly string[] = [VERSION, BETA];

/** Betas that open what is refused here: files, servers of others, code that a provider runs, other prices. */
const REFUSED_BETA =
  /files|mcp|code-execution|computer-use|fast-mode|fallback|compact|container|skills|web-|batch|advisor|managed-agents|oauth|user-profiles|billing|credit/;
/** The beta for longer prompts than a model's usual ones, for which some models charge more. */
const LONG_BETA = /^context-1m/;
const USUAL_CONTEXT = 200_000;
const MAX_HEADER_LENGTH = 2_048;

/** What a client's headers are for its upstream. */
function nativeHeaders({ headers, contextLength }: NativeFacts): readonly string[] {
  const version = headers[VERSION] ?? "";
  const betas = (headers[BETA] ?? "")
    .slice(0, MAX_HEADER_LENGTH)
    .split(",")
    .map((beta) => beta.trim());
  const isKept = (beta: string): boolean =>
    /^[\w.-]+$/.test(beta) && !REFUSED_BETA.test(beta) && (contextLength > USUAL_CONTEXT || !LONG_BETA.test(beta));
  const kept = betas.filter(isKept);
  return [
    ...(/^\d{4}-\d{2}-\d{2}$/.test(version) ? [VERSION, version] : []),
    ...(kept.length === 0 ? [] : [BETA, kept.join(",")]),
  ];
}
