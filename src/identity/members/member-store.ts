// Members of accounts in SQL. The person whose account it is (`auth.person.account_id`) is an owner without a row.

import type { Pool, PoolClient } from "pg";
import type { AccountRole } from "../principal.ts";

type Queryable = Pick<Pool | PoolClient, "query">;

/** A person in an account. */
export type MemberId = { readonly accountId: string; readonly personId: string };

const ROLE = `
SELECT CASE WHEN p.account_id = $1::uuid THEN 'owner' ELSE m.role END AS role
FROM auth.person p LEFT JOIN account_member m ON m.account_id = $1::uuid AND m.person_id = p.id
WHERE p.id = $2::uuid`;

/** The role of a person in an account. Null: the person is no member. Exact behind the lock of the account. */
export async function readRole(client: Queryable, { accountId, personId }: MemberId): Promise<AccountRole | null> {
  return (await client.query<{ role: AccountRole | null }>(ROLE, [accountId, personId])).rows[0]?.role ?? null;
}
