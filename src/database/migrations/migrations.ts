// The changes of the schema, in the order in which they are applied. README.md describes how one is written.

/** A change of the schema: the file `<number>-<name>.sql` beside this one, or the folder of that name for the baseline. */
export type Migration = {
  readonly number: number;
  readonly name: string;
  /** The number of the newest change that code must know to run on the schema from here on; its own number: no older code may. */
  readonly oldestCode: number;
  /** Files of functions that the change uses, such as those of its triggers: they are applied before it. */
  readonly uses?: readonly string[];
  /** The file is one `CREATE INDEX CONCURRENTLY`, which runs outside a transaction and does not block writes. */
  readonly concurrent?: boolean;
};

/** What a start brings a database to: changes and functions, and the folders their files lie in. */
export type SchemaCode = {
  readonly migrations: readonly Migration[];
  readonly migrationsFolder: URL;
  readonly functionsFolder: URL;
};

/** What runs with the rights of `saldo_ledger`. */
const REQUEST_FUNCTIONS = [
  "admit_request",
  "admit_request_once",
  "commit_requests",
  "lock_accounts",
  "post_late_usage",
  "settle_request",
];

/** This code's. A change that has landed on a branch others use is never edited. */
export const schemaCode: SchemaCode = {
  migrations: [
    { number: 1, name: "baseline", oldestCode: 1 },
    { number: 2, name: "kept-security-log", oldestCode: 1, uses: ["security_log"] },
    { number: 3, name: "fund-account", oldestCode: 1, uses: ["fill_fund_account"] },
    { number: 4, name: "seed-role", oldestCode: 1 },
    { number: 5, name: "model-kind", oldestCode: 1 },
    { number: 6, name: "model-accepts", oldestCode: 1 },
    { number: 7, name: "upstream-tier", oldestCode: 1 },
    { number: 8, name: "key-limits", oldestCode: 1 },
    { number: 9, name: "secret-state", oldestCode: 1 },
    { number: 10, name: "payout-journal", oldestCode: 1 },
    { number: 11, name: "account-members", oldestCode: 1 },
    { number: 12, name: "payout-books", oldestCode: 1 },
    { number: 13, name: "proof", oldestCode: 1 },
    { number: 14, name: "posting-late", oldestCode: 1, concurrent: true },
    { number: 15, name: "key-networks", oldestCode: 1 },
    { number: 16, name: "key-tokens", oldestCode: 1 },
    { number: 17, name: "credential-person", oldestCode: 1 },
    { number: 18, name: "receipts", oldestCode: 1 },
    { number: 19, name: "unreceipted", oldestCode: 1, concurrent: true },
    { number: 20, name: "callback-log", oldestCode: 1, uses: ["callback_log"] },
    { number: 21, name: "alerts", oldestCode: 1 },
    { number: 22, name: "member-budgets", oldestCode: 1 },
    { number: 23, name: "auto-top-up", oldestCode: 1 },
    { number: 24, name: "one-automatic-order", oldestCode: 1, concurrent: true },
    { number: 25, name: "budgets-at-once", oldestCode: 1 },
    { number: 26, name: "process-code", oldestCode: 1, uses: ["oldest_code"] },
    { number: 27, name: "serving-columns", oldestCode: 1 },
    { number: 28, name: "proof-tree", oldestCode: 1 },
    { number: 29, name: "seals-of-window", oldestCode: 1, concurrent: true },
    { number: 30, name: "house-late", oldestCode: 1, concurrent: true },
    { number: 31, name: "webhook-log", oldestCode: 1, uses: ["webhook_log"] },
    { number: 32, name: "auto-top-up-waits", oldestCode: 1 },
    { number: 33, name: "one-open-automatic", oldestCode: 1, concurrent: true },
    { number: 34, name: "automatic-review", oldestCode: 1 },
    { number: 35, name: "received-invites", oldestCode: 1, concurrent: true },
    { number: 36, name: "lost-transfers", oldestCode: 1 },
    { number: 37, name: "open-folds", oldestCode: 1 },
    { number: 38, name: "open-accounts", oldestCode: 1, concurrent: true },
    { number: 39, name: "request-role", oldestCode: 1, uses: REQUEST_FUNCTIONS },
    { number: 40, name: "no-future-ids", oldestCode: 1, uses: ["request_time"] },
    { number: 41, name: "usage-archive", oldestCode: 1 },
    { number: 42, name: "used-up-budgets", oldestCode: 1 },
    { number: 43, name: "archived-ids", oldestCode: 1, uses: ["archived_ids"] },
    { number: 44, name: "account-cell", oldestCode: 1 },
    { number: 45, name: "accounts-elsewhere", oldestCode: 1, concurrent: true },
    { number: 46, name: "elsewhere-empty", oldestCode: 1 },
    { number: 47, name: "budget-zone", oldestCode: 1 },
  ],
  migrationsFolder: new URL("./", import.meta.url),
  functionsFolder: new URL("../functions/", import.meta.url),
};

/** The newest change that this code knows: a process registers with it. */
export const CODE_NUMBER = schemaCode.migrations.at(-1)?.number ?? 0;

/** What a change is called in logs and errors. */
export function labelOf({ number, name }: Pick<Migration, "number" | "name">): string {
  return `${String(number).padStart(4, "0")}-${name}`;
}
