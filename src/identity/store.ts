import type { Pool, PoolClient } from "pg";

const OF_EMAIL = `SELECT account_id FROM customer WHERE lower(email) = lower($1)`;
const EMAIL_OF = `SELECT email FROM customer WHERE account_id = $1::uuid`;
const INSERT = `INSERT INTO customer (account_id, email) VALUES ($1::uuid, $2)`;

/** The account of an e-mail address, in any case of its letters. Null: there is none. */
export async function customerOfEmail(client: Pool | PoolClient, email: string): Promise<string | null> {
  const { rows } = await client.query<{ account_id: string }>(OF_EMAIL, [email]);
  return rows[0]?.account_id ?? null;
}

/** The e-mail address of an account. Null: it has no customer. */
export async function emailOfAccount(pool: Pool, accountId: string): Promise<string | null> {
  return (await pool.query<{ email: string }>(EMAIL_OF, [accountId])).rows[0]?.email ?? null;
}

export async function insertCustomer(
  client: PoolClient,
  { accountId, email }: { accountId: string; email: string },
): Promise<void> {
  await client.query(INSERT, [accountId, email]);
}

/** A customer as it was made. */
export type Customer = { readonly accountId: string; readonly email: string; readonly createdAt: Date };

const COLUMNS = `account_id AS "accountId", email, created_at AS "createdAt"`;
const BY_ID = `SELECT ${COLUMNS} FROM customer WHERE account_id = $1::uuid`;
// Ids begin with the time they were made, so their order is the order of the customers.
const FIND = `
SELECT ${COLUMNS} FROM customer
WHERE account_id < $1::uuid AND ($2::text = '' OR lower(email) LIKE '%' || $2::text || '%')
ORDER BY account_id DESC LIMIT $3::int`;
const LAST_UUID = "ffffffff-ffff-ffff-ffff-ffffffffffff";

/** The customer of an account. Null: there is none. */
export async function customerOf(pool: Pool, accountId: string): Promise<Customer | null> {
  return (await pool.query<Customer>(BY_ID, [accountId])).rows[0] ?? null;
}

/** Customers whose address has the text in it, newest first, with ids before `beforeId`. An empty text finds all. */
export async function findCustomers(
  pool: Pool,
  { text, beforeId, limit }: { text: string; beforeId: string | null; limit: number },
): Promise<Customer[]> {
  const literal = text.toLowerCase().replaceAll(/[\\%_]/g, "\\$&");
  return (await pool.query<Customer>(FIND, [beforeId ?? LAST_UUID, literal, limit])).rows;
}
