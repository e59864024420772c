// Which room may import which. A new arrow is added here, in the same commit as the import that needs it and with its
// reason in the commit message.

const topics = [
  "catalog",
  "keys",
  "billing",
  "gateway",
  "merchant",
  "status",
  "identity",
  "operator/audit-log",
  "operator",
] as const;

/**
 * The four tiers, from top to bottom, with their rooms. A room is a folder of `src/`; a folder that is named here apart from the
 * one around it is a room of its own. A room imports rooms of its own tier and of lower ones.
 */
export const tiers: Readonly<Record<string, readonly string[]>> = {
  programs: [
    "main.js",
    "app/process",
    "commands",
    "app/compose",
    "app/demo",
    "app/observability",
    "app/config",
    "transport/server",
    "transport/openapi",
    "transport/web",
    "transport/rest",
    "transport/grpc",
    "transport/http",
    "transport/calls",
    "dashboard",
    "agents",
    "client",
    "docs",
  ],
  topics,
  ledger: ["ledger"],
  platform: ["callbacks", "cells", "database", "outbound", "workers", "kernel"],
};

/** What commands and the composition may import: every topic and all below, but nothing of how background work is run. */
const belowTransport = ["kernel", "database", "callbacks", "ledger", ...topics] as const;

/**
 * For each room what it may import, or read by a path, besides its own files: a room, or one file of a room. Packages are not
 * listed. No room reaches itself by these arrows, types included.
 */
export const mayImport: Readonly<Record<string, readonly string[]>> = {
  "main.js": ["app/process/process.ts"],
  // `serve`, or a command: the process is above both.
  "app/process": [
    "app/compose",
    "app/config",
    "app/demo",
    "app/observability",
    "commands",
    "transport/server",
    "billing",
    "database",
    "identity",
    "kernel",
  ],
  // The operator's command line composes rooms as the server does, and opens the database in the same way.
  commands: ["app/compose", "app/config", "app/demo", ...belowTransport],
  "app/compose": [
    "app/config",
    "app/demo",
    "app/observability",
    "agents/package.ts",
    "transport/server",
    "transport/web",
    "transport/rest",
    "transport/grpc",
    "transport/http",
    "transport/calls",
    ...belowTransport,
    "cells",
    "workers",
  ],
  // What makes up data goes through the use cases that serve callers.
  "app/demo": [...belowTransport],
  "app/observability": ["app/config", "transport/grpc", "database", "gateway", "kernel", "ledger", "workers"],
  "app/config": ["kernel"],

  "transport/server": [
    "transport/web",
    "transport/rest",
    "transport/grpc",
    "transport/http",
    "transport/calls",
    "gateway",
    "identity",
    "kernel",
    "keys",
  ],
  "transport/openapi": ["transport/rest", "transport/calls", "kernel"],
  // The documentation is read as text.
  "transport/web": [
    "transport/rest",
    "transport/http",
    "transport/calls",
    "docs",
    "billing",
    "catalog",
    "identity",
    "kernel",
  ],
  // REST callers pass the same authentication, authorisation and error facts as RPC callers.
  "transport/rest": ["transport/http", "transport/calls", "gateway", "identity", "kernel", "keys", "merchant"],
  "transport/grpc": ["transport/http", "transport/calls", "identity/client-network.ts", "kernel"],
  "transport/http": ["transport/calls", "identity", "kernel"],
  // A database that is away is "busy" to a caller, whichever room met it: the database names the errors that mean so.
  "transport/calls": ["database/record-change.ts", "database/transactions.ts", "identity", "kernel", "keys"],
  dashboard: ["docs"],
  // Its version is that of the gateway that serves it.
  agents: ["kernel/version.ts"],
  client: [],
  docs: [],

  // What operators order spans the topics, and each order is recorded in its own transaction: the command line and the services
  // call the same code here. No topic knows of it, but for the log that it is recorded in.
  operator: [
    "operator/audit-log",
    "kernel",
    "database",
    "callbacks",
    "ledger",
    "identity",
    "catalog",
    "keys",
    "billing",
    "merchant",
    // How upstreams do and what was found out of them and their models is the gateway's to describe, and which variable adds one.
    "gateway/upstreams/upstream-figures.ts",
    "gateway/upstreams/upstream-marks.ts",
    "gateway/upstreams/learned-models.ts",
    "gateway/upstreams/presets.ts",
  ],
  "operator/audit-log": ["kernel", "database"],
  // The composition binds the records of other topics to it.
  status: ["kernel"],
  // The jobs of a topic are background work, which workers/ runs.
  gateway: ["kernel", "database", "outbound", "workers", "ledger", "catalog", "keys", "billing"],
  merchant: ["kernel", "database", "outbound", "callbacks", "workers", "ledger", "identity/principal.ts"],
  billing: ["kernel", "database", "callbacks", "workers", "ledger", "catalog"],
  identity: ["kernel", "database", "workers", "operator/audit-log"],
  catalog: ["kernel", "database", "outbound"],
  // Keys are counted behind the lock of their account.
  keys: ["kernel", "database", "ledger"],
  // Recovery and the audit are the ledger's own work, done at intervals.
  ledger: ["kernel", "database", "workers"],
  database: ["kernel"],
  outbound: ["kernel"],
  // Deliveries are rows, and what they are about and to whom is the business of topics.
  callbacks: ["kernel", "database", "outbound"],
  workers: ["kernel"],
  cells: ["kernel"],
  kernel: [],
};

