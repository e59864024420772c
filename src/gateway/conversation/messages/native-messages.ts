// A Messages request for an upstream of the same protocol: the client's own bytes, with what has to differ there. Nothing else is
// touched, since providers bind thoughts and cached prompts to the exact text before them.

import { CacheMarks } from "../../request/cache-marks.ts";
import { isObject, type JsonObject } from "../../request/field-rules.ts";
import { scanObject } from "../../request/json-scan.ts";
import { type Edit, insertMembers, splice } from "../../request/splice.ts";
import type { NativeRequest } from "../native-request.ts";
import { hasForeignThoughts, withoutForeignThoughts } from "./foreign-thoughts.ts";

/** What is written over the client's bytes. */
export type NativeMessagesFacts = {
  /** The model's name at the upstream. */
  readonly model: string;
  /** The most tokens of output: what is held for. */
  readonly outputBound: number;
  /** Stands for the customer in reports of abuse. */
  readonly userTag: string;
};

/** The body for the upstream. The client's has been read by then, so it has a model and a bound. */
export function nativeMessagesBody(
  body: Buffer,
  native: Pick<NativeRequest, "hasForeignThoughts">,
  { model, outputBound, userTag }: NativeMessagesFacts,
): Buffer {
  const { members } = scanObject(body);
  const edits: Edit[] = [];
  const set = (name: string, text: string): void => {
    const member = members.get(name);
    if (member !== undefined) edits.push({ start: member.start, end: member.end, text });
  };
  set("model", JSON.stringify(model));
  set("max_tokens", String(outputBound));
  // A provider may have set a dearer tier for what `auto` chooses.
  set("service_tier", '"standard_only"');
  const metadata = JSON.stringify({ user_id: userTag });
  set("metadata", metadata);
  if (!members.has("metadata")) edits.push(insertMembers(body.indexOf("{"), `"metadata":${metadata}`, false));
  const messages = members.get("messages");
  if (native.hasForeignThoughts && messages !== undefined) edits.push(withoutForeignThoughts(body, messages));
  return splice(body, edits);
}

/** What a checked body asks of Anthropic itself. */
export function nativeMessages(body: JsonObject): NativeRequest {
  const marks = new CacheMarks();
  marks.look(body, "");
  for (const [name, member] of Object.entries(body)) marks.lookWithin(member, name);
  const { thinking } = body;
  const thinks = isObject(thinking) && thinking["type"] !== "disabled";
  return {
    thinks,
    cacheWrites: marks.writes,
    cacheField: marks.field,
    hasForeignThoughts: hasForeignThoughts(body["messages"]),
  };
}

const VERSION = "anthropic-version";
const BETA = "anthropic-beta";

/** The headers of a client that belong to its request. */
export const MESSAGES_HEADERS: readonly string[] = [VERSION, BETA];

/** Betas that open what is refused here: files, servers of others, code that a provider runs, other prices. */
const REFUSED_BETA = /files|mcp|code-execution|computer-use|fast-mode|fallback|compact|container|skills|web-|batch/;
/** The beta for longer prompts than a model's usual ones, for which some models charge more. */
const LONG_BETA = /^context-1m/;
const USUAL_CONTEXT = 200_000;
const MAX_HEADER_LENGTH = 2_048;

/** What a client's headers are for its upstream, names and values in turn. `contextLength`: what the catalog sells of the model. */
export function nativeMessagesHeaders(
  headers: Readonly<Record<string, string>>,
  { contextLength }: { readonly contextLength: number },
): readonly string[] {
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
