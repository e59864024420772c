// The account of a command: by its id, or by the e-mail address that people know it by.

import type { Database } from "../database/database.ts";
import { isEmailAddress } from "../identity/customers.ts";
import { customerOfEmail } from "../identity/store.ts";
import { NotFound } from "../kernel/errors.ts";
import { isUuid } from "../kernel/ids.ts";
import { type CommandValues, UsageError } from "./command.ts";
import type { CommandOption } from "./help.ts";

/** The account that a command is about. */
export const accountOption: CommandOption = {
  required: true,
  value: "ACCOUNT",
  about: "the account: its id, or the e-mail address that account list shows",
};

/** The account of a list that can be about all of them. */
export const anyAccountOption: CommandOption = {
  ...accountOption,
  required: false,
  about: "only this account: its id, or the e-mail address that account list shows",
};

/** The id of the account that --account names. Errors: UsageError; NotFound for an address without an account. */
export async function accountFrom(values: CommandValues, database: () => Promise<Database>): Promise<string> {
  return accountNamed(values.need("account"), database);
}

/** The same where the option may be left out; null: it is. */
export async function anyAccountFrom(values: CommandValues, database: () => Promise<Database>): Promise<string | null> {
  const named = values.get("account");
  return named === undefined ? null : accountNamed(named, database);
}

async function accountNamed(text: string, database: () => Promise<Database>): Promise<string> {
  if (isUuid(text)) return text.toLowerCase();
  if (!isEmailAddress(text)) throw new UsageError("--account must be the id of an account or an e-mail address");
  const accountId = await customerOfEmail((await database()).pool, text);
  if (accountId === null) throw new NotFound(`No account has the e-mail address ${text}.`);
  return accountId;
}
