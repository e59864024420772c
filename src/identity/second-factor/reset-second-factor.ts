// The operator of the machine removes the second factor of a person who has lost app, codes and passkeys. The person then signs in
// by the password; a person who must have a second factor sets one up before anything else.

import type { PoolClient } from "pg";
import { NotFound } from "../../kernel/errors.ts";
import { personOfEmail } from "../people-store.ts";
import { deleteFactors, endAllSessions, lockFactors } from "./second-factor-store.ts";

/** Removes all of it, ends every session, and gives the person's id. Errors: NotFound. */
export async function resetSecondFactor(client: PoolClient, email: string): Promise<string> {
  const id = await personOfEmail(client, email);
  if (id === null) throw new NotFound("There is no person with this e-mail address.");
  await lockFactors(client, id);
  if (!(await deleteFactors(client, id))) throw new NotFound("This person has no second factor.");
  await endAllSessions(client, id);
  return id;
}
