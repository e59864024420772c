// Who gets the mails of an account, by role. Billing decides which roles a mail is for.

import type { Pool } from "pg";
import type { Language } from "../../kernel/preferred-language.ts";
import type { AccountRole } from "../principal.ts";

/** A person who gets a mail. `id`: the person, or the account where its customer has not signed up yet. */
export type MailReader = {
  readonly id: string;
  readonly email: string;
  readonly language: Language;
  /** Whether the person may change the settings of the account. */
  readonly mayChange: boolean;
};

/** As many as an account may have members. */
const MOST = 200;

// $1 the account, $2 roles, $3 one person more, whatever the role. The customer of an account is its holder: an owner without a row, who may not
// have signed up yet. A member reads in the language of the own account.
const READERS = `
SELECT coalesce(p.id, c.account_id) AS id, c.email, c.language, true AS "mayChange", NULL::timestamptz AS joined
FROM customer c LEFT JOIN auth.person p ON p.account_id = c.account_id
WHERE c.account_id = $1::uuid AND ('owner' = ANY ($2::text[]) OR p.id = $3::uuid)
UNION ALL
SELECT p.id, p.email, coalesce(own.language, c.language), m.role IN ('owner', 'admin'), m.created_at
FROM account_member m JOIN auth.person p ON p.id = m.person_id AND p.account_id IS DISTINCT FROM m.account_id
  LEFT JOIN customer own ON own.account_id = p.account_id
  LEFT JOIN customer c ON c.account_id = m.account_id
WHERE m.account_id = $1::uuid AND (m.role = ANY ($2::text[]) OR p.id = $3::uuid) AND p.email_verified
ORDER BY 5 NULLS FIRST, 1 LIMIT ${MOST}`;
const EMAIL = `SELECT email FROM auth.person WHERE id = $1::uuid`;

/** The people of an account with these roles, and one more if a member, whatever the role. The holder is first. */
export async function mailReadersOf(
  pool: Pool,
  accountId: string,
  { roles, personId }: { readonly roles: readonly AccountRole[]; readonly personId: string | null },
): Promise<MailReader[]> {
  return (await pool.query<MailReader>(READERS, [accountId, roles, personId])).rows;
}

/** The address of a person. Null: there is none any more. */
export async function emailOfPerson(pool: Pool, personId: string): Promise<string | null> {
  return (await pool.query<{ email: string }>(EMAIL, [personId])).rows[0]?.email ?? null;
}
