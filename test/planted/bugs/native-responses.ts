// Guards of requests and answers of Responses whose bytes pass.

import { gateway, type PlantedBug } from "../planted-bug.ts";

const unit = (test: string) => ({
  file: "src/gateway/conversation/responses/native-responses.test.ts",
  test,
});
const refused = (test: string) => ({
  file: "src/gateway/conversation/responses/native-refusals.test.ts",
  test,
});
const asked = (test: string) => ({ file: "test/gateway/responses-pass-through.test.ts", test });
const shown = (test: string) => ({ file: "test/gateway/responses-passed-answers.test.ts", test });

const native = (find: string, replace: string) => gateway("conversation/responses/native-responses.ts", find, replace);
const input = (find: string, replace: string) => gateway("conversation/responses/native-input.ts", find, replace);
const known = (find: string, replace: string) => gateway("conversation/responses/known-members.ts", find, replace);
const hidden = (find: string, replace: string) => gateway("formats/responses/hidden-members.ts", find, replace);
const response = (find: string, replace: string) => gateway("formats/responses/shown-response.ts", find, replace);

/** Each with the test that must notice it. */
export const NATIVE_RESPONSES_BUGS: readonly PlantedBug[] = [
  {
    name: "a client's own bound passes to OpenAI",
    edits: [native('setOrAdd("max_output_tokens", String(facts.outputBound));', "")],
    noticedBy: asked("is the client's, with the bound that is held"),
  },
  {
    name: "a response is stored in the account that all customers share",
    edits: [native('setOrAdd("store", "false");', "")],
    noticedBy: unit("keeps nothing at the provider"),
  },
  {
    name: "the tier of a client passes to OpenAI",
    edits: [native('(facts.takesServiceTier ? setOrAdd : set)("service_tier", STANDARD_TIER);', "")],
    noticedBy: unit("is the client's byte for byte"),
  },
  {
    name: "a client names itself to OpenAI",
    edits: [native('setOrAdd("safety_identifier", JSON.stringify(facts.userTag));', "")],
    noticedBy: unit("is the client's byte for byte"),
  },
  {
    name: "a client names the prompt cache of another customer at OpenAI",
    edits: [native("JSON.stringify(ownCacheKey(facts.userTag, key))", "JSON.stringify(key)")],
    noticedBy: unit("shares a prompt cache with no other customer"),
  },
  {
    name: "tags of a client's own pass to OpenAI",
    edits: [
      known("return [...members].filter((name) => !PASSING.has(name));", "return [...members].filter(() => false);"),
    ],
    noticedBy: unit("has no member that ends here"),
  },
  {
    name: "cache writes without a price pass to OpenAI",
    edits: [native("cacheWrites: marks.writes,", 'cacheWrites: "none",')],
    noticedBy: asked("where a provider would keep or charge for something"),
  },
  {
    name: "a member that is not known passes to OpenAI",
    edits: [known('problems.add(name, "unknown", NOT_KNOWN);', "")],
    noticedBy: asked("is not known or sold here, so that nothing unpriced passes"),
  },
  {
    name: "a setting that is not known passes to OpenAI",
    edits: [known('problems.add(`${name}.${each}`, "unknown", NOT_KNOWN);', "continue;")],
    noticedBy: asked("is not known or sold here, so that nothing unpriced passes"),
  },
  {
    name: "a dearer mode of thinking passes to OpenAI",
    edits: [known('if (mode !== "standard")', "if (mode === null)")],
    noticedBy: asked("is not known or sold here, so that nothing unpriced passes"),
  },
  {
    name: "a dearer tier in other letters passes to OpenAI",
    edits: [known('refuseOtherSpellings(body, "", { names: NAMES, ownJson: OWN_JSON }, problems);', "")],
    noticedBy: refused("spelling"),
  },
  {
    name: "a compaction passes to OpenAI",
    edits: [known("if (!isEmpty)", "if (isEmpty === null)")],
    noticedBy: asked("where a provider would keep or charge for something"),
  },
  {
    name: "a tool that OpenAI runs passes as one that a client has found",
    edits: [known('!isObject(tool) || !FOUND_TOOLS.has(tool["type"])', "!isObject(tool)")],
    noticedBy: refused("unpriced"),
  },
  {
    name: "a request names what lies in the account that all customers share",
    edits: [known("if (STORED.has(name))", "if (name === '')")],
    noticedBy: refused("stateless"),
  },
  {
    name: "a search of the web passes to OpenAI",
    edits: [input('return type !== "web_search";', "return type !== null;")],
    noticedBy: unit("are the client's without those that a provider runs"),
  },
  {
    name: "a search that OpenAI runs passes to it",
    edits: [input('if (type === "tool_search") return execution === "client";', "")],
    noticedBy: unit("are the client's without those that a provider runs"),
  },
  {
    name: "thoughts go to another upstream of Responses than their maker",
    edits: [input("opaqueOf(item)?.origin === origin", "opaqueOf(item) !== null")],
    noticedBy: shown("thoughts return to their maker, and to no other upstream"),
  },
  {
    name: "ids of items pass to OpenAI",
    edits: [input('new Set(["id", ', "new Set([")],
    noticedBy: unit("have no ids"),
  },
  {
    name: "a client gets thoughts that name no maker",
    edits: [
      response('if (typeof blob !== "string" || blob === "") return replaced;', "if (blob !== null) return replaced;"),
    ],
    noticedBy: shown("where it is streamed"),
  },
  {
    name: "a response shows the facts of the operator's account",
    edits: [hidden("else if (HIDDEN.has(name)) replaced.set(name, null);", "")],
    noticedBy: shown("where it is whole"),
  },
  {
    name: "a member of a response that is not known shows the upstream's names",
    edits: [
      hidden(
        "else if (native !== undefined && !KNOWN.has(name) && holdsHidden(textOf(name), native))",
        "else if (false)",
      ),
    ],
    noticedBy: shown("where it is whole"),
  },
  {
    name: "a member of an item that is not known shows the upstream's names",
    edits: [
      hidden(
        "HIDDEN.has(name) || (native !== undefined && holdsHidden(JSON.stringify(object[name]), native))",
        "HIDDEN.has(name)",
      ),
    ],
    noticedBy: shown("also in its items and events"),
  },
  {
    name: "an event that is not known shows the upstream's names",
    edits: [hidden("return !EVENTS.has(type) && holdsHidden(json, native);", "return false;")],
    noticedBy: shown("where it is streamed"),
  },
  {
    name: "an event about the limits of the operator's account passes",
    edits: [
      gateway("formats/responses/read-response-event.ts", 'type === "keepalive" ? "opaque" : "foreign"', '"opaque"'),
    ],
    noticedBy: shown("where it is streamed"),
  },
  {
    name: "a response shows the upstream's names in a member that comes twice",
    edits: [response("scan === null || scan.memberCount !== countMembers(object)", "scan === null")],
    noticedBy: shown("where its members come twice"),
  },
  {
    name: "text that only OpenAI reads is held at half its bytes",
    edits: [gateway("admission/hold-additions.ts", "+ (native?.unseenTokens ?? 0)", "")],
    noticedBy: {
      file: "src/gateway/admission/hold-additions.test.ts",
      test: "has a token for each byte of what only a server of Responses reads",
    },
  },
  {
    name: "a search for tools is free where an answer is estimated",
    edits: [
      gateway(
        "formats/responses/item-texts.ts",
        "isObject(args) && Object.keys(args).length > 0 ? JSON.stringify(args) : (args ?? input)",
        "args ?? input",
      ),
    ],
    noticedBy: { file: "test/gateway/responses-format.test.ts", test: "has the text that came in no pieces" },
  },
  {
    name: "a client is asked to pay again for an answer that broke off",
    edits: [
      gateway(
        "conversation/translated-sink.ts",
        "writer.passed?.(lastEvent(this.#passed));",
        "lastEvent(this.#passed);",
      ),
    ],
    noticedBy: shown("ends as the protocol does where it breaks off"),
  },
];
