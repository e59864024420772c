// What operators change in an account, in the log that its members read. The line has no operator and no reason: those are in the operators'
// log, for operators.

import type { PoolClient } from "pg";
import { uuidv7 } from "../../kernel/ids.ts";

/** A change as the members of the account read it. */
export type AccountChange = {
  readonly accountId: string;
  /** Such as `account.frozen`. */
  readonly action: string;
  /** The id of what was changed. Null: the account itself. */
  readonly subject: string | null;
  /** Further facts; amounts are decimal texts. Null: left out. */
  readonly facts?: Readonly<Record<string, string | number | null>>;
};

const INSERT = `
INSERT INTO account_activity (account_id, id, person_id, actor, action, subject, facts)
VALUES ($1::uuid, $2::uuid, NULL, 'operator', $3, $4, $5::jsonb)`;

/** Writes the line of a change, inside its transaction. */
export async function recordAccountChange(client: PoolClient, change: AccountChange): Promise<void> {
  const { accountId, action, subject, facts = {} } = change;
  const known = Object.entries(facts).filter(([, fact]) => fact !== null && fact !== "");
  const shown = Object.fromEntries(known.map(([name, fact]) => [name, String(fact)]));
  await client.query(INSERT, [accountId, uuidv7(), action, subject, JSON.stringify(shown)]);
}
