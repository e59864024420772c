// A Responses request for an upstream of the same protocol: the client's own bytes, with what has to differ there. Items, tools and
// settings that are known pass as they are, so that what OpenAI's models and agents agree on is kept.

import { CacheMarks } from "../../request/cache-marks.ts";
import { isObject, type JsonObject } from "../../request/field-rules.ts";
import type { ObjectScan } from "../../request/json-scan.ts";
import { type Edit, insertMembers, removeMembers, splice } from "../../request/splice.ts";
import { ownCacheKey } from "../cache-key.ts";
import type { NativeFacts, NativeRequest } from "../native-request.ts";
import { Problems } from "../problems.ts";
import { endingMembers, refuseUnknown } from "./known-members.ts";
import { areOwnItems, itemEdits, toolEdits } from "./native-input.ts";
import { unseenTokens } from "./unseen-text.ts";
import type { ResponsesRequest } from "./read-responses-request.ts";

/** Without it a model that thinks would think again in each turn: nothing is stored. */
const ENCRYPTED = "reasoning.encrypted_content";
/** What else may be asked for: all others belong to tools that a provider runs. */
const INCLUDED: ReadonlySet<unknown> = new Set(["message.output_text.logprobs"]);

/** A mark of other protocols, which proxies put into any. OpenAI refuses it. */
const FOREIGN_MARK = "cache_control";

/** A checked body: what it holds, its bytes, and where its members lie in them. */
type ScannedBody = { readonly json: JsonObject; readonly body: Buffer; readonly members: ObjectScan["members"] };

/** A request for OpenAI itself. Null: it is not as OpenAI takes it, and has to be written from its conversation. */
export function nativeResponses(
  scanned: ScannedBody,
  { repeated }: Pick<ResponsesRequest, "repeated">,
): NativeRequest | null {
  const { json } = scanned;
  const items = Array.isArray(json["input"]) ? json["input"].filter(isObject) : [];
  if (!areOwnItems(items)) return null;
  const marks = new CacheMarks();
  marks.lookAtBody(json, []);
  if (marks.field.endsWith(FOREIGN_MARK)) return null;
  return {
    thinks: true,
    cacheWrites: marks.writes,
    cacheField: marks.field,
    thoughtBudget: 0,
    unseenTokens: unseenTokens(json),
    repeated: {
      max_output_tokens: repeated["max_output_tokens"],
      metadata: repeated["metadata"],
      prompt_cache_key: repeated["prompt_cache_key"],
    },
    check() {
      const problems = new Problems();
      refuseUnknown(json, problems);
      problems.refuseAny();
    },
    // What is encrypted names its upstream, so the conversation does.
    isSealed: false,
    write: (facts) => ({ body: nativeBody(scanned, items, facts), headers: [] }),
  };
}

/** The body for the upstream. The client's has been read by then, so it has a model. */
function nativeBody({ json, body, members }: ScannedBody, items: readonly JsonObject[], facts: NativeFacts): Buffer {
  const out = new Set(endingMembers(members.keys()));
  const edits: Edit[] = [];
  const added: string[] = [];
  const set = (name: string, text: string): void => {
    const member = members.get(name);
    if (member !== undefined) edits.push({ start: member.start, end: member.end, text });
  };
  const setOrAdd = (name: string, text: string): void => {
    if (members.has(name)) set(name, text);
    else added.push(`"${name}":${text}`);
  };
  setOrAdd("max_output_tokens", String(facts.outputBound));
  set("model", JSON.stringify(facts.model));
  setOrAdd("store", "false");
  // A provider's project may have a dearer tier for `auto`, and for requests that name none.
  (facts.takesServiceTier ? setOrAdd : set)("service_tier", STANDARD_TIER);
  setOrAdd("safety_identifier", JSON.stringify(facts.userTag));
  const key = json["prompt_cache_key"];
  if (typeof key === "string" && key !== "") set("prompt_cache_key", JSON.stringify(ownCacheKey(facts.userTag, key)));
  else out.add("prompt_cache_key");
  const include = includedIn(json, facts);
  if (include.length > 0) setOrAdd("include", JSON.stringify(include));
  else out.add("include");
  // Models that do not think refuse the member.
  if (!facts.canThink) out.add("reasoning");
  const input = members.get("input");
  if (input !== undefined && items.length > 0)
    edits.push(...itemEdits(body, input, items, facts.canThink ? facts.origin : null));
  edits.push(...toolEdits(body, members.get("tools"), json["tools"]));
  // In front of what is taken out at the same place.
  if (added.length > 0) edits.unshift(insertMembers(body.indexOf("{"), added.join(","), false));
  return splice(body, [...edits, ...removeMembers(members, out)]);
}

const STANDARD_TIER = '"default"';

function includedIn({ include }: JsonObject, { canThink }: NativeFacts): readonly unknown[] {
  const asked: readonly unknown[] = Array.isArray(include) ? include : [];
  return [...asked.filter((each) => INCLUDED.has(each)), ...(canThink ? [ENCRYPTED] : [])];
}
