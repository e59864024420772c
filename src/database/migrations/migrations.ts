// The names can be read without a migration being loaded: a start that finds the schema up to date needs no migration, and
// with it no MikroORM.

/** Every migration in the order in which they run. A migration that has landed is never edited. */
export const migrations = [
  { name: "0001-ledger", load: async () => (await import("./0001-ledger.ts")).Migration0001Ledger },
  { name: "0002-accounts", load: async () => (await import("./0002-accounts.ts")).Migration0002Accounts },
  { name: "0003-catalog", load: async () => (await import("./0003-catalog.ts")).Migration0003Catalog },
  { name: "0004-merchant", load: async () => (await import("./0004-merchant.ts")).Migration0004Merchant },
  { name: "0006-hidden-output", load: async () => (await import("./0006-hidden-output.ts")).Migration0006HiddenOutput },
  { name: "0007-operation", load: async () => (await import("./0007-operation.ts")).Migration0007Operation },
  {
    name: "0009-account-limits",
    load: async () => (await import("./0009-account-limits.ts")).Migration0009AccountLimits,
  },
  {
    name: "0010-forget-processes",
    load: async () => (await import("./0010-forget-processes.ts")).Migration0010ForgetProcesses,
  },
  { name: "0011-people", load: async () => (await import("./0011-people.ts")).Migration0011People },
  { name: "0012-top-ups", load: async () => (await import("./0012-top-ups.ts")).Migration0012TopUps },
  {
    name: "0013-usage-roll-up",
    load: async () => (await import("./0013-usage-roll-up.ts")).Migration0013UsageRollUp,
  },
  { name: "0014-operator", load: async () => (await import("./0014-operator.ts")).Migration0014Operator },
  { name: "0015-transfers", load: async () => (await import("./0015-transfers.ts")).Migration0015Transfers },
  { name: "0016-payouts", load: async () => (await import("./0016-payouts.ts")).Migration0016Payouts },
  { name: "0017-callbacks", load: async () => (await import("./0017-callbacks.ts")).Migration0017Callbacks },
  { name: "0018-playground", load: async () => (await import("./0018-playground.ts")).Migration0018Playground },
  {
    name: "0019-transfer-names",
    load: async () => (await import("./0019-transfer-names.ts")).Migration0019TransferNames,
  },
  {
    name: "0020-transfer-lists",
    load: async () => (await import("./0020-transfer-lists.ts")).Migration0020TransferLists,
  },
  { name: "0021-disputes", load: async () => (await import("./0021-disputes.ts")).Migration0021Disputes },
  { name: "0022-rare-rows", load: async () => (await import("./0022-rare-rows.ts")).Migration0022RareRows },
  {
    name: "0023-lists-by-place",
    load: async () => (await import("./0023-lists-by-place.ts")).Migration0023ListsByPlace,
  },
  { name: "0024-true-bills", load: async () => (await import("./0024-true-bills.ts")).Migration0024TrueBills },
  {
    name: "0025-idempotency",
    load: async () => (await import("./0025-idempotency.ts")).Migration0025Idempotency,
  },
  {
    name: "0026-learned-facts",
    load: async () => (await import("./0026-learned-facts.ts")).Migration0026LearnedFacts,
  },
  { name: "0027-late-usage", load: async () => (await import("./0027-late-usage.ts")).Migration0027LateUsage },
  { name: "0028-owed", load: async () => (await import("./0028-owed.ts")).Migration0028Owed },
  { name: "0029-usage-kinds", load: async () => (await import("./0029-usage-kinds.ts")).Migration0029UsageKinds },
  { name: "0030-limits", load: async () => (await import("./0030-limits.ts")).Migration0030Limits },
  {
    name: "0031-second-factor",
    load: async () => (await import("./0031-second-factor.ts")).Migration0031SecondFactor,
  },
  {
    name: "0032-second-person",
    load: async () => (await import("./0032-second-person.ts")).Migration0032SecondPerson,
  },
  { name: "0033-purpose", load: async () => (await import("./0033-purpose.ts")).Migration0033Purpose },
  {
    name: "0034-ordered-alone",
    load: async () => (await import("./0034-ordered-alone.ts")).Migration0034OrderedAlone,
  },
  { name: "0035-tier-writes", load: async () => (await import("./0035-tier-writes.ts")).Migration0035TierWrites },
  {
    name: "0036-kept-security-log",
    load: async () => (await import("./0036-kept-security-log.ts")).Migration0036KeptSecurityLog,
  },
];
