// The body for an upstream: the client's own bytes with the upstream's model name, a request for usage, the bound on the output
// that was held, no dearer service tier, a prompt cache of the customer's own, a tag in place of who asks, and nothing that is kept
// in the account at the provider, which all customers share.

import type { OutputCapField } from "../../catalog/catalog-model.ts";
import type { MemberSpan } from "./json-scan.ts";
import type { ChatRequest } from "./read-request.ts";
import { type Edit, insertMembers, removeMember, splice, writeInPlace } from "./splice.ts";

/** A copy of a larger body costs more than all the rest of a request. */
const COPY_IS_DEAR_BYTES = 65_536;
const SPACES = /\s+/g;
/** Members that name who asks. */
const PERSONS = ["user", "safety_identifier"] as const;
/** Members that keep an answer at the provider, or belong to one that is kept, with the values that keep nothing. */
const KEPT_THERE = [
  ["store", "false"],
  ["metadata", "null"],
] as const;

export type UpstreamBodyFacts = {
  /** The model's name at the upstream. */
  readonly model: string;
  /** The most tokens that each answer may have: what is held for it. */
  readonly outputBound: number;
  /** The one field in which this upstream reads the bound. */
  readonly outputCapField: OutputCapField;
  /** Whether this upstream knows service tiers, so that every request names the one that has a price. */
  readonly takesServiceTier: boolean;
  /** The customer's own prompt cache, where the client names one. */
  readonly cacheKey: string | null;
  /** Stands for the customer where the client names a person. */
  readonly userTag: string;
};

/**
 * The body for one upstream. A large one may be the request's own buffer, written over: it is valid for one call. Each edit
 * covers all bytes that the edits for another upstream may have written there.
 */
export function upstreamBody(request: ChatRequest, facts: UpstreamBodyFacts): Buffer {
  const { body, members } = request;
  const edits: Edit[] = [];
  const added: string[] = [];
  setMember("model", JSON.stringify(facts.model));
  if (request.stream && !request.wantsUsage) {
    setMember("stream_options", JSON.stringify({ ...request.streamOptions, include_usage: true }));
  }
  // A provider's project may have a dearer tier for `auto`, and for requests that name none.
  if (request.choosesTier || facts.takesServiceTier) setMember("service_tier", '"default"');
  if (facts.cacheKey !== null) setMember("prompt_cache_key", JSON.stringify(facts.cacheKey));
  for (const name of PERSONS) if (members.has(name)) setMember(name, JSON.stringify(facts.userTag));
  for (const [name, value] of KEPT_THERE) if (members.has(name)) setMember(name, value);
  setBound();
  // A valid body has a model, so the object is never empty.
  if (added.length > 0) edits.push(insertMembers(body.indexOf("{"), added.join(","), false));
  if (body.length >= COPY_IS_DEAR_BYTES && writeInPlace(body, edits)) return body;
  return splice(body, edits);

  function setMember(name: string, value: string): void {
    const member = members.get(name);
    if (member === undefined) added.push(`"${name}":${value}`);
    else setValue(member, value);
  }

  /** Looks at the bytes: the call before a retry may have put another value there. */
  function setValue({ start, end }: MemberSpan, value: string): void {
    if (body.toString("utf8", start, end).trimEnd() !== value) edits.push({ start, end, text: value });
  }

  /** Upstreams ignore the field that they do not read, so a client's bound in the other field has no effect. */
  function setBound(): void {
    const bound = String(facts.outputBound);
    const longer = members.get("max_completion_tokens");
    const shorter = members.get("max_tokens");
    // Of two fields the same one is always kept, for either name: a retry finds it where it was.
    const kept = longer ?? shorter;
    if (kept === undefined) {
      added.push(`"${facts.outputCapField}":${bound}`);
      return;
    }
    if (longer !== undefined && shorter !== undefined) edits.push(removeMember(members, shorter));
    const key = `"${facts.outputCapField}":`;
    if (body.toString("latin1", kept.keyStart, kept.start).replace(SPACES, "") === key) setValue(kept, bound);
    else edits.push({ start: kept.keyStart, end: kept.end, text: key + bound });
  }
}
