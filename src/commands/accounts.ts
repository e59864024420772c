import type { Database } from "../database/database.ts";
import { createCustomer } from "../identity/customers.ts";
import { type Customer, customerOf, findCustomers } from "../identity/store.ts";
import { HOME_CELL } from "../database/cell-claim.ts";
import { withAuditLog } from "../operator/audit-log/operator-actions.ts";
import { invariant } from "../kernel/invariant.ts";
import { formatMoney, idr } from "../kernel/money.ts";
import { rupiahText } from "../kernel/rupiah-text.ts";
import { printable } from "../kernel/unprintable.ts";
import { readBudgetZone } from "../keys/budget-zone.ts";
import { countKeys } from "../keys/issued-keys.ts";
import { type AccountGlance, openAccount, readBalance, readGlances } from "../ledger/accounts.ts";
import { readLimits } from "../ledger/account-limits.ts";
import { creditAccount } from "../operator/commands/accounts.ts";
import { toJson } from "./account-limits.ts";
import type { Command } from "./command.ts";
import { operatorHere } from "./operator-here.ts";
import { amountOption, integerOption } from "./option-values.ts";
import { column, numbers, tableOf } from "./table.ts";
import { accountFrom, accountOption } from "./which-account.ts";

const MOST_LISTED = 1_000;
const DEFAULT_LIMIT = 50;

/** An account in a list. */
type Listed = Customer & AccountGlance & { readonly workingKeys: number };

const rupiah = (units: bigint): string => rupiahText(idr(units));
const LIST_COLUMNS = [
  column<Listed>("account", ({ accountId }) => accountId),
  column<Listed>("e-mail", ({ email }) => email),
  column<Listed>("opened", ({ createdAt }) => createdAt),
  column<Listed>("frozen", ({ frozenAt }) => frozenAt),
  numbers<Listed>("keys", ({ cell, workingKeys }) => (cell === null ? workingKeys : null)),
  numbers<Listed>("available", ({ cell, available }) => (cell === null ? rupiah(available) : null)),
  numbers<Listed>("held", ({ cell, held }) => (cell === null ? rupiah(held) : null)),
  numbers<Listed>("owed", ({ cell, owed }) => (cell === null ? rupiah(owed) : null)),
];
/** Where some are in other cells, whose databases have their balances. */
const CELL_COLUMNS = [...LIST_COLUMNS, column<Listed>("cell", ({ cell }) => cell ?? HOME_CELL)];

export const accountCommands: readonly Command[] = [
  {
    name: "account list",
    about: "Lists accounts with their e-mail addresses and balances, newest first.",
    options: {
      email: { required: false, value: "TEXT", about: "only accounts whose e-mail address contains this" },
      limit: { required: false, value: "N", about: `how many at most, 1 to ${MOST_LISTED}; ${DEFAULT_LIMIT}` },
    },
    async run(values, { database }) {
      const limit = integerOption(values.get("limit") ?? String(DEFAULT_LIMIT), "limit", { min: 1, max: MOST_LISTED });
      const opened = await database();
      const customers = await findCustomers(opened.pool, { text: values.get("email") ?? "", beforeId: null, limit });
      const accounts = await withBalances(opened, customers);
      const columns = accounts.some(({ cell }) => cell !== null) ? CELL_COLUMNS : LIST_COLUMNS;
      return { json: { accounts: accounts.map(listedJson) }, text: tableOf(accounts, columns, "No account.") };
    },
  },
  {
    name: "account create",
    about: "Opens an account with nothing on it.",
    options: { email: { required: true, value: "E", about: "the customer's e-mail address" } },
    async run(values, { database }) {
      const email = values.need("email");
      const { accountId } = await withAuditLog(
        await operatorHere(database),
        (client) => createCustomer(client, { email, openAccount }),
        ({ accountId: made }) => ({
          action: "account create",
          subject: made,
          reason: null,
          facts: { email },
          inAccount: { accountId: made, action: "account.opened", subject: null },
        }),
      );
      return { json: { accountId } };
    },
  },
  {
    name: "account credit",
    about: "Puts rupiah on an account; a decimal amount such as 100000 or 0.5.",
    options: {
      account: accountOption,
      amount: { required: true, value: "RUPIAH", about: "how much" },
      reason: { required: true, value: "R", about: "why, for the ledger" },
      reference: { required: true, value: "REF", about: "names the credit; the same reference credits once, for ever" },
    },
    async run(values, { database }) {
      const accountId = await accountFrom(values, database);
      const amount = amountOption(values.need("amount"));
      const { postingId, available } = await creditAccount(await operatorHere(database), {
        accountId,
        amount,
        reason: values.need("reason"),
        reference: values.need("reference"),
      });
      return { json: { postingId, available: formatMoney(idr(available)) } };
    },
  },
  {
    name: "account show",
    about: "Shows what an account has and what it is allowed.",
    options: { account: accountOption },
    async run(values, { database }) {
      const { pool } = await database();
      const accountId = await accountFrom(values, database);
      const { available, held, posted, owed } = await readBalance(pool, accountId);
      const facts = {
        accountId,
        email: (await customerOf(pool, accountId))?.email ?? null,
        ...toJson(await readLimits(pool, accountId)),
        budgetTimeZone: await readBudgetZone(pool, accountId),
      };
      const amounts = Object.entries({ available, held, posted, owed });
      const lines = [...Object.entries(facts), ...amounts.map(([name, units]) => [name, rupiah(units)] as const)];
      return {
        json: {
          ...facts,
          ...Object.fromEntries(amounts.map(([name, units]) => [name, formatMoney(idr(units))])),
        },
        text: lines.map(([name, value]) => `${name}: ${value === null ? "-" : printable(String(value))}`),
      };
    },
  },
];

async function withBalances(opened: Database, customers: readonly Customer[]): Promise<Listed[]> {
  const ids = customers.map(({ accountId }) => accountId);
  const [glances, keys] = await Promise.all([readGlances(opened.pool, ids), countKeys(opened, ids)]);
  return customers.map((customer) => {
    const glance = glances.get(customer.accountId);
    invariant(glance !== undefined, "a customer has a ledger account");
    return { ...glance, ...customer, workingKeys: keys.get(customer.accountId) ?? 0 };
  });
}

function listedJson({ accountId, email, createdAt, frozenAt, cell, workingKeys, ...amounts }: Listed) {
  const { available, held, posted, owed } = amounts;
  const shown = (units: bigint): string | null => (cell === null ? formatMoney(idr(units)) : null);
  return {
    accountId,
    email,
    createdAt: createdAt.toISOString(),
    frozenAt: frozenAt?.toISOString() ?? null,
    workingKeys: cell === null ? workingKeys : null,
    available: shown(available),
    held: shown(held),
    posted: shown(posted),
    owed: shown(owed),
    // Absent: where the command looked.
    ...(cell === null ? {} : { cell }),
  };
}
