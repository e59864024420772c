// Changes of members: another role, removal, leaving. Each is decided behind the lock of the account, on the rows as they are then: the
// role of the person who changes, that of the member, and whether an owner is left. The keys and invitations that must go with the member
// go in the same transaction.

import type { PoolClient } from "pg";
import type { Database } from "../../database/database.ts";
import { withRetry, withTransaction } from "../../database/transactions.ts";
import { LimitExceeded, NotFound, RoleMissing, ValidationError } from "../../kernel/errors.ts";
import type { AccountRole } from "../principal.ts";
import { recordActivity } from "./activity.ts";
import { revokeInvites } from "./invite-store.ts";
import { mayHaveKeys, mayMakePairs, requireManager } from "./member-roles.ts";
import {
  deleteMember,
  insertMember,
  type Member,
  type MemberId,
  readMembers,
  writeActsFor,
  writeRole,
} from "./member-store.ts";

/** The most members that an account can have. */
export const MAX_MEMBERS = 200;

/** Functions of other rooms that take part in a change of members. */
export type MemberPorts = {
  readonly database: Pick<Database, "pool">;
  /** Locks an account until the end of the transaction; the ledger's. Errors: NotFound. */
  readonly lockAccount: (client: PoolClient, accountId: string) => Promise<unknown>;
  /** Revokes the keys that a person has made in an account, behind its lock. Returns how many people could see. */
  readonly revokeKeysOfPerson: (client: PoolClient, member: MemberId) => Promise<number>;
  /** Revokes the pairs that a person has made for merchants of an account, behind its lock. Returns how many. */
  readonly revokePairsOfPerson: (client: PoolClient, member: MemberId) => Promise<number>;
};

type Revokers = Pick<MemberPorts, "revokeKeysOfPerson" | "revokePairsOfPerson">;

/** How many keys and merchants' pairs of a member were revoked. */
export type Revoked = { readonly keys: number; readonly pairs: number };

/** The person who changes something, in the account that the session acts for. */
export type Actor = MemberId & { readonly email: string };

/** Gives a member another role, and revokes what that role may not have. Errors: NotFound, RoleMissing, ValidationError. */
export function changeRole(
  ports: MemberPorts,
  { actor, personId, role }: { actor: Actor; personId: string; role: AccountRole },
): Promise<{ revokedKeys: number }> {
  return inAccount(ports, actor.accountId, async (client) => {
    const member = await requireMember(client, { accountId: actor.accountId, personId });
    await requireManager(client, actor, [member.role, role]);
    if (member.role === role) return { revokedKeys: 0 };
    await requireOtherOwner(client, actor.accountId, member);
    await writeRole(client, { accountId: actor.accountId, personId, role });
    const revoked = await takeBack(ports, client, { accountId: actor.accountId, personId, role });
    await record(client, actor, "member.role_changed", member, { from: member.role, to: role, ...revoked });
    return { revokedKeys: revoked.keys };
  });
}

/** Removes a member, and revokes the keys, the merchants' pairs and the invitations that the member has made. Errors: as changeRole. */
export function removeMember(
  ports: MemberPorts,
  { actor, personId }: { actor: Actor; personId: string },
): Promise<{ revokedKeys: number }> {
  return inAccount(ports, actor.accountId, async (client) => {
    const member = await requireMember(client, { accountId: actor.accountId, personId });
    await requireManager(client, actor, [member.role]);
    const revoked = await endMembership(ports, client, { accountId: actor.accountId, member });
    await record(client, actor, "member.removed", member, { role: member.role, ...revoked });
    return { revokedKeys: revoked.keys };
  });
}

/** Ends the membership of the person who asks, whose session then acts for the own account. Errors: RoleMissing, ValidationError. */
export function leaveAccount(
  ports: MemberPorts,
  { actor, sessionId }: { actor: Actor; sessionId: string },
): Promise<{ revokedKeys: number }> {
  return inAccount(ports, actor.accountId, async (client) => {
    const member = (await readMembers(client, actor.accountId, MAX_MEMBERS)).find(isPerson(actor.personId));
    if (member === undefined) throw new RoleMissing(false);
    const revoked = await endMembership(ports, client, { accountId: actor.accountId, member });
    await writeActsFor(client, { sessionId, personId: actor.personId, accountId: null });
    await record(client, actor, "member.left", member, { role: member.role, ...revoked });
    return { revokedKeys: revoked.keys };
  });
}

