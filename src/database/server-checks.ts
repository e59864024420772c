// What a server must be before money is kept in it. Each refusal names the setting and what it should be.

import type { Client } from "pg";
import { REQUEST_ROLE, SERVING_ROLE, servingSettings } from "./serving-settings.ts";

const MIN_VERSION = 15;
/** Settings without which a committed posting can be lost, and what each loses as `off`. */
const DURABILITY = ["fsync", "full_page_writes", "synchronous_commit"] as const;
const STANDBYS = "synchronous_standby_names";
/**
 * Values of synchronous_commit that acknowledge before a standby has stored the commit. `local` does not wait for one; alone it is
 * no different from `on`, so no server needs it. `remote_write` is lost when both machines fail together.
 */
const NOT_ON_STANDBY: Readonly<Record<string, (standbys: string) => boolean>> = {
  local: () => true,
  remote_write: (standbys) => standbys !== "",
};

/** The facts of a session about its server. */
export type ServerFacts = {
  readonly versionNumber: number;
  readonly replica: boolean;
  readonly settings: Readonly<Record<string, string>>;
};

/** Refuses a server that is too old, a read replica, or one that may forget what it has committed. Returns its version. */
export async function checkServer(client: Client): Promise<number> {
  const facts = await readFacts(client);
  refuseUnsafeServer(facts);
  return facts.versionNumber;
}

/** Refuses a serving session that may forget, that may change what was posted, or that lacks the serving settings. */
export async function checkServingSession(client: Client): Promise<void> {
  const facts = await readFacts(client);
  refuseUnsafeServer(facts);
  const { rows } = await client.query<{ role: string; mayChange: boolean }>(
    `SELECT current_user AS role, has_table_privilege('posting', 'UPDATE, DELETE, TRUNCATE') AS "mayChange"`,
  );
  const role = rows[0]?.role ?? "";
  if (role !== SERVING_ROLE || rows[0]?.mayChange !== false) {
    throw new Error(
      `Saldo serves as the role ${SERVING_ROLE}, which cannot change a posting, but DATABASE_URL works as ${role}. ` +
        `Let DATABASE_URL log in as ${SERVING_ROLE}.`,
    );
  }
  refuseOtherSettings(facts, SERVING_ROLE);
}

/**
 * The login of a session, and in which ways it could create money. With CREATE in the schema it could make a function that fits a call
 * better than the catalog's; functions that run with the rights of another role would then call it.
 */
const WAYS_TO_MINT = `
SELECT session_user AS login, array_remove(ARRAY[
  CASE WHEN EXISTS (SELECT FROM pg_roles WHERE rolname = session_user AND (rolsuper OR rolcreaterole OR rolreplication OR rolbypassrls))
    THEN 'has powers over the server' END,
  CASE WHEN EXISTS (SELECT FROM pg_auth_members m JOIN pg_roles r ON r.oid = m.member WHERE r.rolname = session_user)
    THEN 'is a member of another role' END,
  CASE WHEN (
    SELECT bool_or(has_any_column_privilege(t.name, 'INSERT, UPDATE') OR has_table_privilege(t.name, 'DELETE, TRUNCATE, TRIGGER'))
    FROM unnest(ARRAY['account', 'posting', 'hold', 'usage_record', 'late_usage', 'receivable', 'top_up', 'payment_event',
                      'merchant_fund', 'operator_action']) AS t(name))
    THEN 'may write money' END,
  CASE WHEN has_schema_privilege('public', 'CREATE') THEN 'may make functions in the schema public' END
], NULL) AS ways`;

/** Refuses a session of requests that may forget, that could mint, or that lacks the serving settings. */
export async function checkRequestSession(client: Client): Promise<void> {
  const facts = await readFacts(client);
  refuseUnsafeServer(facts);
  const { rows } = await client.query<{ login: string; ways: string[] }>(WAYS_TO_MINT);
  const { login = "", ways = [] } = rows[0] ?? {};
  const problem =
    login === REQUEST_ROLE
      ? ways.length > 0 && `${ways.join(", and ")}. Take that right from it, and from PUBLIC.`
      : `is ${login}. Let DATABASE_REQUEST_URL log in as ${REQUEST_ROLE}.`;
  if (problem !== false)
    throw new Error(`Requests log in as ${REQUEST_ROLE}, which cannot create money, but this login ${problem}`);
  refuseOtherSettings(facts, REQUEST_ROLE);
}

/** Names the first, and the statements for all, so that one look at the log is enough. */
function refuseOtherSettings({ versionNumber, settings }: ServerFacts, role: string): void {
  const others = Object.entries(servingSettings(versionNumber)).filter(([name, wanted]) => settings[name] !== wanted);
  const [first] = others;
  if (first === undefined) return;
  const statements = others.map(([name, wanted]) => `ALTER ROLE ${role} SET ${name} = '${wanted}';`);
  throw new Error(
    `The setting ${first[0]} of a serving session is ${settings[first[0]]}. Run this as a superuser: ${statements.join(" ")}`,
  );
}

/** Throws a sentence that names what is wrong with the server. */
export function refuseUnsafeServer({ versionNumber, replica, settings }: ServerFacts): void {
  const version = Math.floor(versionNumber / 10_000);
  if (version < MIN_VERSION) {
    throw new Error(`The database server is PostgreSQL ${version}. Saldo needs PostgreSQL ${MIN_VERSION} or newer.`);
  }
  if (replica) {
    throw new Error(
      "The database server is a read replica (pg_is_in_recovery is true). Set DATABASE_URL to the primary.",
    );
  }
  for (const name of DURABILITY) {
    if (settings[name] !== "off") continue;
    throw new Error(
      `The database setting ${name} is off, so a crash could lose money that was acknowledged. Turn it on.`,
    );
  }
  const commit = settings["synchronous_commit"] ?? "";
  if (NOT_ON_STANDBY[commit]?.(settings[STANDBYS] ?? "") === true) {
    throw new Error(
      `The database setting synchronous_commit is ${commit}, so a failover could lose money that was acknowledged. ` +
        "Set it to on, for the server, this database and the role.",
    );
  }
}

async function readFacts(client: Client): Promise<ServerFacts> {
  const { rows } = await client.query<ServerFacts>(
    `SELECT current_setting('server_version_num')::int AS "versionNumber", pg_is_in_recovery() AS replica,
            (SELECT json_object_agg(name, current_setting(name, true)) FROM unnest($1::text[]) AS name) AS settings`,
    [[...DURABILITY, STANDBYS, ...Object.keys(servingSettings(Infinity))]],
  );
  return rows[0] ?? { versionNumber: 0, replica: false, settings: {} };
}
