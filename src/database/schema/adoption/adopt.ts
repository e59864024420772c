// Takes over a database of the former migrations (0001-ledger to 0035-tier-writes, or one more): its postings get the account they are about, and
// it becomes equal to a fresh database. All in one transaction; no row is lost. Can go when no such database is left.

import { readFile } from "node:fs/promises";
import type { Client } from "pg";
import { invariant } from "../../../kernel/invariant.ts";
import type { BaselineWork } from "../baseline.ts";
import { applyFunctions } from "../function-files.ts";
import { readBaseline, recordMigration } from "../../migrations/migration-file.ts";
import type { SchemaState } from "../schema-state.ts";

const FOLDER = new URL("./", import.meta.url);
const LAST_FORMER_MIGRATION = "0035-tier-writes";
/** The last changes that a former database may have, and the newest change of today that it has by them. */
const HAS: ReadonlyMap<string | null, number> = new Map([
  [LAST_FORMER_MIGRATION, 1],
  ["0036-kept-security-log", 2],
]);
const OWNERLESS = `SELECT id FROM posting_owner WHERE account_id IS NULL ORDER BY id LIMIT 10`;
const COUNTS = `
SELECT (SELECT count(*) FROM former.posting)::int AS former, (SELECT count(*) FROM posting)::int AS taken`;

/** Takes a database over inside the caller's transaction. Throws where it is not at the last of the former migrations. */
export async function adoptFormerSchema(
  client: Client,
  { state, migration, code, files }: BaselineWork & { readonly state: SchemaState },
): Promise<void> {
  const has = HAS.get(state.formerMigration);
  if (has === undefined) {
    throw new Error(
      `The schema of database ${state.database} is at migration ${state.formerMigration}, and this Saldo takes over from ` +
        `${LAST_FORMER_MIGRATION} only. Start the last Saldo 0.1 on it once, and then this one.`,
    );
  }
  const baseline = await readBaseline(migration, code);
  const textOf = (name: string): string => {
    const text = baseline.get(name);
    invariant(text !== undefined, "the baseline has the file");
    return text;
  };
  await client.query(await ownText("put-aside.sql"));
  await client.query(textOf("02-changes.sql"));
  await applyFunctions(client, files);
  await client.query(textOf("04-posting.sql"));
  await client.query(await ownText("find-owners.sql"));
  const ownerless = (await client.query<{ id: string }>(OWNERLESS)).rows.map(({ id }) => id);
  if (ownerless.length > 0) {
    throw new Error(
      `Postings of database ${state.database} belong to no customer's account: ${ownerless.join(", ")}. ` +
        `Nothing was changed. Find out what they are with the Saldo of before.`,
    );
  }
  await client.query(await ownText("take-over.sql"));
  const { rows } = await client.query<{ former: number; taken: number }>(COUNTS);
  invariant(rows[0]?.former === rows[0]?.taken, "every posting is taken over");
  await client.query("DROP TABLE posting_owner, former.posting, mikro_orm_migrations; DROP SCHEMA former");
  for (const each of code.migrations.slice(0, has)) await recordMigration(client, each);
}

function ownText(name: string): Promise<string> {
  return readFile(new URL(name, FOLDER), "utf8");
}
