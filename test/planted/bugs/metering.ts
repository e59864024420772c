// Guards of what a request is billed by: the upstream's report, what was relayed, and what was cached.

import { gateway, type PlantedBug } from "../planted-bug.ts";

const metering = (test: string) => ({ file: "test/gateway/metering.test.ts", test });
const aboveBound = (test: string) => ({ file: "test/gateway/above-bound.test.ts", test });
const withheld = (test: string) => ({ file: "test/gateway/withheld-output.test.ts", test });
const drains = (test: string) => ({ file: "test/gateway/drains.test.ts", test });
const prompts = (test: string) => ({ file: "test/gateway/interrupted-prompts.test.ts", test });

/** Each with the test that must notice it. */
export const METERING_BUGS: readonly PlantedBug[] = [
  {
    name: "a reported count is cut to the bound, whatever was relayed",
    edits: [
      gateway("metering/meter.ts", "const most = Math.max(bounds.output, given);", "const most = bounds.output;"),
    ],
    noticedBy: metering("and answers whole is billed for what was relayed"),
  },
  {
    name: "a dearer tier in an answer is noticed by no operator",
    edits: [gateway("metering/meter.ts", "isPricedOtherwise(reported.usage)", "false")],
    noticedBy: {
      file: "test/gateway/priced-otherwise.test.ts",
      test: "is billed by its tokens, and noted for the operator",
    },
  },
  {
    name: "our own count of the output is cut to the bound",
    edits: [gateway("metering/meter.ts", "Math.max(given, isLie", "Math.max(Math.min(given, bounds.output), isLie")],
    noticedBy: aboveBound("is estimated as what was relayed, where nothing was reported"),
  },
  {
    name: "a count that nothing of the answer carries is billed up to the bound",
    edits: [gateway("metering/meter.ts", "return isFarAbove(reading, bounds.output, given)", "return false")],
    noticedBy: aboveBound("is not used, and what was relayed is billed: "),
  },
  {
    name: "reasoning that was not shown is taken for a lie",
    edits: [gateway("metering/meter.ts", "(isNamed ? reading.reasoningTokens : 0)", "0")],
    noticedBy: aboveBound("is believed, and billed up to the bound: "),
  },
  {
    name: "a lie about a broken answer is the least that it has written",
    edits: [gateway("metering/meter.ts", "isLie ? 0 : Math.min(before", "Math.min(before")],
    noticedBy: aboveBound("is not the least that a broken answer has written"),
  },
  {
    name: "an input that no model can read is billed up to its bound",
    edits: [
      gateway("metering/meter.ts", "const isImplausible = total > MOST_PLAUSIBLE;", "const isImplausible = false;"),
    ],
    noticedBy: aboveBound("has a reported input estimated that no model can read"),
  },
  {
    name: "a reported count far below what was relayed is billed",
    edits: [gateway("metering/meter.ts", "const isBelow = given > 2 * tokens &&", "const isBelow = given < 0 &&")],
    noticedBy: metering(" is not used, and its input is"),
  },
  {
    name: "a usage object without output is discarded whole",
    edits: [
      gateway(
        "metering/meter.ts",
        "if (reading?.hasInput !== true || isImplausible) {",
        "if (reading?.hasInput !== true || reading.counts.outputTokens === 0) {",
      ),
    ],
    noticedBy: metering("that counts no output has only its output estimated"),
  },
  {
    name: "a prompt is taken for cached without the prefix agreeing",
    edits: [gateway("metering/prompt-memory.ts", " === prompt.digest;", ' !== "";')],
    noticedBy: prompts("is billed all of its prompt as new when "),
  },
  {
    name: "thinking that only the total has is not billed",
    edits: [gateway("metering/read-usage.ts", "    outputTokens += gap;\n", "")],
    noticedBy: metering("of Gemini bills the thinking that only its total has"),
  },
  {
    name: "what a custom tool is called with is given away",
    edits: [
      gateway(
        "metering/output-text.ts",
        'if (isObject(custom)) text += textOf(custom["name"]) + textOf(custom["input"]);',
        "",
      ),
      gateway("metering/output-text.ts", "return otherTextOf(message);", 'return "";'),
      gateway(
        "metering/output-text.ts",
        "for (const other of stringsOf(member))",
        "for (const other of stringsOf(null))",
      ),
    ],
    noticedBy: metering("a call of a custom tool"),
  },
  {
    name: "a cache mark within a call of a tool is not seen",
    edits: [gateway("request/check-messages.ts", "  lookWithinMembers(message, field, found.marks, problems);\n", "")],
    noticedBy: { file: "test/gateway/cache-writes.test.ts", test: "is refused where writes cost and have no price" },
  },
  {
    name: "members of a request that are not known are left out of its estimated input",
    edits: [
      gateway(
        "request/input-text.ts",
        "if (NO_PROMPT.has(name)) continue;",
        'if (!["tools", "functions"].includes(name)) continue;',
      ),
    ],
    noticedBy: {
      file: "test/gateway/estimated-input.test.ts",
      test: "which the upstream may have put before the messages",
    },
  },
  {
    name: "a prompt is taken for cached at an upstream that has never read one from a cache",
    edits: [
      gateway("metering/prompt-memory.ts", "if (!this.#caching.has(`${prompt.upstream} ${model}`)) continue;", ""),
    ],
    noticedBy: prompts("is billed all of its prompt as new where the upstream has always reported"),
  },
  {
    name: "an answer that the balance does not cover is free",
    edits: [gateway("answer/answer-streamed.ts", 'cause.kind === "limit" || isForMoney', 'cause.kind === "limit"')],
    noticedBy: withheld("pays for its input where a picture came"),
  },
  {
    name: "what the upstream charges for withheld output is nobody's loss",
    edits: [gateway("metering/meter.ts", "outputOf(own + withheld.tokens)", "outputOf(own)")],
    noticedBy: withheld("as much as is held, pays for that, and the rest"),
  },
  {
    name: "what an upstream writes without a client is not counted",
    edits: [gateway("stream/client-writer.ts", "this.#facts.output.addUnread(events)", "return")],
    noticedBy: drains("is billed by an estimate of what was read and what was not"),
  },
  {
    name: "a whole answer without a client and without usage has no output",
    edits: [
      gateway(
        "answer/answer-whole.ts",
        "relayedAnswer(end, format)",
        "{ ...relayedAnswer(end, format), ...(end.drained && { estimateTokens: nothingRelayed }) }",
      ),
    ],
    noticedBy: drains("is billed by an estimate of all that it wrote when that was complete without usage: "),
  },
  {
    name: "text behind the first finish_reason is not counted",
    edits: [gateway("stream/relay-stream.ts", "if (isOutput) this.#client.count(event);", "")],
    noticedBy: withheld("is counted where no usage follows it"),
  },
  {
    name: "output in an unknown member is given away",
    edits: [gateway("metering/output-text.ts", "return otherTextOf(message);", 'return "";')],
    noticedBy: metering("an unknown member"),
  },
  {
    name: "output in an unknown member is given away beside one of a word",
    edits: [
      gateway(
        "metering/output-text.ts",
        "for (const other of stringsOf(member))",
        "for (const other of stringsOf(null))",
      ),
    ],
    noticedBy: metering("an unknown member beside one of a word"),
  },
  {
    name: "what a proxy says twice is counted twice",
    edits: [gateway("metering/output-text.ts", " && !text.includes(other)", "")],
    noticedBy: metering("a member that repeats one that is known"),
  },
  {
    name: "our count of a picture overrules the report",
    edits: [gateway("metering/meter.ts", "given - (await relayed.estimateMediaTokens())", "given")],
    noticedBy: metering("does not overrule a report of a small picture"),
  },
  {
    name: "the places where a long text is sampled are known",
    edits: [gateway("metering/estimate.ts", "Math.random() * (step", "0 * (step")],
    noticedBy: { file: "src/gateway/metering/estimate.test.ts", test: "cannot be lowered by spaces" },
  },
];
