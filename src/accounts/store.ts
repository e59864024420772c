import type { Pool, PoolClient } from "pg";

const OF_EMAIL = `SELECT account_id FROM customer WHERE lower(email) = lower($1)`;
const INSERT = `INSERT INTO customer (account_id, email) VALUES ($1::uuid, $2)`;

/** The account of an e-mail address, whatever its case. Null: nobody has it. */
export async function customerOfEmail(client: Pool | PoolClient, email: string): Promise<string | null> {
  const { rows } = await client.query<{ account_id: string }>(OF_EMAIL, [email]);
  return rows[0]?.account_id ?? null;
}

export async function insertCustomer(
  client: PoolClient,
  { accountId, email }: { accountId: string; email: string },
): Promise<void> {
  await client.query(INSERT, [accountId, email]);
}
