// How the serving role runs its statements, in one place: every start lays these on the role, so that a server of an
// earlier version gets those of this one, and a serving connection that borrows another login gives them in its start-up
// packet.

import type { Client } from "pg";
import { sqlState, sqlStates } from "./transactions.ts";

/** The role that serves. It may read and add, and change balances and states. */
export const SERVING_ROLE = "saldo_serve";

/** The login of chat requests. It moves money only through functions that check what they are asked, and none of them mints. */
export const REQUEST_ROLE = "saldo_request";

/**
 * Settings of every serving session. They force the planner onto the keys, because statements are planned while the
 * tables are small and must stay right when they are not.
 */
export const SERVING_SETTINGS = {
  enable_seqscan: "off",
  // Lists of a group are joined once over; looked up member by member they cost a tenth more.
  enable_nestloop: "off",
  plan_cache_mode: "force_generic_plan",
  default_transaction_isolation: "read committed",
  lock_timeout: "250ms",
  // A settlement has limits of its own, in place of those of the database or the login.
  statement_timeout: "0",
  // A process that was stopped within a transaction must not keep its locks from other sessions.
  idle_in_transaction_session_timeout: "30s",
  jit: "off",
} as const;

const HAS_TRANSACTION_TIMEOUT = 170_000;
/**
 * The end of any transaction of a serving session, on servers that can. The longest ones, chunks of the audit and of roll-ups, take
 * seconds; migrations and backups are other logins. A commit that waits for its standby is not ended by it.
 */
const TRANSACTION_TIMEOUT = "15min";

/** The settings of a serving session on a server of this version, as in `server_version_num`. */
export function servingSettings(versionNumber: number): Readonly<Record<string, string>> {
  if (versionNumber < HAS_TRANSACTION_TIMEOUT) return SERVING_SETTINGS;
  return { ...SERVING_SETTINGS, transaction_timeout: TRANSACTION_TIMEOUT };
}

/** The settings and the role as the `options` of a start-up packet, for a login that is not the serving role itself. */
export function servingOptions(versionNumber: number): string {
  const settings = Object.entries({ role: SERVING_ROLE, ...servingSettings(versionNumber) });
  // A space inside a value is written with a backslash: the server splits options at spaces.
  return settings.map(([name, value]) => `-c ${name}=${value.replaceAll(" ", "\\ ")}`).join(" ");
}

const ROLE_SETTINGS = "SELECT rolname AS role, rolconfig AS settings FROM pg_roles WHERE rolname = ANY ($1)";
const VERSION = `SELECT current_setting('server_version_num')::int AS "versionNumber"`;
const INSUFFICIENT_PRIVILEGE = "42501";
/**
 * "tuple concurrently updated", or both laid the role's first. Roles belong to the server, so two starts can meet on one, also
 * from two databases.
 */
const MET_ANOTHER: ReadonlySet<string | undefined> = new Set(["XX000", sqlStates.uniqueViolation]);
const MAX_MEETINGS = 20;

/** Lays the settings on the roles that serve where they are not on them yet, as the owner of the schema. */
export async function applyServerSettings(owner: Client): Promise<void> {
  for (let meetings = 0; ; meetings += 1) {
    const missing = await missingSettings(owner);
    try {
      for (const [role, name, value] of missing) await owner.query(`ALTER ROLE ${role} SET ${name} = '${value}'`);
      return;
    } catch (error) {
      // A login that only serves may not; the check of the serving session then names the missing setting and how to set it.
      if (sqlState(error) === INSUFFICIENT_PRIVILEGE) return;
      if (!MET_ANOTHER.has(sqlState(error)) || meetings === MAX_MEETINGS) throw error;
    }
  }
}

async function missingSettings(owner: Client): Promise<[role: string, name: string, value: string][]> {
  const { rows } = await owner.query<{ role: string; settings: string[] | null }>(ROLE_SETTINGS, [
    [SERVING_ROLE, REQUEST_ROLE],
  ]);
  const version = (await owner.query<{ versionNumber: number }>(VERSION)).rows[0];
  const wanted = Object.entries(servingSettings(version?.versionNumber ?? 0));
  return rows.flatMap(({ role, settings }) =>
    wanted
      .filter(([name, value]) => settings?.includes(`${name}=${value}`) !== true)
      .map(([name, value]): [string, string, string] => [role, name, value]),
  );
}
