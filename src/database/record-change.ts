// The line of a change in the activity log of its account, written in the transaction of the change. Who has made it and by which method is known
// to the transport, which makes the function.

import type { Pool, PoolClient } from "pg";

/** What a line shows of a change. `subject`: the id of what was changed. Null: the account itself. */
export type AccountChange = { readonly subject: string | null; readonly facts: Readonly<Record<string, string>> };

/** Writes the line of a change with its transaction. Null: the call has changed nothing, and no line is written. */
export type RecordChange = (client: Pick<Pool | PoolClient, "query">, change: AccountChange | null) => Promise<void>;

/** No line: changes that are recorded elsewhere, or in no account. */
export const UNRECORDED: RecordChange = () => Promise.resolve();

const TAKE_TURN = "SELECT pg_advisory_xact_lock(hashtextextended('settings of ' || $1::text, 0))";

/**
 * Waits for the other changes of an account's settings, until this transaction ends: so the line of a change shows what it found. A lock of its
 * rows would not do, where there is none yet.
 */
export async function takeTurnAtSettings(client: Pick<Pool | PoolClient, "query">, accountId: string): Promise<void> {
  await client.query(TAKE_TURN, [accountId]);
}
