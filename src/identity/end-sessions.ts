// Ends the sessions of a person from outside: by an operator, with the operator's role, or with a frozen account. Each call reads
// its session, so the next call of each is refused.

import type { PoolClient } from "pg";
import { NotFound } from "../kernel/errors.ts";
import { withAuditLog, type OperatorContext } from "../operator/audit-log/operator-actions.ts";
import type { AccountChange } from "../operator/audit-log/account-changes.ts";
import { personOfEmail, readPerson } from "./people-store.ts";

const OF_PERSON = `DELETE FROM auth.session WHERE user_id = $1::uuid`;
const OF_ACCOUNT = `
DELETE FROM auth.session
WHERE acts_for = $1::uuid OR user_id IN (SELECT id FROM auth.person WHERE account_id = $1::uuid)
  OR user_id IN (SELECT person_id FROM account_member WHERE account_id = $1::uuid)`;

/** Ends every session of a person. Returns how many. */
export async function endSessionsOfPerson(client: PoolClient, personId: string): Promise<number> {
  return (await client.query(OF_PERSON, [personId])).rowCount ?? 0;
}

/** Ends every session of the person whose account it is and of its members, whatever they act for. Returns how many. */
export async function endSessionsOfAccount(client: PoolClient, accountId: string): Promise<number> {
  return (await client.query(OF_ACCOUNT, [accountId])).rowCount ?? 0;
}

/** Signs a person out everywhere, as an operator's command with its line. Errors: NotFound. */
export function signOutPerson(
  by: OperatorContext,
  { email, reason }: { readonly email: string; readonly reason: string | null },
): Promise<{ personId: string; sessions: number }> {
  return withAuditLog(
    by,
    async (client) => {
      const personId = await personOfEmail(client, email.trim());
      if (personId === null) throw new NotFound("There is no person with this e-mail address.");
      return { personId, sessions: await endSessionsOfPerson(client, personId) };
    },
    async ({ personId, sessions }, client) => ({
      action: "person sign-out",
      subject: personId,
      reason,
      facts: { sessions },
      inAccount: await ofOwnAccount(client, personId, "person.signed_out"),
    }),
  );
}

/** A change of a person, in the person's own account. Null: the person has none yet. */
export async function ofOwnAccount(
  client: PoolClient,
  personId: string,
  action: string,
): Promise<AccountChange | null> {
  const person = await readPerson(client, personId);
  if (person?.accountId == null) return null;
  return { accountId: person.accountId, action, subject: personId, facts: { email: person.email } };
}
