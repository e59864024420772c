// Customers. What signing up, a start and mails need is SQL, so that they do not load the ORM; operators' lists use it.

import type { Pool, PoolClient } from "pg";
import { entitiesOn } from "../database/orm.ts";
import type { ListOrder } from "../kernel/list-order.ts";
import type { Language } from "../kernel/preferred-language.ts";

const OF_EMAIL = `SELECT account_id FROM customer WHERE lower(email) = lower($1)`;
const READER_OF = `SELECT email, language FROM customer WHERE account_id = $1::uuid`;
const COPIED = `
SELECT account_id AS "accountId", email, language, time_zone AS "timeZone" FROM customer WHERE account_id = $1::uuid`;
const INSERT_COPY = `
INSERT INTO customer (account_id, email) VALUES ($1::uuid, $2) ON CONFLICT DO NOTHING`;
const SET_COPY = `UPDATE customer SET language = $2, time_zone = $3 WHERE account_id = $1::uuid`;
const INSERT = `INSERT INTO customer (account_id, email) VALUES ($1::uuid, $2)`;

/** The account of an e-mail address, in any case of its letters. Null: there is none. */
export async function customerOfEmail(client: Pool | PoolClient, email: string): Promise<string | null> {
  const { rows } = await client.query<{ account_id: string }>(OF_EMAIL, [email]);
  return rows[0]?.account_id ?? null;
}

/** Who reads the mails of an account, and in which language. Null: it has no customer. */
export async function readerOfAccount(
  pool: Pool,
  accountId: string,
): Promise<{ email: string; language: Language } | null> {
  return (await pool.query<{ email: string; language: Language }>(READER_OF, [accountId])).rows[0] ?? null;
}

/** A customer as another cell keeps it beside the account, for its lists and receipts. */
export type CopiedCustomer = {
  readonly accountId: string;
  readonly email: string;
  readonly language: Language;
  readonly timeZone: string;
};

/** Reads what another cell keeps of a customer. Null: the account has none. */
export async function readCopiedCustomer(client: Pool | PoolClient, accountId: string): Promise<CopiedCustomer | null> {
  return (await client.query<CopiedCustomer>(COPIED, [accountId])).rows[0] ?? null;
}

/** Keeps a customer of another database's people beside the account. */
export async function writeCopiedCustomer(client: PoolClient, customer: CopiedCustomer): Promise<void> {
  const { accountId, email, language, timeZone } = customer;
  await client.query(INSERT_COPY, [accountId, email]);
  await client.query(SET_COPY, [accountId, language, timeZone]);
}

export async function insertCustomer(
  client: PoolClient,
  { accountId, email }: { accountId: string; email: string },
): Promise<void> {
  await client.query(INSERT, [accountId, email]);
}

/** A customer as it was made. */
export type Customer = { readonly accountId: string; readonly email: string; readonly createdAt: Date };

/** The customer of an account. Null: there is none. */
export async function customerOf(pool: Pool, accountId: string): Promise<Customer | null> {
  const { em, Customer } = await entitiesOn(pool);
  const customer = await em.findOne(Customer, { accountId });
  return customer === null ? null : fromRow(customer);
}

const NAMED_BY_ID = `SELECT account_id AS "accountId", email FROM customer WHERE account_id = ANY ($1::uuid[])`;
const NAMED_BY_EMAIL = `
SELECT account_id AS "accountId", email FROM customer WHERE lower(email) = ANY (SELECT lower(address) FROM unnest($1::text[]) address)`;

/** The customers of accounts or of whole addresses, each once. Unknown ones are left out. */
export async function nameCustomers(
  pool: Pool,
  { accountIds, emails }: { accountIds: readonly string[]; emails: readonly string[] },
): Promise<Pick<Customer, "accountId" | "email">[]> {
  type Named = Pick<Customer, "accountId" | "email">;
  const found: Named[] = [];
  if (accountIds.length > 0) found.push(...(await pool.query<Named>(NAMED_BY_ID, [accountIds])).rows);
  if (emails.length > 0) found.push(...(await pool.query<Named>(NAMED_BY_EMAIL, [emails])).rows);
  return [...new Map(found.map((named) => [named.accountId, named])).values()];
}

/** The orders of customers. Ids begin with the time they were made, so their order is the order of the customers. */
const SORTED_BY = { opened: "account_id", email: "lower(email)" } as const;
export const CUSTOMER_ORDERS = Object.keys(SORTED_BY) as (keyof typeof SORTED_BY)[];
export type CustomerOrder = ListOrder<keyof typeof SORTED_BY>;
const NEWEST_FIRST: CustomerOrder = { column: "opened", isDown: true };

// Both columns are unique and have an index, which is read in its order from the page before on.
const found = ({ column, isDown }: CustomerOrder, conditions: readonly string[]): string => `
SELECT account_id AS "accountId", email, created_at AS "createdAt" FROM customer
${conditions.length === 0 ? "" : `WHERE ${conditions.join(" AND ")}`} ORDER BY ${SORTED_BY[column]} ${isDown ? "DESC" : ""} LIMIT $1::int`;

/**
 * Customers whose address has the text in it, newest first where no other order is given, behind the customer `beforeId`. An empty text
 * finds all.
 */
export async function findCustomers(
  pool: Pool,
  {
    text,
    beforeId,
    limit,
    order = NEWEST_FIRST,
  }: { text: string; beforeId: string | null; limit: number; order?: CustomerOrder },
): Promise<Customer[]> {
  const values: unknown[] = [limit];
  const parameter = (value: unknown): string => `$${values.push(value)}`;
  const conditions: string[] = [];
  if (text !== "") {
    const literal = text.toLowerCase().replaceAll(/[\\%_]/g, "\\$&");
    conditions.push(`lower(email) LIKE ${parameter(`%${literal}%`)}`);
  }
  if (beforeId !== null) {
    const column = SORTED_BY[order.column];
    const id = `${parameter(beforeId)}::uuid`;
    const last = order.column === "opened" ? id : `(SELECT ${column} FROM customer WHERE account_id = ${id})`;
    conditions.push(`${column} ${order.isDown ? "<" : ">"} ${last}`);
  }
  return (await pool.query<Customer>(found(order, conditions), values)).rows;
}

function fromRow({ accountId, email, createdAt }: Customer): Customer {
  return { accountId, email, createdAt };
}
