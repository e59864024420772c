// Guards against answers that came with status 200 and are not what they seem.

import { gateway, type PlantedBug } from "../planted-bug.ts";

const noticed = (test: string) => ({ file: "test/gateway/unsound-answers.test.ts", test });

/** Each with the test that must notice it. */
export const UNSOUND_ANSWER_BUGS: readonly PlantedBug[] = [
  {
    name: "an answer that more follows is charged",
    edits: [
      gateway("formats/find-list.ts", "json.subarray(scan.end).some((byte) => byte > SPACE)", "json.length < scan.end"),
    ],
    noticedBy: noticed("is not charged because more follows it"),
  },
  {
    name: "an answer that is no JSON is charged as a stream of nothing",
    edits: [
      gateway("formats/chat/unstreamed-chat.ts", "  if (parsed === null) return null;\n", ""),
      gateway("formats/chat/unstreamed-chat.ts", "...answer } = parsed;", "...answer } = parsed ?? {};"),
    ],
    noticedBy: noticed("is not charged because it is unsound inside"),
  },
  {
    name: "an answer is parsed however much structure it has",
    edits: [
      {
        file: "src/kernel/foreign-json.ts",
        find: "text.length > MAX_FOREIGN_TOKENS && !hasFewTokens(text)",
        replace: "false",
      },
    ],
    noticedBy: { file: "test/gateway/rpc-answers.test.ts", test: "that is too expensive to parse is refused" },
  },
  {
    name: "an error that came with status 200 keeps its reason to itself",
    edits: [
      gateway("upstreams/http/announced-errors.ts", "isRefusal ? refusalReason(words) : reasonByCode(words)", "null"),
    ],
    noticedBy: noticed("shows its client the reason, from"),
  },
  {
    name: "the only message of a stream is not counted",
    edits: [gateway("metering/output-text.ts", 'finish !== "" && isObject(delta);', 'finish !== "";')],
    noticedBy: noticed("are counted where a stream is one message"),
  },
  {
    name: "a prompt that a provider adds is given away",
    edits: [gateway("admission/hold.ts", "mediaBound + PROVIDER_PROMPT_TOKENS", "mediaBound")],
    noticedBy: noticed("of a prompt that the provider has put before a short one"),
  },
  {
    name: "only events that begin with their data are read for their text",
    edits: [gateway("metering/text-bytes.ts", " || event.includes(DATA);", ";")],
    noticedBy: noticed("is not used in events with names"),
  },
  {
    name: "every second packet is kept, whatever the pattern of the stream",
    edits: [gateway("metering/packet-sample.ts", "placeOf(this.#passed)", "(this.#passed * 0.5) % 1")],
    noticedBy: { file: "src/gateway/metering/relayed-output.test.ts", test: "of an empty event before each word" },
  },
  {
    name: "the split of a cache write outweighs its count",
    edits: [
      gateway(
        "metering/read-usage.ts",
        "written: written !== null && written > 0 ? written : written5m + written1h,",
        "written: Math.max(written ?? 0, written5m + written1h),",
      ),
    ],
    noticedBy: { file: "src/gateway/metering/read-usage.test.ts", test: "divides the count and never adds to it" },
  },
  {
    name: "thinking a token above the bound is given away",
    edits: [
      gateway(
        "metering/meter.ts",
        "tokens > boundOfAnother(bounds.output) && outputTokens",
        "tokens > bounds.output && outputTokens",
      ),
    ],
    noticedBy: noticed("of thinking a little above the bound"),
  },
];
