// The order of settling and showing, and what of a stream is billed.

import { gateway, type PlantedBug } from "../planted-bug.ts";

/** Each with the test that must notice it. */
export const ANSWER_BUGS: readonly PlantedBug[] = [
  {
    name: "an answer in one piece is shown before it is settled",
    edits: [
      gateway(
        "answer-whole.ts",
        "const billed = await bill.settleCompleted(",
        'sink.start({ streamed: false, rate, costIdr: "0", demo: false });\n  const billed = await bill.settleCompleted(',
      ),
      gateway(
        "answer-whole.ts",
        "sink.start({ streamed: false, rate, costIdr: costIdr(billed)",
        "void ({ costIdr: costIdr(billed)",
      ),
    ],
    noticedBy: { file: "test/gateway/whole-answers.test.ts", test: "are settled before they are shown" },
  },
  {
    name: "the last frames of a stream are shown before they are settled",
    edits: [
      gateway(
        "answer-streamed.ts",
        "const billed = await exchange.bill.settleCompleted(",
        "for (const frame of end.held) exchange.sink.write(frame);\n        const billed = await exchange.bill.settleCompleted(",
      ),
    ],
    noticedBy: { file: "test/gateway/streams.test.ts", test: "hold back everything from the finish on" },
  },
  {
    name: "no gate is put before a stream that holds a slab",
    edits: [
      gateway(
        "answer-streamed.ts",
        "if (outputCap !== null || plan.heldOutput",
        "if (outputCap === null || plan.heldOutput",
      ),
    ],
    noticedBy: { file: "test/gateway/slabs.test.ts", test: "waits with what goes beyond the slab" },
  },
  {
    name: "a client that leaves pays for what it never had, where the upstream says no usage",
    edits: [
      gateway(
        "relay-stream.ts",
        "if (!this.#isDraining) this.#facts.output.add(events);",
        "this.#facts.output.add(events);",
      ),
    ],
    noticedBy: { file: "test/gateway/drains.test.ts", test: "is billed by an estimate of what was relayed" },
  },
];
