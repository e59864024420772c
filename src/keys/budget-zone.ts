// The zone in whose days and months the budgets of an account are counted. The database computes with it (database/functions/budget_zone.sql);
// here it is checked, set and read.

import type { Pool, PoolClient } from "pg";
import type { Database } from "../database/database.ts";
import { entitiesOn } from "../database/orm.ts";
import { type RecordChange, UNRECORDED } from "../database/record-change.ts";
import { withRetry, withTransaction } from "../database/transactions.ts";
import { changedFacts } from "../kernel/changed-facts.ts";
import { NotFound, ValidationError } from "../kernel/errors.ts";
import { lockAccount } from "../ledger/account-lock.ts";
import { DEFAULT_BUDGET_ZONE } from "./key-limits.ts";

const LONGEST_NAME = 64;
// Offsets and rules that are written out, such as `WIB-7`, are no names: PostgreSQL reads them the other way round.
const NAME = /^[A-Za-z][A-Za-z0-9_+-]*(\/[A-Za-z0-9_+-]+)*$/;
const KNOWN = `SELECT name FROM pg_timezone_names WHERE lower(name) = lower($1)`;
const SET = `SELECT set_budget_zone($1::uuid, $2) AS former`;

/** Reads the zone of an account's budgets. Errors: NotFound. */
export async function readBudgetZone(database: Pool | PoolClient, accountId: string): Promise<string> {
  const { em, Account } = await entitiesOn(database);
  const account = await em.findOne(Account, { id: accountId }, { fields: ["budgetZone"] });
  if (account === null) throw noAccount();
  return account.budgetZone ?? DEFAULT_BUDGET_ZONE;
}

/**
 * The name of a zone as the database spells it. It is known there, which computes with it, and here, where moments are shown in it. Errors:
 * ValidationError.
 */
export async function requireBudgetZone(database: Pool | PoolClient, name: string): Promise<string> {
  const isName = name.length <= LONGEST_NAME && NAME.test(name) && isKnownHere(name);
  const [known] = isName ? (await database.query<{ name: string }>(KNOWN, [name])).rows : [];
  if (known !== undefined) return known.name;
  const message = "must be a time zone of the IANA database, such as Asia/Makassar";
  throw new ValidationError([{ field: "settings.timeZone", rule: "time_zone", message }]);
}

/** The zone before a change, and now. */
export type ChangedBudgetZone = { readonly before: string; readonly timeZone: string };

/** Sets the zone in the caller's transaction, by its name as the database spells it. Errors: NotFound. */
export async function changeBudgetZone(
  client: PoolClient,
  { accountId, timeZone }: { readonly accountId: string; readonly timeZone: string },
): Promise<ChangedBudgetZone> {
  await lockAccount(client, accountId);
  const before = (await client.query<{ former: string | null }>(SET, [accountId, timeZone])).rows[0]?.former ?? null;
  if (before === null) throw noAccount();
  return { before, timeZone };
}

/**
 * Sets the zone of an account's budgets; `record` writes a line of it in the same transaction. A period that runs keeps what was spent of it.
 * Errors: NotFound, ValidationError.
 */
export async function setBudgetZone(
  database: Pick<Database, "pool">,
  { accountId, timeZone: named }: { readonly accountId: string; readonly timeZone: string },
  record: RecordChange = UNRECORDED,
): Promise<string> {
  // The list of zones is read from files, and requests of the account wait for its lock.
  const timeZone = await requireBudgetZone(database.pool, named);
  await withRetry(() =>
    withTransaction(database, async (client) => {
      const changed = await changeBudgetZone(client, { accountId, timeZone });
      await record(client, changed.before === timeZone ? null : { subject: null, facts: zoneFacts(changed) });
    }),
  );
  return timeZone;
}

/** A change as lines of logs keep it. */
export function zoneFacts({ before, timeZone }: ChangedBudgetZone): Record<string, string> {
  return changedFacts({ timeZone: before }, { timeZone });
}

function isKnownHere(name: string): boolean {
  try {
    return new Intl.DateTimeFormat("en", { timeZone: name }).resolvedOptions().timeZone !== "";
  } catch {
    return false;
  }
}

function noAccount(): NotFound {
  return new NotFound("There is no such account.");
}