/**
 * The files outside the transports and the adapters of upstreams that know how something is written on a wire, each with the
 * reason: those of the gateway read what upstreams send, or have the codes that a protocol puts into an event of its own.
 */
export const wireFiles: Readonly<Record<string, string>> = {
  "src/kernel/http-status.ts": "the status of each code: REST answers it, and records of failed requests show it",
  "src/gateway/stream/sse.ts": "reads the frames that upstreams send",
  "src/gateway/formats/chat/chunk.ts": "reads the end of a chat stream",
  "src/gateway/conversation/chat/stream-error.ts": "names the error that a chat stream ends with",
  "src/gateway/conversation/gemini/error-body.ts": "names the error that a Gemini stream ends with",
  "src/gateway/conversation/responses/failure-code.ts": "names the failure that a response has",
  "src/billing/payments/provider-client.ts": "calls payment providers",
  "src/billing/payments/midtrans/midtrans-provider.ts": "reads how Midtrans answers",
  "src/identity/passwords/breached-passwords.ts": "calls the list of breached passwords",
  "src/identity/sign-in/auth-answer.ts": "reads better-auth, which answers in HTTP",
  "src/identity/sign-in/sign-in.ts": "adds cookies to what better-auth answers",
  "src/callbacks/send-callback.ts": "calls receivers of callbacks",
};
/** Rooms whose work is a wire: transports, and programs that call Saldo over HTTP. */
export const wireRooms: readonly string[] = ["transport", "dashboard", "client", "agents"];

/** Who may import the generated contracts: whole rooms. */
export const mayImportContracts: readonly string[] = [
  "transport/calls",
  "transport/grpc",
  "transport/rest",
  "transport/openapi",
  "dashboard",
  "client",
];

/**
 * In every room the files that translate: `service.ts`, `…-service.ts` where a room has a second service, and `proto-….ts`
 * where a service's messages fill a file.
 */
export const translatingFile = /^(([a-z]+-)*service|proto-[a-z-]+)\.ts$/;

/** The only files that read the environment; saldo-agents is a program of its own, on the machines of customers. */
export const environmentReaders: readonly string[] = ["src/app/config/config.ts", "src/agents/main.ts"];

/** Files that load a package by `require`: viem is loaded by the first address, and the binaries' package resolves another one. */
export const packageLoaders: readonly string[] = [
  "src/merchant/addresses/evm.ts",
  "src/database/embedded/postgres-binaries.ts",
  "src/billing/documents/draw-document.ts",
];

/** Names that do not describe what is inside. */
export const emptyNames: readonly string[] = [
  "util",
  "utils",
  "helper",
  "helpers",
  "manager",
  "types",
  "common",
  "misc",
];

/** A file longer than this probably has a second subject: it is named as a hint. */
export const LONG_LINES = 300;
/** A file longer than this has one. Nothing is cut only to stay below the first number. */
export const MAX_LINES = 500;

/** What may lie in the root of the repository besides dotfiles. */
export const rootEntries: readonly string[] = [
  "package.json",
  "package-lock.json",
  "tsconfig.json",
  "buf.yaml",
  "buf.gen.yaml",
  "LICENSE",
  "README.md",
  "proto",
  "gen",
  "src",
  "openapi",
  // Dockerfile, manifests and the unit, where operators look for them.
  "deploy",
  "test",
];
