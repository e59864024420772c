import { createCustomer } from "../accounts/customers.ts";
import { withTransaction } from "../database/transactions.ts";
import { DecimalError } from "../kernel/decimal.ts";
import { formatMoney, IDR, idr, parseMoney } from "../kernel/money.ts";
import { creditAccount, openAccount, readBalance } from "../ledger/accounts.ts";
import { systemAccounts } from "../ledger/system-accounts.ts";
import { listUsage } from "../billing/usage.ts";
import { timeOfUuidv7 } from "../kernel/ids.ts";
import { type Command, UsageError } from "./command.ts";
import { integerOption, uuidOption } from "./option-values.ts";

const accountOption = { required: true, value: "ID", about: "the account" };

export const accountCommands: readonly Command[] = [
  {
    name: "account create",
    about: "Opens an account with nothing on it.",
    options: { email: { required: true, value: "E", about: "the customer's e-mail address" } },
    async run(values, { database }) {
      const email = values.need("email");
      const { accountId } = await withTransaction(await database(), (client) =>
        createCustomer(client, { email, openAccount }),
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
      reference: { required: false, value: "REF", about: "the same reference credits once, for ever" },
    },
    async run(values, { database }) {
      const accountId = uuidOption(values.need("account"), "account");
      const amount = amountOption(values.need("amount"));
      const reference = values.get("reference");
      const { postingId, available } = await withTransaction(await database(), (client) =>
        creditAccount(client, {
          accountId,
          amount,
          from: systemAccounts.operatorAdjustments,
          reason: "operator_credit",
          note: values.need("reason"),
          ...(reference === undefined ? {} : { reference: `operator:${reference}` }),
        }),
      );
      return { json: { postingId, available: formatMoney(idr(available)) } };
    },
  },
  {
    name: "account show",
    about: "Shows what an account has.",
    options: { account: accountOption },
    async run(values, { database }) {
      const { pool } = await database();
      const { available, held, posted } = await readBalance(pool, uuidOption(values.need("account"), "account"));
      return {
        json: {
          available: formatMoney(idr(available)),
          held: formatMoney(idr(held)),
          posted: formatMoney(idr(posted)),
        },
      };
    },
  },
  {
    name: "usage list",
    about: "Lists an account's requests, newest first.",
    options: { account: accountOption, limit: { required: false, value: "N", about: "how many, 1 to 1000; 50" } },
    async run(values, { database }) {
      const { pool } = await database();
      const { records } = await listUsage(pool, {
        accountId: uuidOption(values.need("account"), "account"),
        filter: {},
        pageSize: integerOption(values.get("limit") ?? "50", "limit", { min: 1, max: 1000 }),
        pageToken: "",
      });
      return {
        json: {
          records: records.map(({ inputPrice, outputPrice, cacheHitPrice, cost, charge, ...record }) => ({
            ...record,
            createdAt: new Date(timeOfUuidv7(record.requestId)).toISOString(),
            inputPrice: formatMoney(idr(inputPrice)),
            outputPrice: formatMoney(idr(outputPrice)),
            cacheHitPrice: cacheHitPrice === null ? null : formatMoney(idr(cacheHitPrice)),
            cost: formatMoney(idr(cost)),
            charge: formatMoney(idr(charge)),
          })),
        },
        text: records.map((r) => `${r.requestId}  ${r.model}  ${r.basis}  Rp ${formatMoney(idr(r.charge))}`).join("\n"),
      };
    },
  },
];

// A credit above this is a slip of the hand: a thousand billion rupiah.
const MAX_CREDIT = 10n ** 12n * 10n ** 6n;

function amountOption(value: string): bigint {
  try {
    const { units } = parseMoney(value, IDR);
    if (units > 0n && units <= MAX_CREDIT) return units;
  } catch (error) {
    if (!(error instanceof DecimalError)) throw error;
  }
  throw new UsageError("--amount must be rupiah greater than 0, at most 1000000000000, with at most 6 decimals");
}
