// The operator of the machine removes the second factor of a person who has lost app, codes and passkeys. The person then signs in
// by the password; a person who must have a second factor sets one up before anything else.

import type { PoolClient } from "pg";
import { NotFound } from "../../kernel/errors.ts";
import { deleteFactors, endAllSessions, lockFactors } from "./second-factor-store.ts";

const PERSON_OF_EMAIL = `SELECT id FROM auth.person WHERE email = lower($1)`;

/** Removes all of it, ends every session, and gives the person's id. Errors: NotFound. */
export async function resetSecondFactor(client: PoolClient, email: string): Promise<string> {
  const { rows } = await client.query<{ id: string }>(PERSON_OF_EMAIL, [email]);
  if (rows[0] === undefined) throw new NotFound("There is no person with this e-mail address.");
  const { id } = rows[0];
  await lockFactors(client, id);
  if (!(await deleteFactors(client, id))) throw new NotFound("This person has no second factor.");
  await endAllSessions(client, id);
  return id;
}
