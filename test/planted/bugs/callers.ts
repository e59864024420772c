// Guards of who may call, and of what somebody may claim to be.

import type { Edit, PlantedBug } from "../planted-bug.ts";

const identity = (file: string, find: string, replace: string): Edit => ({
  file: `src/identity/${file}`,
  find,
  replace,
});
const people = (test: string) => ({ file: "test/identity/people.test.ts", test });
const callers = (test: string) => ({ file: "test/security/callers.test.ts", test });
const machines = (test: string) => ({ file: "test/security/machines.test.ts", test });
const machineOrders = (test: string) => ({ file: "test/security/machine-orders.test.ts", test });
const ON_ITS_ROW: Edit = {
  file: "src/database/functions/take_caller_slot.sql",
  find: "s.revoked_at IS NULL AND s.expires_at > clock_timestamp();",
  replace: "s.revoked_at IS NULL;",
};

/** Each with the test that must notice it. */
export const CALLER_BUGS: readonly PlantedBug[] = [
  {
    name: "a stream goes on though its caller's token was revoked",
    edits: [
      { file: "src/transport/calls/interceptors.ts", find: "    recheckCallers(authenticated),\n", replace: "" },
      {
        file: "src/transport/calls/interceptors.ts",
        find: 'import { recheckCallers } from "./recheck-callers.ts";\n',
        replace: "",
      },
    ],
    noticedBy: { file: "test/rpc/long-streams.test.ts", test: "a service whose token is revoked reads no further" },
  },
  {
    name: "a port that a proxy hands on makes each connection a network of its own",
    edits: [
      identity("client-network.ts", "const plain = withoutPort(address).replace", "const plain = address.replace"),
    ],
    noticedBy: { file: "src/identity/client-network.test.ts", test: "counts " },
  },
  {
    name: "an IPv4 address that is written as an IPv6 one counts apart",
    edits: [identity("client-network.ts", "if (mapped) return dotted", "if (mapped && isIPv4(plain)) return dotted")],
    noticedBy: { file: "src/identity/client-network.test.ts", test: "counts " },
  },
  {
    name: "a service may call whatever there is",
    edits: [
      {
        file: "src/transport/calls/authorise.ts",
        find: "if (allowed.has(callerOf[principal.kind])) {",
        replace: 'if (allowed.has(callerOf[principal.kind]) || principal.kind === "service") {',
      },
    ],
    noticedBy: callers("each method takes exactly the callers it names"),
  },
  {
    name: "a service's token of one account acts for any",
    edits: [
      {
        file: "src/transport/calls/authenticate.ts",
        find: "accountId === null ? await verifiers.accountExists(account) : accountId === account;",
        replace: "await verifiers.accountExists(account);",
      },
    ],
    noticedBy: callers("each method takes exactly the callers it names"),
  },
  {
    name: "a cookie counts whoever made the browser send it",
    edits: [
      {
        file: "src/transport/http/same-origin.ts",
        find: "return cookies === null || !isOwnSite(request) ? credentials",
        replace: "return cookies === null ? credentials",
      },
    ],
    noticedBy: callers("a cookie counts for nothing where another site may have sent it"),
  },
  {
    name: "a session lives on after its end",
    edits: [identity("people-store.ts", "s.expires_at > clock_timestamp() AND s.created_at", "s.created_at")],
    noticedBy: people("takes no session that"),
  },
  {
    name: "whoever claims an address is signed in",
    edits: [identity("people-store.ts", "AND ${IS_ALIVE} AND p.email_verified`", "AND ${IS_ALIVE}`")],
    noticedBy: people("gives no account to somebody who only says"),
  },
  {
    name: "a person's account is made without a lock",
    edits: [identity("people-store.ts", "WHERE id = $1::uuid FOR NO KEY UPDATE`", "WHERE id = $1::uuid`")],
    noticedBy: people("makes one account for a person"),
  },
  {
    name: "any scope of a service token is enough",
    edits: [
      {
        file: "src/transport/calls/authorise.ts",
        find: "if (scope === null || !scopes.includes(scope)) throw",
        replace: "if (scope === null || scopes.length === 0) throw",
      },
    ],
    noticedBy: machines("reaches a method with its one scope"),
  },
  {
    name: "a service token that has ended works as long as a process remembers it",
    edits: [ON_ITS_ROW],
    noticedBy: machines("reaches no method from the moment it ends"),
  },
  {
    name: "a service token never ends",
    edits: [
      ON_ITS_ROW,
      identity(
        "service-token-store.ts",
        "revoked_at IS NULL AND expires_at > clock_timestamp()`",
        "revoked_at IS NULL`",
      ),
    ],
    noticedBy: machines("reaches no method from the moment it ends"),
  },
  {
    name: "an order above the approval threshold waits for nobody",
    edits: [
      {
        file: "src/merchant/merchants/limits.ts",
        find: "return limits.approvalAbove !== null && amount > limits.approvalAbove;",
        replace: "return limits.approvalAbove !== null && amount > limits.approvalAbove * 2n;",
      },
    ],
    noticedBy: machineOrders("waits for an operator above the approval threshold"),
  },
];
