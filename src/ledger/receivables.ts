// What accounts owe us. A provider gives a payer's money back whether or not the account still has it; the missing part is owed.
// account.owed is the sum of an account's receivables, changes with them under the account's lock, and cannot be spent. It is
// collected from every event that brings or frees money of the account: a credit (credits.ts), a settlement (the database
// function), and here the recovered hold of a dead process, which neither of them sees.

import type { Pool, PoolClient } from "pg";
import { uuidv7 } from "../kernel/ids.ts";
import { IDR } from "../kernel/money.ts";
import { insertPostings } from "./postings.ts";
import { systemAccounts } from "./system-accounts.ts";

/** How many accounts one statement collects from at most. */
const ACCOUNTS_PER_STATEMENT = 100;
/** A bound on one run: the next run collects the rest. */
const MOST_STATEMENTS = 100;

const INSERT = `INSERT INTO receivable (id, account_id, top_up_id, amount) VALUES ($1::uuid, $2::uuid, $3::uuid, $4::bigint)`;
const ADD_OWED = `UPDATE account SET owed = owed + $2::bigint WHERE id = $1::uuid`;

// A locked account is left to the next run, and so are those behind the first ones where all of these are locked: a settlement that
// holds the lock collects by itself.
const COLLECT_FREED = `
SELECT collect_owed(id, new_uuidv7()) AS collected FROM lock_free_accounts(ARRAY(
  SELECT id FROM account WHERE owed > 0 AND posted > held ORDER BY id LIMIT ${ACCOUNTS_PER_STATEMENT}))`;

type OpenDebt = { readonly receivableId: string; readonly accountId: string; readonly rest: bigint };
const OPEN_OF_TOP_UPS = `
SELECT id AS "receivableId", account_id AS "accountId", amount - collected AS rest FROM receivable
WHERE top_up_id = ANY ($1::uuid[]) AND collected < amount ORDER BY id FOR NO KEY UPDATE`;
const CLOSE = `
WITH open AS MATERIALIZED (
  SELECT id, account_id, amount - collected AS rest FROM receivable WHERE id = ANY ($1::uuid[])
), closed AS (
  UPDATE receivable r SET collected = r.amount FROM open WHERE r.id = open.id
)
UPDATE account a SET owed = a.owed - o.rest
FROM (SELECT account_id, sum(rest)::bigint AS rest FROM open GROUP BY account_id) o WHERE a.id = o.account_id`;

/** Records the debt that an account could not pay. The caller has locked the account. */
export async function owe(
  client: PoolClient,
  { accountId, topUpId, amount, reason }: { accountId: string; topUpId: string; amount: bigint; reason: string },
): Promise<void> {
  const receivableId = uuidv7();
  await client.query(INSERT, [receivableId, accountId, topUpId, amount]);
  await client.query(ADD_OWED, [accountId, amount]);
  await insertPostings(client, [
    {
      id: uuidv7(),
      accountId,
      groupId: topUpId,
      asset: IDR,
      debit: systemAccounts.receivables,
      credit: systemAccounts.providerClearing,
      amount,
      reason,
      reference: `receivable:${receivableId}`,
    },
  ]);
}

/**
 * Forgives debts of top-ups: `from` pays them, and the money goes to these debts whatever else the account owes. The caller has
 * locked the accounts.
 */
export async function forgiveDebts(
  client: PoolClient,
  { topUpIds, from, reason, note }: { topUpIds: readonly string[]; from: string; reason: string; note: string },
): Promise<void> {
  const { rows } = await client.query<OpenDebt>(OPEN_OF_TOP_UPS, [topUpIds]);
  if (rows.length === 0) return;
  const postings = rows.flatMap(({ receivableId, accountId, rest }) => {
    const groupId = uuidv7();
    const collectedId = uuidv7();
    const each = { accountId, groupId, asset: IDR, amount: rest };
    const given = { ...each, id: groupId, debit: from, credit: accountId, reason, note };
    const reference = `receivable:${receivableId}:${collectedId}`;
    const collected = { ...each, id: collectedId, debit: accountId, credit: systemAccounts.receivables, reference };
    return [given, { ...collected, reason: "receivable_collected" }];
  });
  await insertPostings(client, postings);
  await client.query(CLOSE, [rows.map(({ receivableId }) => receivableId)]);
}

/** Collects debts from available money. Returns the number of accounts; locked ones are left to the next run. */
export async function collectFreed(pool: Pool, signal?: AbortSignal): Promise<number> {
  let accounts = 0;
  for (let statement = 1; statement <= MOST_STATEMENTS && signal?.aborted !== true; statement += 1) {
    const { rowCount } = await pool.query(COLLECT_FREED);
    accounts += rowCount ?? 0;
    if ((rowCount ?? 0) < ACCOUNTS_PER_STATEMENT) break;
  }
  return accounts;
}
