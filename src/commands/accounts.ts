import { createCustomer } from "../identity/customers.ts";
import { withAuditLog } from "../operator/audit-log/operator-actions.ts";
import { formatMoney, idr } from "../kernel/money.ts";
import { openAccount, readBalance } from "../ledger/accounts.ts";
import { readLimits } from "../ledger/account-limits.ts";
import { creditAccount } from "../operator/commands/accounts.ts";
import { toJson } from "./account-limits.ts";
import type { Command } from "./command.ts";
import { operatorHere } from "./operator-here.ts";
import { amountOption, uuidOption } from "./option-values.ts";

const accountOption = { required: true, value: "ID", about: "the account" };

export const accountCommands: readonly Command[] = [
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
      const accountId = uuidOption(values.need("account"), "account");
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
      const accountId = uuidOption(values.need("account"), "account");
      const { available, held, posted, owed } = await readBalance(pool, accountId);
      const limits = await readLimits(pool, accountId);
      return {
        json: {
          available: formatMoney(idr(available)),
          held: formatMoney(idr(held)),
          posted: formatMoney(idr(posted)),
          owed: formatMoney(idr(owed)),
          ...toJson(limits),
        },
      };
    },
  },
];
