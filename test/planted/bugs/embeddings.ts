// Guards of the bill of vectors, and of what is handed on of them.

import { gateway, type PlantedBug } from "../planted-bug.ts";

const answers = (test: string) => ({ file: "test/gateway/embeddings.test.ts", test });
const failures = (test: string) => ({ file: "test/gateway/embeddings-failures.test.ts", test });

/** Each with the test that must notice it. */
export const EMBEDDINGS_BUGS: readonly PlantedBug[] = [
  {
    name: "short texts hold their bytes alone",
    edits: [gateway("embeddings/plan-embeddings.ts", "input.bytes + TOKENS_AROUND_A_TEXT", "input.bytes")],
    noticedBy: answers("holds tokens as they are, and texts by their bytes"),
  },
  {
    name: "reported vectors may cost more than their hold",
    edits: [gateway("embeddings/plan-embeddings.ts", "inputBound: tokens,", "inputBound: tokens * 4,")],
    noticedBy: answers("is never more than the hold"),
  },
  {
    name: "output is billed that vectors do not have",
    edits: [gateway("metering/meter.ts", "if (bounds.output === 0) return exactly(NONE);", "")],
    noticedBy: answers("without usage counts token arrays exactly"),
  },
  {
    name: "vectors are shown in the upstream's encoding",
    edits: [gateway("embeddings/vectors.ts", "if (vector.encoding === asked) {", "if (asked !== undefined) {")],
    noticedBy: answers("base64 as numbers"),
  },
  {
    name: "an answer with too few vectors is billed",
    edits: [gateway("embeddings/vectors.ts", "return found === count ? vectors : null;", "return vectors;")],
    noticedBy: failures("nothing is shown and nothing is charged"),
  },
  {
    name: "an embeddings model answers chat",
    edits: [gateway("answer/serve.ts", "if (sold.kind !== kind)", 'if (sold.kind !== kind && kind !== "chat")')],
    noticedBy: failures("as chat, which an embeddings model does not answer"),
  },
];
