// Guards of traces: who decides about them, and what may leave with them.

import type { PlantedBug } from "../planted-bug.ts";

const traces = "src/app/observability/traces.ts";

/** Each with the test that must notice it. */
export const TRACE_BUGS: readonly PlantedBug[] = [
  {
    name: "any caller decides whether its call is sampled",
    edits: [
      { file: traces, find: "const isTrusted = settings.trusts.has(call.port);", replace: "const isTrusted = true;" },
    ],
    noticedBy: { file: "src/app/observability/traces.test.ts", test: "cannot have its calls sampled" },
  },
  {
    name: "a call that is not sampled is traced",
    edits: [{ file: traces, find: "if (!isSampled) return null;", replace: "" }],
    noticedBy: {
      file: "src/app/observability/traces.test.ts",
      test: "is sampled by the share without a trace of its own",
    },
  },
];
