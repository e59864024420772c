// Guards of requests whose client and upstream speak other protocols than chat.

import { gateway, type PlantedBug } from "../planted-bug.ts";

const bytes = (test: string) => ({ file: "src/gateway/conversation/messages/native-messages.test.ts", test });
const google = (test: string) => ({ file: "src/gateway/conversation/gemini/native-gemini.test.ts", test });
const members = (test: string) => ({ file: "src/gateway/conversation/gemini/other-names.test.ts", test });
const kept = (test: string) => ({ file: "test/gateway/kept-routes.test.ts", test });
const usages = (test: string) => ({ file: "src/gateway/admission/usages-within-holds.test.ts", test });
const holds = (test: string) => ({ file: "src/gateway/admission/hold-additions.test.ts", test });
const routes = (test: string) => ({ file: "test/gateway/route-protocols.test.ts", test });
const tiers = (test: string) => ({ file: "test/gateway/service-tiers.test.ts", test });

/** Each with the test that must notice it. */
export const PROTOCOL_BUGS: readonly PlantedBug[] = [
  {
    name: "a client's own bound passes to Anthropic",
    edits: [gateway("conversation/messages/native-messages.ts", 'set("max_tokens", String(outputBound));', "")],
    noticedBy: bytes("is the client's byte for byte"),
  },
  {
    name: "the tier of a client passes to Anthropic",
    edits: [
      gateway(
        "conversation/messages/native-messages.ts",
        `(facts.takesServiceTier ? setOrAdd : set)("service_tier", STANDARD_TIER);`,
        "",
      ),
    ],
    noticedBy: bytes("is the client's byte for byte"),
  },
  {
    name: "a translated request leaves the tier to Anthropic's project",
    edits: [gateway("conversation/messages/write-messages-request.ts", 'service_tier: "standard_only"', "")],
    noticedBy: tiers("names the standard one where the upstream knows it"),
  },
  {
    name: "a request of Responses leaves the tier to OpenAI's project",
    edits: [gateway("conversation/responses/write-responses-request.ts", 'service_tier: "default"', "")],
    noticedBy: tiers("names the standard one where the upstream knows it"),
  },
  {
    name: "a member that is not known passes to Anthropic",
    edits: [
      gateway(
        "conversation/messages/edits-for-model.ts",
        "if (unknown !== undefined) throw",
        "if (unknown === null) throw",
      ),
    ],
    noticedBy: routes("is refused where a member is not known here"),
  },
  {
    name: "a member that is not known passes to Google",
    edits: [
      gateway("conversation/gemini/native-gemini.ts", "if (unknown !== null) throw", "if (unknown === '') throw"),
    ],
    noticedBy: {
      file: "test/gateway/gemini-pass-through.test.ts",
      test: "is not known here, so that nothing unpriced passes",
    },
  },
  {
    name: "a dearer tier in other letters passes to Anthropic",
    edits: [gateway("conversation/messages/read-messages-request.ts", 'refuseOtherSpellings(body, "", problems);', "")],
    noticedBy: {
      file: "src/gateway/conversation/messages/refused-requests.test.ts",
      test: "a request that is refused",
    },
  },
  {
    name: "thoughts of another upstream pass to Anthropic",
    edits: [
      gateway(
        "conversation/messages/native-messages.ts",
        "if (request.hasForeign && messages !== undefined)",
        "if (false)",
      ),
    ],
    noticedBy: bytes("has no thoughts of upstreams of other protocols"),
  },
  {
    name: "a client's own bound passes to Google",
    edits: [
      gateway(
        "conversation/gemini/native-gemini.ts",
        ": [{ ...cap, text: String(outputBound) }];",
        ": [{ ...cap, text: body.toString('utf8', cap.start, cap.end) }];",
      ),
    ],
    noticedBy: google("is the client's byte for byte, but for the bound"),
  },
  {
    name: "a request without a bound passes to Google without one",
    edits: [
      gateway(
        "conversation/gemini/native-gemini.ts",
        'return [insertMembers(body.indexOf(OPEN_BRACE), `"generationConfig":${text}`, false)];',
        "return [];",
      ),
    ],
    noticedBy: google("has the bound that is held"),
  },
  {
    name: "a member of Google's passes its check under its other name",
    edits: [gateway("conversation/gemini/members.ts", "return own ?? second;", "return own;")],
    noticedBy: members("is refused under either name"),
  },
  {
    name: "a member of Google's passes its check in other letters",
    edits: [gateway("conversation/gemini/members.ts", "if (spelling !== undefined)", "if (spelling === null)")],
    noticedBy: members("is refused in any letters"),
  },
  {
    name: "a tool that Google runs passes to it",
    edits: [gateway("conversation/gemini/members.ts", "!names.has(camelName(name))", "names.has(camelName(name))")],
    noticedBy: members("is refused under either name"),
  },
  {
    name: "signatures of another upstream pass to Google",
    edits: [
      gateway(
        "conversation/gemini/native-gemini.ts",
        "const own = isCall && opaque?.origin === origin ? opaque.blob : foreign;",
        "const own = isCall ? (opaque?.blob ?? foreign) : foreign;",
      ),
    ],
    noticedBy: google("gives back signatures to their maker alone"),
  },
  {
    name: "Anthropic's own prompt is not held for",
    edits: [gateway("admission/hold-additions.ts", "? TOOLS_PROMPT_TOKENS : 0", "? 0 : 0")],
    noticedBy: holds("has the provider's own prompt where there are tools"),
  },
  {
    name: "cache writes for an hour are held at the price of minutes",
    edits: [
      gateway("admission/hold-additions.ts", 'writesForLong: native?.cacheWrites === "long"', "writesForLong: false"),
    ],
    noticedBy: holds("has the price of an hour"),
  },
  {
    name: "thoughts that are not seen are held slab by slab",
    edits: [gateway("admission/hold.ts", "!additions.thinksUnseen && showsItsOutput", "showsItsOutput")],
    noticedBy: holds("the whole bound where the model thinks"),
  },
  {
    name: "signed thoughts are not held for",
    edits: [gateway("admission/hold-additions.ts", "leavesChat && client !== null ?", "client === undefined ?")],
    noticedBy: holds("has the thoughts that only its own upstream reads"),
  },
  {
    name: "cache writes without a price pass to Anthropic",
    edits: [
      gateway(
        "answer/route-requests.ts",
        'if (cacheWrites === "none" || priced === "long" || priced === cacheWrites) return;',
        'if (cacheWrites !== "never") return;',
      ),
    ],
    noticedBy: routes("is refused where it asks for cache writes"),
  },
  {
    name: "a request goes to a route that cannot take all of it",
    edits: [gateway("answer/route-requests.ts", "if (chatAlone.length > 0) throw new ValidationError(chatAlone);", "")],
    noticedBy: routes("is refused by its field, and nothing is held or asked"),
  },
  {
    name: "a conversation leaves the route that answered it",
    edits: [gateway("answer/serve.ts", "request.inOrder?.(taking) ?? taking", "taking")],
    noticedBy: kept("stays at the route that answered it"),
  },
  {
    name: "a conversation is kept at a route that fails",
    edits: [
      gateway("answer/exchange.ts", "if (hasFailed) health.failed(upstream, clock.now());", "if (hasFailed) return;"),
    ],
    noticedBy: kept("is not kept waiting by a route that has just failed"),
  },
  {
    name: "thoughts go on to another upstream than their maker",
    edits: [
      gateway(
        "conversation/messages/write-blocks.ts",
        "if (opaque === null || opaque.origin !== this.#facts.origin) return [];",
        "if (opaque === null) return [];",
      ),
    ],
    noticedBy: kept("goes on at another route where it must"),
  },
  {
    name: "a half of a character goes out alone",
    edits: [
      gateway(
        "conversation/whole-characters.ts",
        "unit >= 0xd8_00 && unit <= 0xdb_ff ? text.length - 1 : text.length",
        "text.length",
      ),
    ],
    noticedBy: { file: "test/gateway/stream-round-trip.test.ts", test: "is the same in text, thoughts and arguments" },
  },
  {
    name: "writes for an hour are billed where only minutes are held for",
    edits: [
      gateway(
        "metering/meter.ts",
        "bounds.writesForLong === false ? withoutLongWrites(reported) : reported",
        "reported",
      ),
    ],
    noticedBy: usages("a charge is within its hold"),
  },
  {
    name: "thoughts of Google's models are held slab by slab",
    edits: [gateway("admission/hold-additions.ts", 'protocols.has("gemini") ||', "")],
    noticedBy: usages("a charge is within its hold"),
  },
  {
    name: "a small balance leaves Anthropic a bound below the thoughts",
    edits: [gateway("admission/hold.ts", "LEAST_USEFUL_TOKENS + additions.thoughtBudget", "LEAST_USEFUL_TOKENS")],
    noticedBy: routes("has room for an answer behind its thoughts"),
  },
  {
    name: "what a model refuses passes to Anthropic",
    edits: [
      gateway(
        "conversation/messages/native-messages.ts",
        "edits.push(...editsForModel({ body, members }, request, facts));",
        "",
      ),
    ],
    noticedBy: routes("has nothing that its model refuses"),
  },
  {
    name: "a text that comes only at the end of a response is free",
    edits: [gateway("stream/relay-stream.ts", "if (part.isLateText === true) this.#client.countText(read.text);", "")],
    noticedBy: { file: "test/gateway/late-texts.test.ts", test: "is estimated by its text" },
  },
  {
    name: "opaque text names an upstream that failed",
    edits: [
      gateway(
        "answer/answer-streamed.ts",
        'if (this.isSent) sink.answeredBy?.(this.upstream?.id ?? "");',
        "if (this.isSent) return;",
      ),
    ],
    noticedBy: routes("an answer belongs to the upstream that gave it"),
  },
  {
    name: "an idempotency key names the chat form of a request",
    edits: [gateway("admission/admit.ts", "client === undefined ? body :", "client?.body.length !== -1 ? body :")],
    noticedBy: routes("names one request in one protocol"),
  },
];
