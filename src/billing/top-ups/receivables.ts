// What accounts owe us. A provider gives a payer's money back whether or not the account still has it; what it no longer has
// is owed, and taken first from what the account buys next. Every change is made behind the lock of the account.

import type { Pool, PoolClient } from "pg";
import { uuidv7 } from "../../kernel/ids.ts";
import { IDR } from "../../kernel/money.ts";
import { debitAvailable } from "../../ledger/debit.ts";
import { insertPostings } from "../../ledger/postings.ts";
import { systemAccounts } from "../../ledger/system-accounts.ts";

const INSERT = `INSERT INTO receivable (id, account_id, top_up_id, amount) VALUES ($1::uuid, $2::uuid, $3::uuid, $4::bigint)`;
const OPEN = `
SELECT id, amount, collected FROM receivable WHERE account_id = $1::uuid AND collected < amount ORDER BY id FOR NO KEY UPDATE`;
const COLLECT = `UPDATE receivable SET collected = $2::bigint WHERE id = $1::uuid`;
const OWED = `
SELECT coalesce(sum(amount - collected), 0)::bigint AS owed FROM receivable WHERE account_id = $1::uuid AND collected < amount`;

/** What an account owes, in micro-rupiah. */
export async function readOwed(pool: Pick<Pool, "query">, accountId: string): Promise<bigint> {
  return (await pool.query<{ owed: bigint }>(OWED, [accountId])).rows[0]?.owed ?? 0n;
}

const OWED_OF = `
SELECT account_id, sum(amount - collected)::bigint AS owed FROM receivable
WHERE account_id = ANY ($1::uuid[]) AND collected < amount GROUP BY account_id`;

/** What several accounts owe. One that owes nothing is not in it. */
export async function readOwedOf(
  pool: Pick<Pool, "query">,
  accountIds: readonly string[],
): Promise<Map<string, bigint>> {
  const { rows } = await pool.query<{ account_id: string; owed: bigint }>(OWED_OF, [accountIds]);
  return new Map(rows.map((row) => [row.account_id, row.owed]));
}

/** Books what an account could not give back. The account is locked. */
export async function owe(
  client: PoolClient,
  { accountId, topUpId, amount, reason }: { accountId: string; topUpId: string; amount: bigint; reason: string },
): Promise<void> {
  const receivableId = uuidv7();
  await client.query(INSERT, [receivableId, accountId, topUpId, amount]);
  await insertPostings(client, [
    {
      id: uuidv7(),
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

/** Takes what an account owes from what a top-up has brought, the oldest first. The account is locked. */
export async function collectOwed(
  client: PoolClient,
  { accountId, topUpId, amount }: { accountId: string; topUpId: string; amount: bigint },
): Promise<void> {
  let left = amount;
  const { rows } = await client.query<{ id: string; amount: bigint; collected: bigint }>(OPEN, [accountId]);
  for (const { id, amount: owed, collected } of rows) {
    const rest = owed - collected;
    const taken = await debitAvailable(client, {
      accountId,
      amount: rest < left ? rest : left,
      to: systemAccounts.receivables,
      reason: "receivable_collected",
      reference: `receivable:${id}:${topUpId}`,
      groupId: topUpId,
    });
    await client.query(COLLECT, [id, collected + taken]);
    left -= taken;
    if (left === 0n) return;
  }
}
