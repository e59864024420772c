// Which room may import which. A new arrow is added here, in the same commit as the import that needs it and with its
// reason in the commit message.

const topics = ["accounts", "catalog", "keys", "billing", "gateway", "merchant"] as const;
const serverRooms = [
  "kernel",
  "database",
  "ledger",
  ...topics,
  "rpc",
  "facade",
  "workers",
  "operator",
  "commands",
] as const;

/**
 * For each room, or file that lies directly in `src/`, what it may import besides its own files: a room, or one file of a
 * room. Packages are not listed.
 */
export const mayImport: Readonly<Record<string, readonly string[]>> = {
  kernel: [],
  database: ["kernel"],
  ledger: ["kernel", "database"],
  accounts: ["kernel", "database"],
  catalog: ["kernel", "database"],
  keys: ["kernel", "database"],
  billing: ["kernel", "database", "ledger", "catalog"],
  gateway: ["kernel", "database", "ledger", "catalog", "keys", "billing"],
  merchant: ["kernel", "database", "ledger", "accounts/principal.ts"],
  // A database that is away is "busy" to a caller, whichever room met it: the door of the database tells which errors mean so.
  rpc: ["kernel", "database/transactions.ts", ...topics],
  // REST callers pass the same authentication, authorisation and error facts as RPC callers.
  facade: ["kernel", "rpc", ...topics],
  // Recovery and the audit are the ledger's own work, done at intervals.
  workers: ["kernel", "database", "ledger", ...topics],
  // What operators order spans the topics, and each order is written down in its own transaction: both doors of an operator,
  // the command line and OperatorService, call the orders here. No topic knows of it.
  operator: [
    "kernel",
    "database",
    "ledger",
    "accounts",
    "catalog",
    "keys",
    "billing",
    "merchant",
    // How upstreams do is the gateway's to tell, and which variable would add one.
    "gateway/upstream-figures.ts",
    "gateway/upstreams/presets.ts",
  ],
  // The operator's command line composes rooms as the server does, and opens the database in the same way.
  commands: ["config.ts", "app.ts", ...serverRooms],
  agents: [],
  dashboard: [],
  "config.ts": ["kernel"],
  // app.ts and its parts, the files app-….ts.
  "app.ts": ["config.ts", "agents/package.ts", ...serverRooms],
  "main.js": ["app.ts"],
  "client.ts": [],
};

/** Who may import the generated contracts: whole rooms and files in `src/`. */
export const mayImportContracts: readonly string[] = ["rpc", "facade", "dashboard", "client.ts"];

/**
 * In every room the files that translate: `service.ts`, `…-service.ts` where a room has a second service, and `proto-….ts`
 * where a service's messages fill a file.
 */
export const translatingFile = /^(([a-z]+-)?service|proto-[a-z-]+)\.ts$/;

/** The only files that read the environment; saldo-agents is a program of its own, on the machines of customers. */
export const environmentReaders: readonly string[] = ["src/config.ts", "src/agents/main.ts"];

/** Names that say nothing about what is inside. */
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

/** A file longer than this has a second subject. */
export const MAX_LINES = 300;

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
  "test",
];
