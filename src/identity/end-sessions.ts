// Ending the sessions of a person from outside: by an operator, with the operator's role, or with a frozen account. A session is looked
// up for every call, so the next call of each is nobody's.

import type { PoolClient } from "pg";
import { NotFound } from "../kernel/errors.ts";
import { doAndRecord, type OrderedBy } from "../operator/audit-log/operator-actions.ts";
import { personOfEmail } from "./people-store.ts";

const OF_PERSON = `DELETE FROM auth.session WHERE user_id = $1::uuid`;
const OF_ACCOUNT = `
DELETE FROM auth.session WHERE user_id IN (SELECT id FROM auth.person WHERE account_id = $1::uuid)`;

/** Ends every session of a person. Gives how many. */
export async function endSessionsOfPerson(client: PoolClient, personId: string): Promise<number> {
  return (await client.query(OF_PERSON, [personId])).rowCount ?? 0;
}

/** Ends every session of the person whose account it is. Gives how many. */
export async function endSessionsOfAccount(client: PoolClient, accountId: string): Promise<number> {
  return (await client.query(OF_ACCOUNT, [accountId])).rowCount ?? 0;
}

/** Signs a person out everywhere, as an operator's order with its line. Errors: NotFound. */
export function orderSignOut(
  by: OrderedBy,
  { email, reason }: { readonly email: string; readonly reason: string | null },
): Promise<{ personId: string; sessions: number }> {
  return doAndRecord(
    by,
    async (client) => {
      const personId = await personOfEmail(client, email.trim());
      if (personId === null) throw new NotFound("Nobody has this e-mail address.");
      return { personId, sessions: await endSessionsOfPerson(client, personId) };
    },
    ({ personId, sessions }) => ({ action: "person sign-out", subject: personId, reason, facts: { sessions } }),
  );
}
