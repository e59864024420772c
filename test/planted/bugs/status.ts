// The public status: what it costs, and what it keeps to itself.

import type { PlantedBug } from "../planted-bug.ts";

/** Each with the test that must notice it. */
export const STATUS_BUGS: readonly PlantedBug[] = [
  {
    name: "every look at the public status reads the database",
    edits: [
      {
        file: "src/status/status-board.ts",
        find: "    this.#latest = latest;\n",
        replace: "",
      },
    ],
    noticedBy: { file: "src/status/status-board.test.ts", test: "reads once for everyone who asks" },
  },
  {
    name: "the public status names upstreams by their id",
    edits: [
      {
        file: "src/app/compose/status.ts",
        find: 'publicNameOf(upstream) ?? ""',
        replace: "publicNameOf(upstream) ?? upstream.id",
      },
    ],
    noticedBy: {
      file: "test/status/status-of-service.test.ts",
      test: "names upstreams that everyone knows, and no id, host, failure or count of the others",
    },
  },
  {
    name: "the public status looks up the session of a browser",
    edits: [
      {
        file: "src/transport/calls/interceptors.ts",
        find: "wanted.callers.size === 1 && wanted.callers.has(Caller.PUBLIC)",
        replace: "wanted.callers.size === 0",
      },
    ],
    noticedBy: { file: "test/status/status-answers.test.ts", test: "looks up no credentials" },
  },
];
