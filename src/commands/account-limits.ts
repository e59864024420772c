import type { Database } from "../database/database.ts";
import type { AccountLimits } from "../ledger/account-limits.ts";
import {
  MAX_OPEN_REQUESTS,
  freezeAccount,
  limitAccount,
  recountAccount,
  setBudgetZone,
  unfreezeAccount,
} from "../operator/commands/accounts.ts";
import type { Command, CommandValues } from "./command.ts";
import { operatorHere } from "./operator-here.ts";
import { integerOption } from "./option-values.ts";
import { accountFrom, accountOption as account } from "./which-account.ts";

/** What shells offer. Any zone can be named. */
const INDONESIAN_ZONES = ["Asia/Jakarta", "Asia/Makassar", "Asia/Jayapura"];
const reason = { required: false, value: "R", about: "why" };

export const accountLimitCommands: readonly Command[] = [
  {
    name: "account freeze",
    about: "Admits none of an account's model requests any more; what is running is finished and billed.",
    options: { account, reason },
    async run(values, { database, people }) {
      const command = await commandOf(values, database);
      const by = { ...(await operatorHere(database)), ...(people !== null && { people: await people() }) };
      return toResult(command, await freezeAccount(by, command));
    },
  },
  {
    name: "account unfreeze",
    about: "Admits an account's model requests again.",
    options: { account, reason },
    async run(values, { database }) {
      const command = await commandOf(values, database);
      return toResult(command, await unfreezeAccount(await operatorHere(database), command));
    },
  },
  {
    name: "account limit",
    about: "Bounds how many model requests of an account run at once.",
    options: {
      account,
      "max-open-requests": { required: true, value: "N", about: "at most so many; 0 for no bound" },
      reason,
    },
    async run(values, { database }) {
      const range = { min: 0, max: MAX_OPEN_REQUESTS };
      const most = integerOption(values.need("max-open-requests"), "max-open-requests", range);
      const command = { ...(await commandOf(values, database)), most };
      return toResult(command, await limitAccount(await operatorHere(database), command));
    },
  },
  {
    name: "account update",
    about: "Sets the time zone of an account's budgets. A day or month that runs keeps what was spent of it.",
    options: {
      account,
      zone: {
        required: true,
        value: "ZONE",
        about: "a time zone such as Asia/Jakarta, Asia/Makassar or Asia/Jayapura",
        choices: INDONESIAN_ZONES,
      },
      reason,
    },
    async run(values, { database }) {
      const command = { ...(await commandOf(values, database)), timeZone: values.need("zone") };
      const { before, timeZone } = await setBudgetZone(await operatorHere(database), command);
      return { json: { accountId: command.accountId, budgetTimeZone: timeZone, was: before } };
    },
  },
  {
    name: "account recount",
    about: "Recounts an account's open requests, where the audit finds that the count is not the number of its holds.",
    options: { account, reason },
    async run(values, { database }) {
      const command = await commandOf(values, database);
      const { was, ...limits } = await recountAccount(await operatorHere(database), command);
      return { json: { accountId: command.accountId, was, ...toJson(limits) } };
    },
  },
];

async function commandOf(
  values: CommandValues,
  database: () => Promise<Database>,
): Promise<{ accountId: string; reason: string | null }> {
  return { accountId: await accountFrom(values, database), reason: values.get("reason") ?? null };
}

function toResult({ accountId }: { accountId: string }, limits: AccountLimits) {
  return { json: { accountId, ...toJson(limits) } };
}

/** The limits as a command prints them. */
export function toJson({ frozenAt, maxOpenRequests, openRequests }: AccountLimits) {
  return { frozenAt: frozenAt?.toISOString() ?? null, maxOpenRequests, openRequests };
}
