// Which room owns which table, and who else may name it in SQL. A table is changed by its room's code alone, but for the grants.

/** The tables and views of each room. */
export const tableOwners: Readonly<Record<string, readonly string[]>> = {
  ledger: [
    "account",
    "hold",
    "posting",
    "ledger_entries",
    "usage_record",
    "usage_record_default",
    "late_usage",
    "receivable",
    "merchant_fund",
    "process",
    "admission_switch",
    "audit_checkpoint",
    "audit_run",
  ],
  keys: ["api_key", "caller_window", "member_budget"],
  gateway: ["idempotency_key", "kept_answer", "upstream_minute", "upstream_mark", "learned_model"],
  catalog: ["catalog_upstream", "catalog_model", "catalog_change", "catalog_version"],
  billing: [
    "top_up",
    "payment_event",
    "payment_dispute",
    "sandbox_payment",
    "sandbox_provider",
    "usage_roll_up",
    "usage_rolled_up",
    "low_balance_alert",
    "alert_settings",
    "alert_event",
    "webhook_settings",
    "webhook_delivery",
    "webhook_attempt",
    "operator_setting",
    "proof_window",
    "account_seal",
    "proof_root",
    "proof_sent",
    "receipt",
    "receipt_series",
    "receipt_buyer",
  ],
  merchant: [
    "merchant",
    "merchant_credential",
    "fee_schedule",
    "merchant_limit",
    "default_limit",
    "transfer",
    "transfer_event",
    "callback_settings",
    "callback_delivery",
    "callback_attempt",
    "wallet",
    "wallet_day",
    "payout",
    "payout_attempt",
    "payout_stop",
    "payout_journal",
    "payout_lost_attempt",
    "sandbox_transaction",
    "sandbox_wallet",
  ],
  identity: [
    "customer",
    "account_member",
    "account_invite",
    "account_activity",
    "service_token",
    "auth.person",
    "auth.credential",
    "auth.session",
    "auth.two_factor",
    "auth.passkey",
    "auth.verification",
    "auth.throttle",
    "auth.operator_invite",
    "auth.signing_secret",
    "auth.security_event",
  ],
  operator: ["operator_action", "operator_order", "ordered_alone"],
  database: ["schema_change", "schema_function", "database_purpose", "secret_state"],
};

/** Functions of the database by the room that calls them; the others are the ledger's. */
export const functionOwners: Readonly<Record<string, string>> = {
  rate_window: "keys",
  key_budget: "keys",
  member_budget: "keys",
  take_caller_slot: "keys",
  security_log: "identity",
};

/** Files, by the beginning of their path below `src/`, that name tables of another room, and why. */
export type Grant = {
  readonly files: string;
  readonly tables: readonly string[];
  /** With "read", a statement that changes a row is refused. */
  readonly access: "read" | "change";
  readonly reason: string;
};

