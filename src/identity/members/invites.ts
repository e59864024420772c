// Invitations by mail. The token is in the mail alone and stored as a digest. It is used once, by a person whose verified address is the
// invited one: another reader of the link learns nothing of it. Whether the address has an account shows nowhere.

import { createHash, randomBytes } from "node:crypto";
import type { PoolClient } from "pg";
import { LimitExceeded, NotFound, TooManyTries, UpstreamBusy, ValidationError } from "../../kernel/errors.ts";
import { uuidv7 } from "../../kernel/ids.ts";
import { digestSecretToken } from "../../kernel/secret-token.ts";
import { isEmailAddress } from "../customers.ts";
import type { Mailer } from "../mailer.ts";
import { invitationMail } from "../mails.ts";
import type { AccountRole } from "../principal.ts";
import { readSettings } from "../settings.ts";
import { type Pace, takeTry } from "../throttle.ts";
import { recordActivity } from "./activity.ts";
import {
  acceptNamedInvite,
  insertInvite,
  type Invite,
  type InviteName,
  readInviteRole,
  readNamedInvite,
  readOpenInvites,
  readOpenRoles,
  type RevokedInvite,
  revokeInvites,
} from "./invite-store.ts";
import { requireManager } from "./member-roles.ts";
import {
  insertMember,
  type Membership,
  readAccountName,
  readMembers,
  readMemberships,
  readPersonOfEmail,
  readRole,
  writeActsFor,
} from "./member-store.ts";
import { type Actor, inAccount, MAX_MEMBERS, type MemberPorts } from "./members.ts";

/** The most invitations of an account that are open at a time. */
export const MAX_OPEN_INVITES = 50;
/** Where the link of a mail leads. */
export const INVITE_PATH = "/invite";
const TOKEN_BYTES = 32;
/** Mails of one account, those of it to one address, and to one address from everywhere: no single account can use up the last. */
const PER_ACCOUNT: Pace = { burst: 20, intervalSeconds: 180 };
const PER_ACCOUNT_AND_ADDRESS: Pace = { burst: 5, intervalSeconds: 3_600 };
const PER_ADDRESS: Pace = { burst: 40, intervalSeconds: 900 };

export type InvitePorts = MemberPorts & {
  readonly mailer: Pick<Mailer, "isConfigured" | "send">;
  /** Where people reach the service. */
  readonly baseUrl: () => string;
};

/**
 * Mails an invitation; a former one to the address is revoked. Errors: RoleMissing, ValidationError, LimitExceeded, TooManyTries,
 * UpstreamBusy when the mail is not sent, with the invitation open.
 */
export async function inviteMember(
  ports: InvitePorts,
  { actor, ownAccountId, email: given, role }: { actor: Actor; ownAccountId: string; email: string; role: AccountRole },
): Promise<Invite> {
  const { mailer, database } = ports;
  const email = given.trim().toLowerCase();
  if (!isEmailAddress(email)) throw problem("email.shape", "must be an e-mail address");
  if (!mailer.isConfigured) throw new NoMail();
  await takeMail(ports, actor.accountId, email);
  const token = randomBytes(TOKEN_BYTES).toString("base64url");
  const made = await inAccount(ports, actor.accountId, async (client) => {
    await requireManager(client, actor, [role]);
    await requirePlace(client, actor, email);
    const { accountId, personId: invitedBy } = actor;
    const digest = digestSecretToken(token);
    const invite = await insertInvite(client, { inviteId: uuidv7(), accountId, digest, email, role, invitedBy });
    await record(client, actor, "member.invited", { subject: invite.inviteId, email, role });
    return { invite, accountName: await readAccountName(client, accountId) };
  });
  const { language } = await readSettings(database.pool, ownAccountId);
  const url = `${ports.baseUrl()}${INVITE_PATH}?token=${token}`;
  await mailer.send(
    invitationMail({ to: email, language }, { url, accountName: made.accountName, inviter: actor.email }),
  );
  return made.invite;
}

/** Revokes an invitation; revoking it again changes nothing. Errors: NotFound, RoleMissing. */
export function revokeInvite(
  ports: MemberPorts,
  { actor, inviteId }: { actor: Actor; inviteId: string },
): Promise<void> {
  return inAccount(ports, actor.accountId, async (client) => {
    const role = await readInviteRole(client, { accountId: actor.accountId, inviteId });
    if (role === null) throw new NotFound("There is no such invitation.");
    await requireManager(client, actor, [role]);
    const [revoked] = await revokeInvites(client, { accountId: actor.accountId, inviteId });
    if (revoked !== undefined) await recordRevoked(client, actor, revoked);
  });
}

/** What an invitation is to. Errors: NotFound when it is not open, or is to another address. */
export async function showInvite(
  { database }: MemberPorts,
  { token, email }: { token: string; email: string },
): Promise<{ accountName: string; role: AccountRole }> {
  const invite = await readNamedInvite(database.pool, { name: { digest: digestSecretToken(token) }, email });
  if (invite === null) throw new InviteOver();
  return { accountName: await readAccountName(database.pool, invite.accountId), role: invite.role };
}

