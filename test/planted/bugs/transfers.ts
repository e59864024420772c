// Guards of merchants' transfers: the externalId, the fund's lock and hold, the replay, the capture.

import type { Edit, PlantedBug } from "../planted-bug.ts";

const merchant = (file: string, find: string, replace: string): Edit => ({
  file: `src/merchant/${file}`,
  find,
  replace,
});
const ledger = (file: string, find: string, replace: string): Edit => ({ file: `src/ledger/${file}`, find, replace });
const test = (file: string, name: string) => ({ file: `test/merchant/${file}.test.ts`, test: name });

const operator = (file: string, name: string) => ({ file: `test/operator/${file}.test.ts`, test: name });

/** Each with the test that must notice it. */
export const TRANSFER_BUGS: readonly PlantedBug[] = [
  {
    name: "an externalId may name two transfers",
    edits: [
      {
        file: "src/database/migrations/0001-baseline/09-merchant.sql",
        find: "  CONSTRAINT transfer_external_id UNIQUE (merchant_id, environment, external_id),\n",
        replace: "",
      },
      merchant("transfers/transfer-store.ts", "ON CONFLICT ON CONSTRAINT transfer_external_id DO NOTHING ", ""),
    ],
    noticedBy: test("create-transfer", "at once in two currencies is one transfer and one refusal"),
  },
  {
    name: "an order does not look again behind the lock for its externalId",
    edits: [
      merchant(
        "transfers/create-transfer.ts",
        "if ((await readTransferOfExternalId(client, order)) !== undefined) return undefined;",
        "",
      ),
      merchant(
        "transfers/create-transfer.ts",
        "if (transfer === undefined) return undefined;",
        "if (transfer === undefined) throw new AccountFrozen();",
      ),
    ],
    noticedBy: test("create-transfer", "50 at once on two nodes are one transfer"),
  },
  {
    name: "a replay compares nothing",
    edits: [
      merchant(
        "transfers/create-transfer.ts",
        "if (differing.length > 0) throw new ExternalIdConflict(differing);",
        "void differing; void ExternalIdConflict;",
      ),
    ],
    noticedBy: test("create-transfer", "is refused with other content, naming the fields that differ"),
  },
  {
    name: "a replay does not compare the address",
    edits: [
      merchant(
        "transfers/order.ts",
        "address: isSameAddress(check, known, order.address),",
        "address: isSameAddress(check, known, known.address),",
      ),
    ],
    noticedBy: test("create-transfer", "is refused with other content, naming the fields that differ"),
  },
  {
    name: "no hold is taken for a transfer",
    edits: [
      merchant("transfers/create-transfer.ts", "await holdInFund(client, fund, total.units);", "void holdInFund;"),
    ],
    noticedBy: test("create-transfer", "accepts 3"),
  },
  {
    name: "the hold leaves the fee out",
    edits: [
      merchant(
        "transfers/create-transfer.ts",
        "holdInFund(client, fund, total.units)",
        "holdInFund(client, fund, order.received.units)",
      ),
    ],
    noticedBy: test("create-transfer", "holds amount and fee"),
  },
  {
    name: "the fund is read and not locked",
    edits: [ledger("funds.ts", "AND asset = $2::text FOR NO KEY UPDATE`;", "AND asset = $2::text`;")],
    noticedBy: test("create-transfer", "accepts 3"),
  },
  {
    name: "a confirmed transfer is captured without its fee",
    edits: [
      merchant(
        "transfers/transfer-states.ts",
        '...(fee.units === 0n ? [] : [leg("fee"',
        '...(fee.units >= 0n ? [] : [leg("fee"',
      ),
    ],
    noticedBy: test("transfer-states", "to CONFIRMED takes the total"),
  },
  {
    name: "a rejected transfer keeps its hold",
    edits: [
      merchant(
        "transfers/transfer-states.ts",
        'if (to === "REJECTED" || to === "CANCELED") {',
        'if (to === "CANCELED") {',
      ),
    ],
    noticedBy: test("transfer-states", "gives everything back and posts nothing"),
  },
  {
    name: "a transfer is moved without a look at where it is",
    edits: [merchant("transfers/transfer-states.ts", "if (!move.from.includes(transfer.status)) return false;", "")],
    noticedBy: test("transfer-states", "is moved by one of several callers, and only once"),
  },
  {
    name: "a transfer is canceled without asking whether it is being signed",
    edits: [merchant("transfers/transfers.ts", " || (await end.hasSigningBegun(client, transferId));", ";")],
    noticedBy: test("cancel-transfer", "is too late once signing has begun"),
  },
  {
    name: "a transfer that waits for approval goes on without it",
    edits: [
      merchant(
        "transfers/transfer-states.ts",
        "move.isApproval !== true) return false;",
        "move.isApproval === null) return false;",
      ),
    ],
    noticedBy: test("transfer-states", "does not move on without its approval"),
  },
  {
    name: "an operator's order that changed nothing leaves a line",
    edits: [
      {
        file: "src/operator/commands/transfers.ts",
        find: "if (!isNew) return null; const { transferId, merchantId, externalId } = transfer;",
        replace: "const { transferId, merchantId, externalId } = transfer;",
      },
    ],
    noticedBy: operator("transfers", "goes on once it is approved, once"),
  },
  {
    name: "a transfer that never waited for approval counts as approved",
    edits: [
      merchant(
        "transfers/transfers.ts",
        'status === "WAITING" && createdAt.getTime() === orderedAt',
        'status !== "" && createdAt.getTime() === orderedAt',
      ),
    ],
    noticedBy: operator("transfers", "what never waited for approval is not approved"),
  },
  {
    name: "a transfer that waits for coins counts as approved",
    edits: [
      merchant(
        "transfers/transfers.ts",
        'status === "WAITING" && createdAt.getTime() === orderedAt',
        'status === "WAITING" && createdAt.getTime() >= orderedAt',
      ),
    ],
    noticedBy: operator("transfers", "what never waited for approval is not approved"),
  },
  {
    name: "an approval is forgotten where the clock of the node that gave it was behind",
    edits: [merchant("transfers/transfers.ts", "return events.some((", "return events.slice(0, 1).some((")],
    noticedBy: operator("transfers", "stays approved though the clock of the node that approved it was behind"),
  },
  {
    name: "a wallet is said to be resumed that was not stopped",
    edits: [
      merchant(
        "payouts/resume-wallet.ts",
        "return { foreignNonces: 0, adoptedPayments: 0, isNew: false };",
        "return { foreignNonces: 0, adoptedPayments: 0, isNew: true };",
      ),
    ],
    noticedBy: operator("wallets", "sign again once they are resumed, once"),
  },
  {
    name: "whoever resumes a wallet ends whatever stop is there",
    edits: [
      merchant(
        "payouts/resume-wallet.ts",
        "if (haltedAt.getTime() !== stoppedAt.getTime()) {",
        "if (haltedAt.getTime() < stoppedAt.getTime()) {",
      ),
    ],
    noticedBy: operator("wallets", "do not sign again by the order of an operator who has looked at another stop"),
  },
  {
    name: "a fee that is in force is set again",
    edits: [
      merchant(
        "merchants/set-fee.ts",
        "if (current !== undefined && areSameTerms(current, terms))",
        "if (current === null)",
      ),
    ],
    noticedBy: test("fees", "adds nothing where the terms are in force already"),
  },
  {
    name: "a day's limit is counted in a transaction of another order",
    edits: [
      merchant(
        "merchants/limits-store.ts",
        "WHERE merchant_id = $1::uuid AND currency_code = $2 FOR NO KEY UPDATE\n",
        "WHERE merchant_id = $1::uuid AND currency_code = $2\n",
      ),
    ],
    noticedBy: test("limits", "of which each has a fund and a lock of its own"),
  },
  {
    name: "sandbox fees are revenue",
    edits: [
      merchant("transfers/outside-accounts.ts", "fees: systemAccounts.sandbox }", "fees: systemAccounts.revenue }"),
    ],
    noticedBy: test("transfer-states", "to CONFIRMED takes the total"),
  },
  {
    name: "the audit takes any fee of a sandbox transfer that is high enough",
    edits: [merchant("transfers/audit-fees.ts", '(environment === "production" && taken > due)', "taken > due")],
    noticedBy: test("audit-transfers", "a sandbox fee above that of its row"),
  },
  {
    name: "the audit takes any row of the fee schedule for a transfer",
    edits: [merchant("transfers/audit-fees.ts", "if (!isOfTime)", "if (isOfTime === null)")],
    noticedBy: test("audit-transfers", "a row of all merchants where the merchant has an own one"),
  },
];