export const grants: readonly Grant[] = [
  {
    files: "ledger/group-commit/",
    tables: ["api_key"],
    access: "read",
    reason: "revocation, rate and balance are decided in one statement, under one order of locks",
  },
  {
    files: "database/functions/",
    tables: ["api_key", "idempotency_key", "member_budget"],
    access: "change",
    reason: "the same statement, as functions of the database",
  },
  {
    files: "keys/audit-keys.ts",
    tables: ["hold", "account"],
    access: "read",
    reason:
      "the audit compares what is held of a budget with the holds of its key, and how many budgets an account counts",
  },
  {
    files: "database/functions/member_budget.sql",
    tables: ["hold", "account"],
    access: "change",
    reason: "a new budget counts the open requests, and the account counts its budgets",
  },
  {
    files: "database/functions/take_caller_slot",
    tables: ["service_token", "merchant_credential"],
    access: "change",
    reason: "a caller's slot is taken together with the check of its credential",
  },
  {
    files: "database/functions/fill_fund_account",
    tables: ["merchant"],
    access: "read",
    reason: "processes of before 0003 open funds without their account; goes with the next contracting change",
  },
  {
    files: "database/functions/callback_log",
    tables: ["callback_delivery", "callback_attempt"],
    access: "change",
    reason: "the serving role deletes none itself: a function of the owner does, for transfers that have ended",
  },
  {
    files: "database/functions/callback_log",
    tables: ["transfer"],
    access: "read",
    reason: "the log of a transfer is kept until the transfer has ended",
  },
  {
    files: "ledger/late-usage.ts",
    tables: ["idempotency_key"],
    access: "change",
    reason: "a request that turns out free gives its key back in the same transaction",
  },
  {
    files: "billing/usage/",
    tables: ["account", "hold", "posting", "receivable", "usage_record", "late_usage", "audit_run"],
    access: "read",
    reason: "roll-ups, summaries and statements are read from the ledger's rows",
  },
  {
    files: "billing/statements/",
    tables: ["posting", "usage_record"],
    access: "read",
    reason: "statements of a month are sums of the ledger's rows",
  },
  {
    files: "billing/proof/",
    tables: ["account", "posting", "usage_record"],
    access: "read",
    reason: "seals and statements are made of the ledger's rows",
  },
  {
    files: "billing/usage/audit-records.ts",
    tables: ["api_key"],
    access: "read",
    reason: "the audit compares the key of a record with the keys of its account",
  },
  {
    files: "billing/audit-gifts.ts",
    tables: ["posting", "database_purpose"],
    access: "read",
    reason: "the audit compares what was given away with the settings, and with the purpose of the database",
  },
  {
    files: "operator/audit-postings.ts",
    tables: ["posting", "database_purpose"],
    access: "read",
    reason: "the audit compares what operators posted with their log",
  },
  {
    files: "billing/top-ups/",
    tables: ["posting", "receivable"],
    access: "read",
    reason: "lists of top-ups show what is owed of them, and their audit compares them with postings",
  },
  {
    files: "billing/alerts/decide-alerts.ts",
    tables: ["api_key", "usage_record"],
    access: "read",
    reason: "alerts are decided from what keys and accounts have spent",
  },
  {
    files: "billing/low-balance-alert.ts",
    tables: ["account"],
    access: "read",
    reason: "finds accounts by their balance",
  },
  {
    files: "merchant/transfers/audit-transfers.ts",
    tables: ["merchant_fund", "posting"],
    access: "read",
    reason: "the audit compares transfers with the ledger",
  },
  {
    files: "merchant/payouts/audit-payouts.ts",
    tables: ["posting"],
    access: "read",
    reason: "the audit compares payouts with the ledger",
  },
  {
    files: "merchant/",
    tables: ["account"],
    access: "read",
    reason: "transfers of a frozen account wait, and a merchant belongs to an account",
  },
  {
    files: "identity/expired-rows.ts",
    tables: ["caller_window"],
    access: "change",
    reason: "idle windows of callers are deleted with other expired rows of sign-in",
  },
  {
    files: "identity/session-proof.ts",
    tables: ["merchant"],
    access: "read",
    reason: "an owner of a production merchant needs a second factor",
  },
  { files: "identity/", tables: ["account"], access: "read", reason: "a person and a token belong to an account" },
  {
    files: "keys/retry-settings.ts",
    tables: ["account"],
    access: "change",
    reason: "whether answers are kept is read with the account at admission",
  },
  {
    files: "app/observability/database-watch.ts",
    tables: ["hold", "process", "usage_record_default"],
    access: "read",
    reason: "metrics of four tables are one statement",
  },
  {
    files: "app/demo/",
    tables: ["account", "posting", "merchant", "merchant_fund", "top_up"],
    access: "read",
    reason: "a demo's money is found by where it came from",
  },
  {
    files: "app/demo/seed/write-history.ts",
    tables: ["account", "api_key", "posting", "sandbox_payment", "top_up", "usage_record"],
    access: "change",
    reason: "a demo's past is written by a role of its own",
  },
  {
    files: "database/schema/adoption/",
    tables: ["posting"],
    access: "read",
    reason: "a database of 0.1 is taken over table by table",
  },
];

/** Files whose statements get the name of a table from elsewhere, and from where. */
export const insertedTables: Readonly<Record<string, string>> = {
  "app/demo/seed/write-history.ts": "rows of several tables are written by one statement",
  "callbacks/delivery-log.ts": "the tables of a kind of receivers, which its topic names",
  "callbacks/delivery-store.ts": "the same",
  "callbacks/settings-store.ts": "the same",
  "billing/proof/seal-store.ts": "the last seal of each account, by the statement of one",
  "database/secrets/secret-columns.ts": "columns that the rooms of their tables describe",
  "identity/expired-rows.ts": "a list of tables with their key and moment",
  "identity/sign-in/auth-tables.ts": "Better Auth names a model",
  "ledger/find-postings.ts": "postings, or those of one reference",
  "merchant/transfers/audit-pages.ts": "the callers' tables, which their own texts name",
  "merchant/transfers/transfer-search-store.ts": "a list of groups from parameters",
  "operator/second-person/carried-out-alone.ts": "entries from an array",
};
