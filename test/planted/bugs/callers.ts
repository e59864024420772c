// Guards of who may call, and of what a caller may claim to be.

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
    name: "what sign-ins leave behind is removed slower than an attack makes it",
    edits: [identity("expired-rows.ts", "batch < MOST_BATCHES", "batch < 1")],
    noticedBy: people("forgets in a round more than an attack leaves behind"),
  },
  {
    name: "production takes keys and cookies in clear beyond its own machine",
    edits: [
      {
        file: "src/app/config/safety.ts",
        find: "httpTls === null && !isLoopbackHost(host),",
        replace: "httpTls === null && publicUrl !== null && !isLoopbackHost(host),",
      },
    ],
    noticedBy: { file: "src/app/config/safety.test.ts", test: "refuses production unencrypted " },
  },
  {
    name: "merchants may have any host called that ends like a listed one",
    edits: [
      {
        file: "src/callbacks/callback-url.ts",
        find: "host.endsWith(pattern.slice(1))",
        replace: "host.endsWith(pattern.slice(2))",
      },
    ],
    noticedBy: {
      file: "src/callbacks/callback-url.test.ts",
      test: "is on a host of the list, where there is one",
    },
  },
  {
    name: "every worker has the keys of wallets",
    edits: [
      {
        file: "src/app/process/primary.ts",
        find: "number === WORKS_FOR_NODE ? config.variables() : withoutKeys;",
        replace: "number > 0 ? config.variables() : withoutKeys;",
      },
    ],
    noticedBy: {
      file: "test/app/hidden-settings.test.ts",
      test: "gives the keys of wallets to the one worker that pays, and their addresses to the others",
    },
  },
  {
    name: "workers keep the secrets in their environment",
    edits: [
      {
        file: "src/app/process/worker.ts",
        find: "const config = takeConfig();",
        replace: "const config = readConfig();",
      },
      { file: "src/app/process/worker.ts", find: "import { takeConfig }", replace: "import { readConfig }" },
    ],
    noticedBy: { file: "test/app/hidden-settings.test.ts", test: "workers, which work all the same" },
  },
  {
    name: "a second factor is required of operators alone, whatever the setting says",
    edits: [
      {
        file: "src/identity/session-proof.ts",
        find: "((${forAll} OR p.is_operator OR",
        replace: "((${forAll} AND p.is_operator OR p.is_operator OR",
      },
    ],
    noticedBy: {
      file: "test/identity/factor-for-all.test.ts",
      test: "a customer without one reaches the own settings alone, and signs in by two factors from then on",
    },
  },
  {
    name: "one customer of a provider has sessions of each address of an IPv6 network",
    edits: [
      {
        file: "src/transport/grpc/http2-bounds.ts",
        find: 'networkOf(session.socket.remoteAddress ?? "");',
        replace: 'networkOf("") && (session.socket.remoteAddress ?? "");',
      },
    ],
    noticedBy: { file: "test/transport/rpc/http2-bounds.test.ts", test: "are counted by network" },
  },
  {
    name: "the HTTP port ignores its certificate",
    edits: [
      {
        file: "src/transport/server/http-server.ts",
        find: "const { intake, tls = null } = options;",
        replace: "const { intake } = options;\n  const tls = null as TlsFiles | null;",
      },
    ],
    noticedBy: {
      file: "test/transport/http/http-tls.test.ts",
      test: "answers over TLS and asks browsers to use nothing else",
    },
  },
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
    noticedBy: {
      file: "test/transport/rpc/long-streams.test.ts",
      test: "a service whose token is revoked reads no further",
    },
  },
  {
    name: "a port that a proxy hands on makes each connection a network of its own",
    edits: [
      {
        file: "src/kernel/ip-networks.ts",
        find: "const address = withoutPort(written).replace",
        replace: "const address = written.replace",
      },
    ],
    noticedBy: { file: "src/identity/client-network.test.ts", test: "counts " },
  },
  {
    name: "an IPv4 address that is written as an IPv6 one counts apart",
    edits: [
      {
        file: "src/kernel/ip-networks.ts",
        find: "return mappedIpv4(address) ?? address;",
        replace: "return address;",
      },
    ],
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
    noticedBy: callers("over REST each route takes exactly the callers its method names"),
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
        find: "return cookies === null || !isSameOrigin(request) ? credentials",
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
    name: "a claimed address is signed in",
    edits: [identity("people-store.ts", "AND ${IS_ALIVE} AND p.email_verified`", "AND ${IS_ALIVE}`")],
    noticedBy: people("gives no account for an address that is only claimed"),
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
    name: "connections that never agree on TLS are not bounded",
    edits: [
      {
        file: "src/transport/grpc/http2-bounds.ts",
        find: "server.maxConnections = CONNECTIONS_PER_SESSION * bounds.maxSessions;",
        replace: "",
      },
    ],
    noticedBy: {
      file: "test/transport/rpc/grpc-tls.test.ts",
      test: "bounds the connections that have not agreed on TLS yet",
    },
  },
  {
    name: "files of a certificate that cannot be looked at end the process",
    edits: [
      {
        file: "src/transport/http/tls-files.ts",
        find: "const timer = setInterval(() => { try { const now = changedAt(files);",
        replace: "const timer = setInterval(() => { const now = changedAt(files); try {",
      },
    ],
    noticedBy: {
      file: "src/transport/http/tls-files.test.ts",
      test: "keeps the former certificate while the files cannot be looked at, and uses the new one afterwards",
    },
  },
  {
    name: "an empty file counts as a setting that is not set",
    edits: [
      {
        file: "src/app/config/environment.ts",
        find: 'if (value === "") throw new ConfigError(`${name}_FILE names an empty file`);',
        replace: "",
      },
    ],
    noticedBy: {
      file: "src/app/config/environment.test.ts",
      test: "reads a setting from the file that NAME_FILE names, as a vault writes it",
    },
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
