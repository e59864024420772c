// MembersService: translation between the contract and the use cases of this folder.

import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import type { HandlerContext, ServiceImpl } from "@connectrpc/connect";
import type { Pool } from "pg";
import type { MembersService, SetMemberBudgetRequest } from "#gen/saldo/identity/v1/members_service_pb.ts";
import type { MemberBudgetSchema } from "#gen/saldo/keys/v1/key_pb.ts";
import { AccountRole as ProtoRole } from "#gen/saldo/options/v1/options_pb.ts";
import { ValidationError } from "../../kernel/errors.ts";
import { ACCOUNT_ROLES, type AccountRole, type SessionPrincipal } from "../principal.ts";
import { type ActivityLine, listActivity } from "./activity.ts";
import { type Invite, readOpenInvites, readReceivedInvites, type ReceivedInvite } from "./invite-store.ts";
import {
  acceptInvite,
  inviteMember,
  type InvitePorts,
  MAX_OPEN_INVITES,
  MAX_RECEIVED_INVITES,
  revokeInvite,
  showInvite,
} from "./invites.ts";
import { type Budget, type ReadBudget, setMemberBudget, type WriteBudget } from "./member-budgets.ts";
import { type Member, type Membership, readMembers } from "./member-store.ts";
import { changeRole, leaveAccount, MAX_MEMBERS, removeMember } from "./members.ts";
import { listMyAccounts, renameAccount, switchAccount } from "./my-accounts.ts";

export type MembersServiceDependencies = InvitePorts & {
  /** The signed-in person who calls. */
  readonly sessionOf: (context: HandlerContext) => SessionPrincipal;
  /** The database with further lines of an account's activity, where its money is in another one. Absent: there is none. Errors: ServiceBusy. */
  readonly otherLinesOf?: ((accountId: string) => Promise<Pool | null>) | undefined;
  /** How many keys of each person of an account work. */
  readonly countKeysOfPeople: (accountId: string) => Promise<ReadonlyMap<string, number>>;
  /** The budgets of members, as the keys' room keeps and writes them. */
  readonly budgets: {
    readonly read: (accountId: string, personIds: readonly string[]) => Promise<ReadonlyMap<string, BudgetMessage>>;
    /** Errors: ValidationError. */
    readonly ofRequest: (asked: Pick<SetMemberBudgetRequest, "budgetIdr" | "budgetPeriod">) => Budget;
    readonly write: WriteBudget;
    /** The one of a member, in the transaction that changes it. */
    readonly readBehindLock: ReadBudget;
  };
};

type BudgetMessage = MessageInitShape<typeof MemberBudgetSchema>;

const protoRoles = {
  owner: ProtoRole.OWNER,
  admin: ProtoRole.ADMIN,
  developer: ProtoRole.DEVELOPER,
  billing: ProtoRole.BILLING,
  viewer: ProtoRole.VIEWER,
} as const satisfies Record<AccountRole, ProtoRole>;

