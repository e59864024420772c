// What of a request reaches the upstream: the bound that is held, and no name or field that changes the price unseen.

import { gateway, type PlantedBug } from "../planted-bug.ts";

/** Each with the test that must notice it. */
export const REQUEST_BUGS: readonly PlantedBug[] = [
  {
    name: "the bound on the output is not written",
    edits: [gateway("request/upstream-body.ts", "  setBound();", "  if (facts.outputBound < 0) setBound();")],
    noticedBy: { file: "test/gateway/output-bound.test.ts", test: "gets the bound there and nowhere else" },
  },
  {
    name: "the bound on the output is written, and a field that the upstream does not read stays",
    edits: [
      gateway(
        "request/upstream-body.ts",
        "if (longer !== undefined && shorter !== undefined) edits.push(",
        "if (longer === undefined && shorter !== undefined && longer !== kept && shorter !== kept) edits.push(",
      ),
    ],
    noticedBy: { file: "test/gateway/output-bound.test.ts", test: "both, of which the larger is held" },
  },
  {
    name: "a name that comes twice in a part is read as the last",
    edits: [gateway("request/read-json.ts", "countMembers(parsed) !== memberCount", "false")],
    noticedBy: {
      file: "test/gateway/requests.test.ts",
      test: "is never asked for where a name comes twice in one object: ",
    },
  },
  {
    name: "other capital names are accepted",
    edits: [
      gateway("request/known-names.ts", "if (folded === name || !known.has(folded)) return null;", "return null;"),
    ],
    noticedBy: {
      file: "src/gateway/request/read-request.test.ts",
      test: "which differs from a known one by case or a look-alike letter alone",
    },
  },
  {
    name: "cache writes that have no price go to a route that charges for them",
    edits: [
      gateway(
        "request/cache-marks.ts",
        "upstreams.get(upstream)?.chargesCacheWrites !== true",
        "upstreams.get(upstream) !== null",
      ),
    ],
    noticedBy: { file: "test/gateway/cache-writes.test.ts", test: "is refused by its field, without a hold" },
  },
  {
    name: "a chat request leaves the service tier to the provider's project",
    edits: [
      gateway("request/upstream-body.ts", "request.choosesTier || facts.takesServiceTier", "request.choosesTier"),
    ],
    noticedBy: {
      file: "test/gateway/service-tiers.test.ts",
      test: "names the standard one where the upstream knows it",
    },
  },
  {
    name: "a chat answer is kept in the account at the provider",
    edits: [
      { file: "src/gateway/request/upstream-body.ts", find: `["store", "false"],`, replace: `["store", "true"],` },
    ],
    noticedBy: { file: "src/gateway/request/upstream-body.test.ts", test: "keeps nothing at the provider" },
  },
  {
    name: "a provider is sent the name of a customer's person",
    edits: [
      {
        file: "src/gateway/embeddings/answer-embeddings.ts",
        find: `...(user === null ? {} : { user: userTag }),`,
        replace: `...(user === null ? {} : { user }),`,
      },
    ],
    noticedBy: { file: "test/gateway/embeddings.test.ts", test: "nothing but the known parameters" },
  },
  {
    name: "a fault of this service is recorded as one of an upstream",
    edits: [{ file: "src/kernel/errors.ts", find: `return "service_busy";`, replace: "return this.code;" }],
    noticedBy: { file: "test/gateway/slabs.test.ts", test: "fails with a busy service when the database stays away" },
  },
  {
    name: "a stream of Gemini over RPC shows each fault as a busy upstream",
    edits: [gateway("gemini-service.ts", "context.signal, { hasErrorEvents: false }", "context.signal")],
    noticedBy: {
      file: "test/gateway/gemini-service.test.ts",
      test: "fails with the fault that ended a stream of ours",
    },
  },
];
