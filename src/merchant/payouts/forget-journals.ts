// The journals that the books know, for operators, and the end of one whose node does not come back.

import type { Pool, PoolClient } from "pg";
import { type History, isSameHistory, readHistory } from "../../database/history.ts";
import { NotFound, ValidationError } from "../../kernel/errors.ts";
import { awaitNoJournals } from "./wallet-store.ts";

/** A running node gives its journal another name twice within this time. */
export const LIVES_MINUTES = 20;

const LIST = `
SELECT w.chain, w.address, j.host, j.id, j.final_nonce AS "finalNonce", j.compared_at AS "comparedAt", j.owned_at AS "ownedAt",
  j.system_identifier AS system, j.timeline, j.books
FROM payout_journal j JOIN wallet w ON w.id = j.wallet_id ORDER BY w.chain, w.address, j.host, j.id`;
// The wallets first: a node that compares its journal locks its wallet before it writes the row.
const LOCK = `
SELECT w.id FROM wallet w WHERE EXISTS (SELECT FROM payout_journal j WHERE j.wallet_id = w.id AND j.host = $1)
ORDER BY w.id FOR NO KEY UPDATE OF w`;
// A host of the same name with another volume has another journal.
const FORGET = `
DELETE FROM payout_journal
WHERE host = $1 AND (owned_at IS NULL OR owned_at <= clock_timestamp() - $2::int * interval '1 minute') RETURNING wallet_id AS id`;

/** A journal as operators see it. `isCompared`: with the books of now. */
export type ListedJournal = {
  readonly chain: string;
  readonly address: string;
  readonly host: string;
  readonly id: string;
  readonly finalNonce: number | null;
  readonly comparedAt: Date;
  readonly ownedAt: Date | null;
  readonly isCompared: boolean;
};

/** Lists the journals of all wallets. */
export async function listJournals(client: Pick<Pool, "query">): Promise<ListedJournal[]> {
  const now = await readHistory(client);
  const { rows } = await client.query<Omit<ListedJournal, "isCompared"> & History>(LIST);
  return rows.map(({ system, timeline, books, ...journal }) => ({
    ...journal,
    isCompared: now !== null && isSameHistory({ system, timeline, books }, now),
  }));
}

/**
 * Forgets the journals of a host, inside the caller's transaction, and returns how many there were. What they had and the books lack is
 * not noticed then, so a wallet that waits for them stays stopped until it is resumed. Errors: NotFound; ValidationError, while
 * processes use all of them.
 */
export async function forgetJournals(client: PoolClient, host: string): Promise<number> {
  if ((await client.query(LOCK, [host])).rowCount === 0) throw new NotFound("No payout journal of this host is known.");
  const { rows } = await client.query<{ id: string }>(FORGET, [host, LIVES_MINUTES]);
  if (rows.length === 0) {
    const message = `was used within the last ${LIVES_MINUTES} minutes: stop its node, and wait`;
    throw new ValidationError([{ field: "host", rule: "journal.used", message }]);
  }
  for (const { id } of rows) await awaitNoJournals(client, id);
  return rows.length;
}
