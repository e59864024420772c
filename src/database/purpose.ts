// What a database is for: a demo or production. The first start decides, and only `saldo demo clear` changes it. It is a property
// of the database and not of a start, because play money and printed keys stay in it for every later start.

import type { Pool, PoolClient } from "pg";
import { invariant } from "../kernel/invariant.ts";
import { openText } from "../kernel/sealed-text.ts";
import { sealPlain, type SecretColumns } from "./secrets/secret-columns.ts";
import { readSecretForm } from "./secrets/secret-state.ts";

export type Purpose = "demo" | "production";

type Queryable = Pick<Pool | PoolClient, "query">;

const CLAIM = `INSERT INTO database_purpose (purpose) VALUES ($1) ON CONFLICT DO NOTHING`;
const READ = `SELECT purpose FROM database_purpose`;
const LOCK = `SELECT purpose FROM database_purpose FOR UPDATE`;
const END_DEMO = `
UPDATE database_purpose SET purpose = 'production', since = clock_timestamp(), demo_credentials = NULL WHERE purpose = 'demo'`;
/** Since when a database is production's, in milliseconds of Unix time; no row: it is none. */
export const PRODUCTION_SINCE = `
SELECT extract(epoch FROM since)::float8 * 1000 AS "sinceMs" FROM database_purpose WHERE purpose = 'production'`;
const READ_CREDENTIALS = `SELECT demo_credentials AS credentials FROM database_purpose WHERE purpose = 'demo'`;
const WRITE_CREDENTIALS = `UPDATE database_purpose SET demo_credentials = $1 WHERE purpose = 'demo'`;

/** A start is for another purpose than the database. */
export class WrongPurpose extends Error {}

const REFUSALS: Record<Purpose, string> = {
  demo:
    "This database is production's. A demo in it would issue a key and a sign-in without a password. " +
    "Set SALDO_DEMO=0, or start the demo with another SALDO_DATA_DIR.",
  production:
    "This database is a demo's: its play money and the keys that it printed would be good in production. Use another " +
    "database, or stop the demo and run `saldo demo clear`, which revokes the keys and takes the play money back.",
};

/** Checks that a start may serve from the database. The first start sets its purpose. Errors: WrongPurpose. */
export async function claimPurpose(client: Queryable, wanted: Purpose): Promise<void> {
  await client.query(CLAIM, [wanted]);
  const purpose = await readPurpose(client);
  invariant(purpose !== null, "a database that was claimed has a purpose");
  if (purpose !== wanted) throw new WrongPurpose(REFUSALS[wanted]);
}

/** Null: nothing has started on the database yet. */
export async function readPurpose(client: Queryable): Promise<Purpose | null> {
  return (await client.query<{ purpose: Purpose }>(READ)).rows[0]?.purpose ?? null;
}

/** The same, locked until the transaction ends. */
export async function lockPurpose(client: PoolClient): Promise<Purpose | null> {
  return (await client.query<{ purpose: Purpose }>(LOCK)).rows[0]?.purpose ?? null;
}

/** Makes a demo's database production's. What a demo has left in it is the caller's to remove, in the same transaction. */
export async function endDemo(client: PoolClient): Promise<void> {
  await client.query(END_DEMO);
}

/** The demo's credentials. */
export const DEMO_SECRETS: SecretColumns = {
  table: "database_purpose",
  id: "the_row",
  idType: "boolean",
  columns: ["demo_credentials"],
  nameOf: () => DEMO_CREDENTIALS,
  formerIs: "plain",
};
const DEMO_CREDENTIALS = "database_purpose.demo_credentials";

/** What the demo prints, as it was kept. Null: nothing was. */
export async function readDemoCredentials(client: Queryable): Promise<string | null> {
  const stored = (await client.query<{ credentials: string | null }>(READ_CREDENTIALS)).rows[0]?.credentials ?? null;
  return stored === null ? null : openText(DEMO_CREDENTIALS, stored);
}

/** Keeps what the demo prints. */
export async function keepDemoCredentials(client: Queryable, credentials: string): Promise<void> {
  await client.query(WRITE_CREDENTIALS, [sealPlain(DEMO_CREDENTIALS, credentials, await readSecretForm(client))]);
}
