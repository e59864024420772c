// Bounds on callers: windows, pools, scopes, and what the security log may cost.

import type { PlantedBug } from "../planted-bug.ts";

/** Each with the test that must notice it. */
export const LIMIT_BUGS: readonly PlantedBug[] = [
  {
    name: "counts of tokens have no bound on their calls",
    edits: [
      {
        file: "src/gateway/conversation/count-window.ts",
        find: "if (retryAfterSeconds > 0) throw",
        replace: "if (retryAfterSeconds > 60) throw",
      },
    ],
    noticedBy: { file: "test/transport/rest/free-calls.test.ts", test: "is free 300 times a minute" },
  },
  {
    name: "the bytes of a count take some of its calls",
    edits: [
      {
        file: "src/gateway/conversation/count-window.ts",
        find: "refuseFor(bytes.take(keyId, size));",
        replace: "refuseFor(Math.max(bytes.take(keyId, size), calls.take(keyId, size >> 14)));",
      },
    ],
    noticedBy: { file: "test/transport/rest/free-calls.test.ts", test: "is free 300 times a minute" },
  },
  {
    name: "a key whose counted bytes are used up has its bodies read",
    edits: [
      {
        file: "src/gateway/conversation/count-window.ts",
        find: "refuseFor(bytes.waitOf(keyId));",
        replace: "",
      },
    ],
    noticedBy: { file: "test/transport/rest/free-calls.test.ts", test: "is refused where many bytes were counted" },
  },
  {
    name: "a network may ask without a key as often as it likes",
    edits: [
      {
        file: "src/transport/server/hello.ts",
        find: "if (waitSeconds > 0) throw new TooManyRequests(waitSeconds);",
        replace: "",
      },
    ],
    noticedBy: { file: "test/transport/rest/free-calls.test.ts", test: "is answered 300 times a minute" },
  },
  {
    name: "keys are looked up over everybody's connections",
    edits: [
      {
        file: "src/app/compose/gateway.ts",
        find: "const keys = createKeys({ database: requests });",
        replace: "const keys = createKeys({ database });",
      },
    ],
    noticedBy: { file: "test/app/request-pool.test.ts", test: "a chat request is answered while" },
  },
  {
    name: "a flood of refusals is written row by row",
    edits: [
      {
        file: "src/identity/security-log.ts",
        find: 'if (minute[outcome] >= (outcome === "refused" ? REFUSALS_A_MINUTE : SUCCESSES_A_MINUTE)) return false;',
        replace: "",
      },
    ],
    noticedBy: { file: "test/identity/security-log.test.ts", test: "a flood of refusals writes a bounded number" },
  },
  {
    name: "a caller's window is counted before its row is locked",
    edits: [
      {
        file: "src/database/functions/take_caller_slot.sql",
        find: "FROM caller_window w WHERE w.caller = caller_id FOR NO KEY UPDATE;",
        replace: "FROM caller_window w WHERE w.caller = caller_id;",
      },
    ],
    noticedBy: { file: "test/keys/caller-windows.test.ts", test: "several nodes together let in" },
  },
  {
    name: "a revoked pair is taken as long as a process remembers it",
    edits: [
      {
        file: "src/database/functions/take_caller_slot.sql",
        find: "PERFORM FROM merchant_credential c WHERE c.id = caller_id AND c.revoked_at IS NULL;",
        replace: "PERFORM FROM merchant_credential c WHERE c.id = caller_id;",
      },
    ],
    noticedBy: { file: "test/keys/caller-windows.test.ts", test: "a pair or token that was revoked" },
  },
  {
    name: "an order goes through beside the revocation of its pair",
    edits: [
      {
        file: "src/merchant/transfers/order-guards.ts",
        find: "revoked_at IS NULL FOR SHARE`",
        replace: "revoked_at IS NULL`",
      },
    ],
    noticedBy: { file: "test/merchant/order-guards.test.ts", test: "a revocation returns only when" },
  },
  {
    name: "a neighbour who guesses shuts everybody out",
    edits: [
      {
        file: "src/transport/calls/refused-credentials.ts",
        find: "else if (!hasWorked[kind](secret)) throw",
        replace: "else throw",
      },
    ],
    noticedBy: { file: "test/security/rates.test.ts", test: "refuse no caller whose key has worked" },
  },
  {
    name: "a service token does whatever services may",
    edits: [
      {
        file: "src/transport/calls/authorise.ts",
        find: "if (scope === null || !scopes.includes(scope)) throw",
        replace: "if (scope === null) throw",
      },
    ],
    noticedBy: { file: "test/security/callers.test.ts", test: "each method takes exactly" },
  },
  {
    name: "a service token never ends",
    edits: [
      {
        file: "src/identity/service-token-store.ts",
        find: "AND revoked_at IS NULL AND expires_at > clock_timestamp()`",
        replace: "AND revoked_at IS NULL`",
      },
    ],
    noticedBy: { file: "test/identity/service-tokens.test.ts", test: "a token ends after the days it was given" },
  },
];