/**
 * Makes a person a member with a role, or gives a member another one, behind the lock of the account: an operator's command.
 * Errors: ValidationError for the last owner, LimitExceeded.
 */
export async function setMember(
  ports: Revokers,
  client: PoolClient,
  { accountId, personId, role }: MemberId & { role: AccountRole },
): Promise<void> {
  const members = await readMembers(client, accountId, MAX_MEMBERS);
  const member = members.find(isPerson(personId));
  if (member === undefined) {
    if (members.length >= MAX_MEMBERS) throw new LimitExceeded(`An account has at most ${MAX_MEMBERS} members.`);
    await insertMember(client, { accountId, personId, role });
    return;
  }
  if (role !== "owner") await requireOtherOwner(client, accountId, member);
  await writeRole(client, { accountId, personId, role });
  if (member.role !== role) await takeBack(ports, client, { accountId, personId, role });
}

/** Removes a member behind the lock of the account, whatever the caller is. Errors: ValidationError. */
export async function endMembership(
  ports: Revokers,
  client: PoolClient,
  { accountId, member }: { accountId: string; member: Member },
): Promise<Revoked> {
  await requireOtherOwner(client, accountId, member);
  await deleteMember(client, { accountId, personId: member.personId });
  return takeBack(ports, client, { accountId, personId: member.personId, role: null });
}

/** Runs a change behind the lock of an account: accounts are locked before members, keys and holds. */
export function inAccount<Outcome>(
  { database, lockAccount }: Pick<MemberPorts, "database" | "lockAccount">,
  accountId: string,
  work: (client: PoolClient) => Promise<Outcome>,
): Promise<Outcome> {
  return withRetry(() =>
    withTransaction(database, async (client) => {
      await lockAccount(client, accountId);
      return work(client);
    }),
  );
}

/** A member of an account. Errors: NotFound. */
export async function requireMember(client: PoolClient, { accountId, personId }: MemberId): Promise<Member> {
  const member = (await readMembers(client, accountId, MAX_MEMBERS)).find(isPerson(personId));
  if (member === undefined) throw new NotFound("There is no such member.");
  return member;
}

/** An account always has an owner, and its holder is one. Errors: ValidationError. */
async function requireOtherOwner(client: PoolClient, accountId: string, member: Member): Promise<void> {
  if (member.isHolder) throw problem("member.holder", "is the person whose own account it is, and stays its owner");
  if (member.role !== "owner") return;
  const others = await readMembers(client, accountId, MAX_MEMBERS);
  if (others.some(({ personId, role }) => role === "owner" && personId !== member.personId)) return;
  throw problem("member.last_owner", "is the last owner; make another member an owner first");
}

/** What goes with a role: keys and pairs, where the new role may have none, and the invitations that the person has made. */
async function takeBack(
  { revokeKeysOfPerson, revokePairsOfPerson }: Revokers,
  client: PoolClient,
  { accountId, personId, role }: MemberId & { role: AccountRole | null },
): Promise<Revoked> {
  await revokeInvites(client, { accountId, invitedBy: personId });
  const keys = role !== null && mayHaveKeys(role) ? 0 : await revokeKeysOfPerson(client, { accountId, personId });
  const pairs = role !== null && mayMakePairs(role) ? 0 : await revokePairsOfPerson(client, { accountId, personId });
  return { keys, pairs };
}

/** What was revoked, as a line of the activity log has it: counts of zero are left out. */
export function revokedFacts({ keys, pairs }: Revoked): Readonly<Record<string, string>> {
  return {
    ...(keys === 0 ? {} : { revoked_keys: String(keys) }),
    ...(pairs === 0 ? {} : { revoked_pairs: String(pairs) }),
  };
}

function record(
  client: PoolClient,
  { accountId, personId, email }: Actor,
  action: string,
  member: Member,
  { keys, pairs, ...facts }: Revoked & { role?: AccountRole; from?: AccountRole; to?: AccountRole },
): Promise<void> {
  const shown = { email: member.email, ...facts, ...revokedFacts({ keys, pairs }) };
  return recordActivity(client, { accountId, personId, actor: email, action, subject: member.personId, facts: shown });
}

const isPerson =
  (personId: string) =>
  (member: Member): boolean =>
    member.personId === personId;

function problem(rule: string, message: string): ValidationError {
  return new ValidationError([{ field: "personId", rule, message }]);
}
