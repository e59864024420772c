// Guards of requests whose client and upstream speak other protocols than chat.

import { gateway, type PlantedBug } from "../planted-bug.ts";

const bytes = (test: string) => ({ file: "src/gateway/conversation/messages/native-messages.test.ts", test });
const holds = (test: string) => ({ file: "src/gateway/admission/hold-additions.test.ts", test });
const routes = (test: string) => ({ file: "test/gateway/route-protocols.test.ts", test });

/** Each with the test that must notice it. */
export const PROTOCOL_BUGS: readonly PlantedBug[] = [
  {
    name: "a client's own bound passes to Anthropic",
    edits: [gateway("conversation/messages/native-messages.ts", 'set("max_tokens", String(outputBound));', "")],
    noticedBy: bytes("is the client's byte for byte"),
  },
  {
    name: "the tier of a client passes to Anthropic",
    edits: [gateway("conversation/messages/native-messages.ts", `set("service_tier", '"standard_only"');`, "")],
    noticedBy: bytes("is the client's byte for byte"),
  },
  {
    name: "thoughts of another upstream pass to Anthropic",
    edits: [
      gateway(
        "conversation/messages/native-messages.ts",
        "if (native.hasForeignThoughts && messages !== undefined)",
        "if (false)",
      ),
    ],
    noticedBy: bytes("has no thoughts of upstreams of other protocols"),
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
