// What the owner of an account has chosen.

import type { Pool } from "pg";
import { ValidationError } from "../kernel/errors.ts";
import { invariant } from "../kernel/invariant.ts";

export type Language = "id" | "en";

export type Settings = {
  readonly language: Language;
  readonly timeZone: string;
};

const COLUMNS = `language, time_zone AS "timeZone"`;
const READ = `SELECT ${COLUMNS} FROM customer WHERE account_id = $1::uuid`;
const WRITE = `
UPDATE customer SET language = coalesce($2, language), time_zone = coalesce($3, time_zone)
WHERE account_id = $1::uuid RETURNING ${COLUMNS}`;

/** The settings of an account. */
export async function readSettings(pool: Pool, accountId: string): Promise<Settings> {
  const { rows } = await pool.query<Settings>(READ, [accountId]);
  invariant(rows[0] !== undefined, "an account of a person has settings");
  return rows[0];
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
  const values = [accountId, language ?? null, timeZone ?? null];
  const { rows } = await pool.query<Settings>(WRITE, values);
  invariant(rows[0] !== undefined, "an account of a person has settings");
  return rows[0];
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
