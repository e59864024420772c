// Guards of the wire of answers in other protocols than chat.

import { gateway, type PlantedBug } from "../planted-bug.ts";

const messages = (test: string) => ({ file: "src/gateway/formats/messages/messages-format.test.ts", test });
const responses = (test: string) => ({ file: "test/gateway/responses-format.test.ts", test });
const gemini = (test: string) => ({ file: "src/gateway/formats/gemini/gemini-format.test.ts", test });
const usage = (test: string) => ({ file: "src/gateway/metering/gemini-usage.test.ts", test });
const written = (test: string) => ({ file: "src/gateway/conversation/gemini/write-gemini-request.test.ts", test });
const split = (test: string) => ({ file: "test/gateway/split-formats.test.ts", test });

/** Each with the test that must notice it. */
export const FORMAT_BUGS: readonly PlantedBug[] = [
  {
    name: "a message ends before its settlement",
    edits: [gateway("formats/messages/read-message-event.ts", "finished: hasEnded ? [0] : [],", "finished: [],")],
    noticedBy: split("has no end before its settlement"),
  },
  {
    name: "a refusal behind output is free",
    edits: [
      gateway("formats/messages/read-message-event.ts", 'reason === "refusal" && !hasBlocks', 'reason === "refusal"'),
    ],
    noticedBy: messages("is free where it refuses before any output"),
  },
  {
    name: "a message shows the usage that its upstream reports",
    edits: [
      gateway(
        "formats/messages/messages-stream.ts",
        'if (object?.["type"] !== "message_delta") return event;',
        "if (object !== undefined) return event;",
      ),
    ],
    noticedBy: messages("ends with the billed usage"),
  },
  {
    name: "a response counts what its items repeat",
    edits: [gateway("formats/responses/shown-items.ts", "text.slice(this.#lengths.get(place) ?? 0)", "text")],
    noticedBy: responses("has the text that the model wrote in it, and none that it repeats"),
  },
  {
    name: "a client is given a half of a call",
    edits: [
      gateway("formats/responses/shown-items.ts", `item["type"] !== "message" || parts.size === 0`, "item === null"),
    ],
    noticedBy: responses("ends as a cap does where it goes no further"),
  },
  {
    name: "a response shows the provider's name of our customer",
    edits: [
      gateway(
        "formats/responses/hidden-members.ts",
        '"safety_identifier prompt_cache_key user billing',
        '"prompt_cache_key user billing',
      ),
    ],
    noticedBy: responses("has our names wherever it has theirs"),
  },
  {
    name: "Gemini's thoughts are free",
    edits: [gateway("metering/gemini-usage.ts", "(answer ?? 0) + (thoughts ?? 0)", "answer ?? 0")],
    noticedBy: usage("has what was cached taken out of the prompt"),
  },
  {
    name: "a piece of Gemini's shows its usage before it is billed",
    edits: [
      gateway(
        "formats/gemini/gemini-stream.ts",
        'values: namesOf(this.#names), without: "usageMetadata" }',
        "values: namesOf(this.#names) }",
      ),
    ],
    noticedBy: gemini("has our names in each piece, and no usage"),
  },
  {
    name: "a signature goes to another upstream than its maker",
    edits: [
      gateway(
        "conversation/gemini/write-contents.ts",
        "opaque?.origin === this.#facts.origin ?",
        "opaque !== undefined ?",
      ),
    ],
    noticedBy: written("give back signatures to their maker alone"),
  },
];
