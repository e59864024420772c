// The accounts of a person: which there are, which one the session acts for, and what an account is called.

import type { Pool } from "pg";
import { NotFound, ValidationError } from "../../kernel/errors.ts";
import { recordActivity } from "./activity.ts";
import { requireManager } from "./member-roles.ts";
import { type Membership, readMemberships, writeAccountName, writeActsFor } from "./member-store.ts";
import { MAX_MEMBERSHIPS } from "./invites.ts";
import { type Actor, inAccount, type MemberPorts } from "./members.ts";

// A name is in mails to people who are invited, so it must not read like a message with an address in it.
const NAME = /^[\p{L}\p{N}][\p{L}\p{M}\p{N} .,&'()-]*$/u;
const LIKE_A_HOST = /\.\p{L}{2}/u;

/** Lists the accounts that a person may act for, the own one first. */
export function listMyAccounts(pool: Pool, personId: string): Promise<Membership[]> {
  return readMemberships(pool, personId, MAX_MEMBERSHIPS);
}

/** Lets a session act for another account of its person. Errors: NotFound when the person is no member of it. */
export async function switchAccount(
  pool: Pool,
  { personId, sessionId, accountId }: { personId: string; sessionId: string; accountId: string },
): Promise<Membership> {
  const chosen = (await listMyAccounts(pool, personId)).find((each) => each.accountId === accountId);
  if (chosen === undefined) throw new NotFound("There is no such account.");
  await writeActsFor(pool, { sessionId, personId, accountId: chosen.isOwn ? null : accountId });
  return chosen;
}

/** Gives an account another name; empty: none. Returns what it is called then. Errors: RoleMissing, ValidationError. */
export function renameAccount(ports: MemberPorts, { actor, name }: { actor: Actor; name: string }): Promise<string> {
  const given = name.trim();
  if (given !== "" && (!NAME.test(given) || LIKE_A_HOST.test(given))) {
    const message = "must be letters, digits, spaces and . , & ' ( ) -, and no address on the internet";
    throw new ValidationError([{ field: "name", rule: "name.shape", message }]);
  }
  const { accountId, personId, email } = actor;
  return inAccount(ports, accountId, async (client) => {
    await requireManager(client, actor, []);
    const called = await writeAccountName(client, { accountId, name: given === "" ? null : given });
    const line = { accountId, personId, actor: email, action: "account.renamed", subject: null };
    await recordActivity(client, { ...line, facts: { name: called } });
    return called;
  });
}
