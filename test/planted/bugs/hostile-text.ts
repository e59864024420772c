// Code that takes more than linear time, and what a body or a message may hold.

import { gateway, type PlantedBug } from "../planted-bug.ts";

/** Each with the test that must notice it. */
export const HOSTILE_TEXT_BUGS: readonly PlantedBug[] = [
  {
    name: "an expression over amounts backtracks",
    edits: [{ file: "src/kernel/decimal.ts", find: "/(?<!0)0+$/", replace: "/0+$/" }],
    noticedBy: { file: "test/security/hostile-text.test.ts", test: "of the sources take linear time" },
  },
  {
    name: "a link that a model wrote may be a script",
    edits: [
      {
        file: "src/dashboard/pages/playground/answer-link.ts",
        find: "SCHEMES.has(url.protocol) ? url.href : null",
        replace: "url.href",
      },
    ],
    noticedBy: { file: "src/dashboard/pages/playground/answer-link.test.ts", test: "is none" },
  },
  {
    name: "the values of a chat body are not counted",
    edits: [gateway("request/read-json.ts", "scanObject(body, mostTokens);", "scanObject(body, mostTokens * 1_000);")],
    noticedBy: { file: "test/app/clients/hostile-bodies.test.ts", test: "one of ten million arrays" },
  },
  {
    name: "a large refused body takes no slot",
    edits: [
      gateway(
        "admission/count-large-refusal.ts",
        "body.length > FREE_REFUSAL_BYTES",
        "body.length > 64 * FREE_REFUSAL_BYTES",
      ),
    ],
    noticedBy: { file: "test/app/clients/hostile-bodies.test.ts", test: "takes a slot of its key" },
  },
  {
    name: "a message keeps hosts with a port",
    edits: [
      gateway(
        "upstreams/http/scrub.ts",
        "return hasPort(name, rest) ? ADDRESS : run;",
        "return hasPort(name, rest) && isAddress(name) ? ADDRESS : run;",
      ),
    ],
    noticedBy: { file: "test/gateway/refusals.test.ts", test: "leaves no address, path or key" },
  },
  {
    name: "a query parameter without a value is an empty value",
    edits: [
      {
        file: "src/transport/rest/read-request.ts",
        find: 'plan === undefined || value === ""',
        replace: "plan === undefined",
      },
    ],
    noticedBy: { file: "test/app/clients/transfers.test.ts", test: "is listed newest first" },
  },
];