/** Makes the service. */
export function createMembersService(dependencies: MembersServiceDependencies): ServiceImpl<typeof MembersService> {
  const { sessionOf, countKeysOfPeople, budgets, otherLinesOf, ...ports } = dependencies;
  const { pool } = ports.database;
  const actorOf = (context: HandlerContext) => {
    const { accountId, personId, email } = sessionOf(context);
    return { accountId, personId, email };
  };
  return {
    async listMyAccounts(_request, context) {
      const { personId, accountId, email } = sessionOf(context);
      const accounts = await listMyAccounts(pool, personId);
      const invites = await readReceivedInvites(pool, email, MAX_RECEIVED_INVITES);
      return {
        accounts: accounts.map(toProtoMembership),
        currentAccountId: accountId,
        invites: invites.map(toProtoReceived),
      };
    },

    async switchAccount({ accountId }, context) {
      const { personId, sessionId } = sessionOf(context);
      return { account: toProtoMembership(await switchAccount(pool, { personId, sessionId, accountId })) };
    },

    async showInvite({ token }, context) {
      const { accountName, role } = await showInvite(ports, { token, email: sessionOf(context).email });
      return { accountName, role: protoRoles[role] };
    },

    async acceptInvite({ token, inviteId }, context) {
      const { personId, email, sessionId } = sessionOf(context);
      const accepted = await acceptInvite(ports, { token, inviteId, personId, email, sessionId });
      return { account: toProtoMembership(accepted) };
    },

    async listMembers(_request, context) {
      const { accountId } = sessionOf(context);
      const keys = await countKeysOfPeople(accountId);
      const members = await readMembers(pool, accountId, MAX_MEMBERS);
      const limits = await budgets.read(
        accountId,
        members.map(({ personId }) => personId),
      );
      const invites = await readOpenInvites(pool, accountId, MAX_OPEN_INVITES);
      return {
        members: members.map((member) => ({
          ...toProtoMember(member, keys.get(member.personId) ?? 0),
          ...budgetOf(limits.get(member.personId)),
        })),
        invites: invites.map(toProtoInvite),
      };
    },

    async inviteMember({ email, role }, context) {
      const { ownAccountId } = sessionOf(context);
      const asked = { actor: actorOf(context), ownAccountId, email, role: fromProtoRole(role) };
      return { invite: toProtoInvite(await inviteMember(ports, asked)) };
    },

    async revokeInvite({ inviteId }, context) {
      await revokeInvite(ports, { actor: actorOf(context), inviteId });
      return {};
    },

    changeRole({ personId, role }, context) {
      return changeRole(ports, { actor: actorOf(context), personId, role: fromProtoRole(role) });
    },

    removeMember({ personId }, context) {
      return removeMember(ports, { actor: actorOf(context), personId });
    },

    async setMemberBudget({ personId, ...asked }, context) {
      const actor = actorOf(context);
      const budget = budgets.ofRequest(asked);
      await setMemberBudget(
        { ...ports, writeBudget: budgets.write, readBudget: budgets.readBehindLock },
        { actor, personId, budget },
      );
      return budgetOf((await budgets.read(actor.accountId, [personId])).get(personId));
    },

    leaveAccount(_request, context) {
      return leaveAccount(ports, { actor: actorOf(context), sessionId: sessionOf(context).sessionId });
    },

    async renameAccount({ name }, context) {
      return { accountName: await renameAccount(ports, { actor: actorOf(context), name }) };
    },

    async listActivity({ pageSize, pageToken }, context) {
      const { accountId } = sessionOf(context);
      const other = (await otherLinesOf?.(accountId)) ?? null;
      const pools = other === null ? [pool] : [pool, other];
      const { items, nextPageToken } = await listActivity(pools, { accountId, pageSize, pageToken });
      return { lines: items.map(toProtoLine), nextPageToken };
    },
  };
}

function budgetOf(budget: BudgetMessage | undefined) {
  return budget === undefined ? {} : { budget };
}

function fromProtoRole(role: ProtoRole): AccountRole {
  const known = ACCOUNT_ROLES.find((name) => protoRoles[name] === role);
  if (known !== undefined) return known;
  throw new ValidationError([{ field: "role", rule: "enum.defined_only", message: "must be a role of members" }]);
}

/** An account of a person. `role` null: the person is no member of it any more. */
export function toProtoMembership({ role, ...membership }: Omit<Membership, "role"> & { role: AccountRole | null }) {
  return { ...membership, role: role === null ? ProtoRole.UNSPECIFIED : protoRoles[role] };
}

function toProtoMember({ joinedAt, role, ...member }: Member, workingKeys: number) {
  return {
    ...member,
    role: protoRoles[role],
    workingKeys,
    ...(joinedAt === null ? {} : { joinedAt: timestampFromDate(joinedAt) }),
  };
}

function toProtoInvite({ inviteId, email, role, createdAt, expiresAt }: Invite) {
  return {
    id: inviteId,
    email,
    role: protoRoles[role],
    createdAt: timestampFromDate(createdAt),
    expiresAt: timestampFromDate(expiresAt),
  };
}

function toProtoReceived({ inviteId, accountName, role, expiresAt }: ReceivedInvite) {
  return { id: inviteId, accountName, role: protoRoles[role], expiresAt: timestampFromDate(expiresAt) };
}

function toProtoLine({ lineId, doneAt, actor, personId, action, subject, facts }: ActivityLine) {
  return {
    id: lineId,
    doneAt: timestampFromDate(doneAt),
    actor,
    personId: personId ?? "",
    action,
    subject: subject ?? "",
    facts: { ...facts },
  };
}
