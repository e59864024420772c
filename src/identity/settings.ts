// What the owner of an account has chosen.

import type { Pool } from "pg";
import { entitiesOn } from "../database/orm.ts";
import { ValidationError } from "../kernel/errors.ts";
import { invariant } from "../kernel/invariant.ts";

export type Language = "id" | "en";

export type Settings = {
  readonly language: Language;
  readonly timeZone: string;
};

/** The settings of an account. */
export async function readSettings(pool: Pool, accountId: string): Promise<Settings> {
  const { em, Customer } = await entitiesOn(pool);
  const row = await em.findOne(Customer, { accountId });
  invariant(row !== null, "an account of a person has settings");
  return { language: row.language as Language, timeZone: row.timeZone };
}

/** Changes the given settings and returns all of them. Errors: ValidationError for an unknown time zone. */
export async function updateSettings(
  pool: Pool,
  accountId: string,
  { language, timeZone }: Partial<Settings>,
): Promise<Settings> {
  if (timeZone !== undefined && !isTimeZone(timeZone)) {
    const message = "must be a name such as Asia/Jakarta";
    throw new ValidationError([{ field: "timeZone", rule: "time_zone", message }]);
  }
  const changes = { ...(language === undefined ? {} : { language }), ...(timeZone === undefined ? {} : { timeZone }) };
  const { em, Customer } = await entitiesOn(pool);
  if (Object.keys(changes).length > 0) await em.nativeUpdate(Customer, { accountId }, changes);
  return readSettings(pool, accountId);
}

/** Names only: an offset such as +07:00 knows no summer time. */
function isTimeZone(name: string): boolean {
  if (!/^[A-Za-z]/.test(name)) return false;
  try {
    return new Intl.DateTimeFormat("en", { timeZone: name }).resolvedOptions().timeZone !== "";
  } catch {
    return false;
  }
}
