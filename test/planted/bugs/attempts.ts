// What is repeated, given up and left, and who pays for it.

import { gateway, type PlantedBug } from "../planted-bug.ts";

const failures = (test: string) => ({ file: "test/gateway/upstream-failures.test.ts", test });

/** Each with the test that must notice it. */
export const ATTEMPT_BUGS: readonly PlantedBug[] = [
  {
    name: "a client that leaves before any answer pays for its input",
    edits: [gateway("answer/settle-gone.ts", "!answered && !tooMany", "false")],
    noticedBy: { file: "test/gateway/unanswered.test.ts", test: "pays nothing when no answer begins in time" },
  },
  {
    name: "comments of an upstream's queue count as an answer",
    edits: [gateway("stream/relay-stream.ts", "||= this.#beginsAnswer(read.meaning);", "= true;")],
    noticedBy: { file: "test/gateway/unanswered.test.ts", test: "pays nothing, because they are no answer: " },
  },
  {
    name: "white space before a whole answer counts as one",
    edits: [gateway("answer/collect-answer.ts", "this.#hasBegun && !this.#isEventStream", "this.#length > 0")],
    noticedBy: { file: "test/gateway/unanswered.test.ts", test: "pays nothing, because they are no answer: " },
  },
  {
    name: "an account may leave any number of unanswered requests",
    edits: [gateway("answer/settle-gone.ts", "!answered && !tooMany", "!answered")],
    noticedBy: { file: "test/gateway/unanswered.test.ts", test: "once its account has left too many" },
  },
  {
    name: "what may have been charged is repeated without leave",
    edits: [gateway("answer/call-upstream.ts", "first.mayRepeatPaid === true && ", "")],
    noticedBy: { file: "test/gateway/failover.test.ts", test: "ends in a clean error where only" },
  },
  {
    name: "an upstream that something gave up waiting for is called again",
    edits: [gateway("upstreams/http/failures.ts", "new Set([504, 524])", "new Set()")],
    noticedBy: failures("are not retried when the upstream has perhaps worked on the request: "),
  },
  {
    name: "a request whose tokens were counted is repeated behind an error",
    edits: [
      gateway("upstreams/http/announced-errors.ts", "reportsTokens(isObject(usage) ? usage : null, reader)", "false"),
    ],
    noticedBy: failures("are not retried when the upstream has perhaps worked on the request: "),
  },
  {
    name: "a stream that was cut inside a comment is taken for a page",
    edits: [gateway("stream/incoming-answer.ts", "isBeginOfEvent(rest) ? EMPTY : rest", "rest")],
    noticedBy: failures("are not retried when the upstream has perhaps worked on the request: "),
  },
  {
    name: "an attempt that was given up costs nobody anything",
    edits: [gateway("answer/exchange.ts", 'if (end.failure.kind === "perhaps_billed") bill.attemptLost();', "")],
    noticedBy: { file: "test/gateway/failover.test.ts", test: "its possible cost is the operator's" },
  },
  {
    name: "connections are used again that carried answers to nobody",
    edits: [gateway("upstreams/http/connections.ts", "this.#open(0)", "this.#open(1)")],
    noticedBy: {
      file: "test/gateway/mixed-up-answers.test.ts",
      test: "none of its connections serves a second request",
    },
  },
  {
    name: "hidden output is not learnt behind a client that left",
    edits: [
      gateway(
        "upstreams/learned-models.ts",
        'billed.basis !== "exact" && billed.basis !== "drained"',
        'billed.basis !== "exact"',
      ),
    ],
    noticedBy: { file: "test/gateway/learned-models.test.ts", test: "from a stream whose client has left" },
  },
  {
    name: "hidden output is not learnt",
    edits: [
      gateway("upstreams/learned-models.ts", "this.#hidden.add(model.id);\n    this.#unwritten", "this.#unwritten"),
    ],
    noticedBy: { file: "test/gateway/learned-models.test.ts", test: "holds its whole bound from then on" },
  },
];
