// What a server must be before money is kept in it. Each refusal names the setting and what it should be.

import type { Client } from "pg";
import { SERVING_ROLE, SERVING_SETTINGS } from "./serving-settings.ts";

const MIN_VERSION = 15;
/** Settings without which a committed posting can be lost. */
const DURABILITY = ["fsync", "full_page_writes", "synchronous_commit"];

/** Refuses a server that is too old, a read replica, or one that may forget what it has committed. */
export async function checkServer(client: Client): Promise<void> {
  const { rows } = await client.query<{ version: number; replica: boolean }>(
    "SELECT current_setting('server_version_num')::int AS version, pg_is_in_recovery() AS replica",
  );
  const version = Math.floor((rows[0]?.version ?? 0) / 10_000);
  if (version < MIN_VERSION) {
    throw new Error(`The database server is PostgreSQL ${version}; Saldo needs PostgreSQL ${MIN_VERSION} or newer.`);
  }
  if (rows[0]?.replica === true) {
    throw new Error(
      "The database server is a read replica (pg_is_in_recovery is true). Set DATABASE_URL to the primary.",
    );
  }
  await checkDurability(client);
}

/** Refuses a serving session that may forget, that may change what was posted, or that lacks the serving settings. */
export async function checkServingSession(client: Client): Promise<void> {
  await checkDurability(client);
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
  for (const [name, wanted] of Object.entries(SERVING_SETTINGS)) {
    const found = await setting(client, name);
    if (found !== wanted) {
      throw new Error(
        `The serving role's setting ${name} is ${found}. Run ALTER ROLE ${SERVING_ROLE} SET ${name} = '${wanted}'.`,
      );
    }
  }
}

async function checkDurability(client: Client): Promise<void> {
  for (const name of DURABILITY) {
    if ((await setting(client, name)) === "off") {
      throw new Error(
        `The database setting ${name} is off, so a crash could lose money that was acknowledged. Set it on.`,
      );
    }
  }
}

async function setting(client: Client, name: string): Promise<string> {
  const { rows } = await client.query<{ value: string }>("SELECT current_setting($1) AS value", [name]);
  return rows[0]?.value ?? "";
}