/**
 * Makes a person a member by an invitation; the session then acts for the account. Errors: NotFound, LimitExceeded, ValidationError unless
 * either the token or the id is given.
 */
export async function acceptInvite(
  ports: MemberPorts,
  {
    personId,
    email,
    sessionId,
    ...given
  }: { token: string; inviteId: string; personId: string; email: string; sessionId: string },
): Promise<Membership> {
  const name = nameOf(given);
  // Which account is locked. What counts is read again behind the lock.
  const found = await readNamedInvite(ports.database.pool, { name, email });
  if (found === null) throw new InviteOver();
  const { accountId } = found;
  return inAccount(ports, accountId, async (client) => {
    const role = await acceptNamedInvite(client, { name, email });
    if (role === null) throw new InviteOver();
    await requireRoom(client, accountId);
    const isNew = (await readRole(client, { accountId, personId })) === null;
    if (isNew) await insertMember(client, { accountId, personId, role });
    await writeActsFor(client, { sessionId, personId, accountId });
    const actor = { accountId, personId, email };
    if (isNew) await record(client, actor, "member.joined", { subject: personId, email, role });
    const memberships = await readMemberships(client, personId, MAX_MEMBERSHIPS);
    return memberships.find((membership) => membership.accountId === accountId) as Membership;
  });
}

function nameOf({ token, inviteId }: { token: string; inviteId: string }): InviteName {
  if ((token === "") === (inviteId === "")) {
    const message = "must be given, unless inviteId is; not both";
    throw new ValidationError([{ field: "token", rule: "invite.name", message }]);
  }
  return token === "" ? { inviteId } : { digest: digestSecretToken(token) };
}

/** The most received invitations that are listed. */
export const MAX_RECEIVED_INVITES = 20;
/** The most accounts that are listed for a person. */
export const MAX_MEMBERSHIPS = 500;

async function takeMail({ database: { pool } }: InvitePorts, accountId: string, email: string): Promise<void> {
  const address = createHash("sha256").update(email).digest("hex");
  for (const [bucket, pace] of [
    [`invite of ${accountId}`, PER_ACCOUNT],
    [`invite of ${accountId} to ${address}`, PER_ACCOUNT_AND_ADDRESS],
    [`invites to ${address}`, PER_ADDRESS],
  ] as const) {
    const seconds = await takeTry(pool, bucket, pace);
    if (seconds > 0) throw new TooManyTries(seconds);
  }
}

/**
 * Makes a place for an invitation to an address, behind the lock of the account. The former ones are revoked, so the inviter must be one
 * who may revoke them. Errors: RoleMissing, ValidationError, LimitExceeded.
 */
async function requirePlace(client: PoolClient, actor: Actor, email: string): Promise<void> {
  const { accountId } = actor;
  const personId = await readPersonOfEmail(client, email);
  if (personId !== null && (await readRole(client, { accountId, personId })) !== null) {
    throw problem("email.member", "is the address of a member");
  }
  await requireRoom(client, accountId);
  await requireManager(client, actor, await readOpenRoles(client, { accountId, email }));
  for (const revoked of await revokeInvites(client, { accountId, email })) await recordRevoked(client, actor, revoked);
  if ((await readOpenInvites(client, accountId, MAX_OPEN_INVITES)).length >= MAX_OPEN_INVITES) {
    throw new LimitExceeded(`An account has at most ${MAX_OPEN_INVITES} open invitations. Revoke one first.`);
  }
}

async function requireRoom(client: PoolClient, accountId: string): Promise<void> {
  if ((await readMembers(client, accountId, MAX_MEMBERS)).length < MAX_MEMBERS) return;
  throw new LimitExceeded(`An account has at most ${MAX_MEMBERS} members.`);
}

function recordRevoked(client: PoolClient, actor: Actor, { inviteId, email, role }: RevokedInvite): Promise<void> {
  return record(client, actor, "member.invite_revoked", { subject: inviteId, email, role });
}

function record(
  client: PoolClient,
  { accountId, personId, email: actor }: Actor,
  action: string,
  { subject, ...facts }: { subject: string; email: string; role: AccountRole },
): Promise<void> {
  return recordActivity(client, { accountId, personId, actor, action, subject, facts });
}

function problem(rule: string, message: string): ValidationError {
  return new ValidationError([{ field: "email", rule, message }]);
}

/** The invitation was used, revoked, is too old, is to another address, or never was. The answer does not show which. */
class InviteOver extends NotFound {
  constructor() {
    super("This invitation is not open, or it is to another e-mail address than yours.");
  }
}

class NoMail extends UpstreamBusy {
  override readonly message = "Mail is not set up here, so people cannot be invited. The operator can set it up.";
}
