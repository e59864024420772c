// The order of settling and showing, and what of a stream is billed.

import { gateway, type PlantedBug } from "../planted-bug.ts";

/** Each with the test that must notice it. */
export const ANSWER_BUGS: readonly PlantedBug[] = [
  {
    name: "an answer in one piece is shown before it is settled",
    edits: [
      gateway(
        "answer/answer-whole.ts",
        "const billed =",
        'sinkFor(route).answer({ rate, demo: false, origin: "" }, { json: end.json, format, costIdr: "0" });\n  const billed =',
      ),
      gateway(
        "answer/answer-whole.ts",
        'sinkFor(route).answer({ rate, demo: kind === "demo", origin: id }, { json, format, costIdr: costIdr(billed) });',
        "void [json, rate, costIdr, kind, id];",
      ),
    ],
    noticedBy: { file: "test/gateway/whole-answers.test.ts", test: "are settled before they are shown" },
  },
  {
    name: "the last frames of a stream are shown before they are settled",
    edits: [
      gateway(
        "answer/answer-streamed.ts",
        "const billed = end.isFree",
        "for (const frame of end.held) exchange.sink.pass(frame, listener.format);\n  const billed = end.isFree",
      ),
    ],
    noticedBy: { file: "test/gateway/streams.test.ts", test: "hold back everything from the finish on" },
  },
  {
    name: "a stream that broke off looks complete over REST",
    edits: [
      {
        file: "src/transport/rest/chat/chat-sink.ts",
        find: "this.#response.end(errorEvent(error));",
        replace: "this.#response.end(Buffer.concat([errorEvent(error), END_MARK]));",
      },
    ],
    noticedBy: { file: "test/transport/rest/chat-refusals.test.ts", test: "an error inside a stream has a message" },
  },
  {
    name: "the record of a failed request has no failure",
    edits: [
      gateway(
        "metering/bill.ts",
        "if (this.#failure !== null)",
        "if (this.#failure !== null && this.#isSettled !== true)",
      ),
    ],
    noticedBy: {
      file: "test/gateway/recorded-failures.test.ts",
      test: "has its code and no text of the upstream",
    },
  },
  {
    name: "a stream that broke off looks complete over RPC",
    edits: [
      gateway(
        "rpc-sink.ts",
        "fail(error: DomainError): void {\n    this.#queue.stop(error);",
        "fail(_: DomainError): void {\n    this.#queue.stop(null);",
      ),
    ],
    noticedBy: { file: "test/gateway/rpc-answers.test.ts", test: "that is cut has an error, and what was billed" },
  },
  {
    name: "a kept stream is replayed without its billed usage",
    edits: [gateway("retries/keeping-sink.ts", "this.#remember(ending.passed);", "")],
    noticedBy: { file: "test/app/clients/retries.test.ts", test: "gets the same chunks over RPC" },
  },
  {
    name: "no gate is put before a stream that holds a slab",
    edits: [
      gateway(
        "answer/answer-streamed.ts",
        "if (outputCap !== null || plan.heldOutput",
        "if (outputCap === null || plan.heldOutput",
      ),
    ],
    noticedBy: { file: "test/gateway/slabs.test.ts", test: "waits with what goes beyond the slab" },
  },
  {
    name: "a client that leaves pays for what it never had of an answer that breaks off",
    edits: [
      gateway("stream/client-writer.ts", "if (this.#hasLeft) this.#facts.output.addUnread(events);\n    else ", ""),
    ],
    noticedBy: {
      file: "test/gateway/drains.test.ts",
      test: "is billed by an estimate of what was relayed when it",
    },
  },
  {
    name: "a stream that runs on behind its bound is not ended",
    edits: [
      gateway(
        "stream/output-limit.ts",
        "return this.#coarseWith(size) <= this.#lookAt;",
        "return this.#coarseWith(size) <= Infinity;",
      ),
    ],
    noticedBy: { file: "test/gateway/run-on.test.ts", test: "is ended as a cap ends it" },
  },
  {
    name: "an upstream that runs on is cut at its bound and not above it",
    edits: [gateway("stream/output-limit.ts", "bound * TOLERATED_FACTOR) + TOLERATED_TOKENS", "bound)")],
    noticedBy: { file: "test/gateway/run-on.test.ts", test: "is not ended within the limit" },
  },
  {
    name: "half of an event is relayed",
    edits: [
      gateway(
        "formats/chat/chunk.ts",
        'if (chunk === null) return { kind: "malformed" };',
        'if (chunk === null) return { kind: "opaque" };',
      ),
    ],
    noticedBy: { file: "test/gateway/sound-streams.test.ts", test: "is an error event and never reaches the client" },
  },
  {
    name: "a chunk of a known frame is relayed whatever is in its text",
    edits: [gateway("stream/frames.ts", "else if (byte < FIRST_PRINTABLE) return -1;", "")],
    noticedBy: { file: "test/gateway/sound-streams.test.ts", test: "a control character in the text" },
  },
  {
    name: "an error that stands flat in a stream is taken for a part of the answer",
    edits: [
      gateway(
        "formats/chat/chunk.ts",
        'if (object["object"] === "error" || object["type"] === "error") return object;',
        'if (object["type"] === "error") return object;\n  if (object["object"] === "error") return null;',
      ),
    ],
    noticedBy: { file: "test/gateway/sound-streams.test.ts", test: "flat, as vLLM writes it" },
  },
];
