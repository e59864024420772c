// Members of accounts, for operators: whom an account has, and how it gets an owner again whose people are gone.

import type { PoolClient } from "pg";
import { budgetFacts } from "../identity/members/member-budgets.ts";
import { type Member, readMembers, readPersonOfEmail, readRole } from "../identity/members/member-store.ts";
import { endMembership, MAX_MEMBERS, revokedFacts, setMember } from "../identity/members/members.ts";
import { ACCOUNT_ROLES } from "../identity/principal.ts";
import { NotFound, ValidationError } from "../kernel/errors.ts";
import { formatMoney, idr } from "../kernel/money.ts";
import { rupiahText } from "../kernel/rupiah-text.ts";
import { type MemberBudget, readMemberBudget, readMemberBudgets, setMemberBudget } from "../keys/member-budgets.ts";
import { revokeKeysOfPerson } from "../keys/store.ts";
import { lockAccount } from "../ledger/account-lock.ts";
import { revokePairsOfPerson } from "../merchant/merchants/pair-store.ts";
import { withAuditLog } from "../operator/audit-log/operator-actions.ts";
import type { Command } from "./command.ts";
import { budgetFrom, limitOptions } from "./key-limits.ts";
import { operatorHere } from "./operator-here.ts";
import { column, numbers, tableOf } from "./table.ts";
import { accountFrom, accountOption as account } from "./which-account.ts";

const email = { required: true, value: "E", about: "the person's e-mail address" };
const reason = { required: false, value: "R", about: "why" };
const { budget, "budget-period": period } = limitOptions;
const ports = { revokeKeysOfPerson, revokePairsOfPerson };

type Listed = Member & { readonly budget: MemberBudget | undefined };

const MEMBER_COLUMNS = [
  column<Listed>("e-mail", ({ email: address }) => address),
  column<Listed>("role", ({ role }) => role),
  column<Listed>("name", ({ name }) => name),
  column<Listed>("joined", ({ joinedAt }) => joinedAt),
  column<Listed>("period", (member) => member.budget?.limit.period ?? null),
  numbers<Listed>("budget", (member) => rupiahOf(member.budget?.limit.amount)),
  numbers<Listed>("spent", (member) => rupiahOf(member.budget?.state.spent)),
  numbers<Listed>("left", (member) => rupiahOf(member.budget?.state.left)),
  column<Listed>("person", ({ personId }) => personId),
];

export const memberCommands: readonly Command[] = [
  {
    name: "member list",
    about: "Lists the members of an account, what each may do, and what is left of their budgets.",
    options: { account },
    async run(values, { database }) {
      const accountId = await accountFrom(values, database);
      const { pool } = await database();
      const members = await readMembers(pool, accountId, MAX_MEMBERS);
      const personIds = members.map(({ personId }) => personId);
      const budgets = await readMemberBudgets(pool, { accountId, personIds });
      const json = members.map(({ joinedAt, ...each }) => ({
        ...each,
        joinedAt: joinedAt?.toISOString() ?? null,
        ...budgetColumns(budgets.get(each.personId)),
      }));
      const rows = members.map((member) => ({ ...member, budget: budgets.get(member.personId) }));
      return { json: { members: json }, text: tableOf(rows, MEMBER_COLUMNS, "The account has no members.") };
    },
  },
  {
    name: "member add",
    about: "Makes a person a member of an account, or gives a member another role. The person must have signed up.",
    options: {
      account,
      email,
      role: { required: true, value: "ROLE", about: ACCOUNT_ROLES.join(", "), choices: ACCOUNT_ROLES },
      reason,
    },
    async run(values, { database }) {
      const accountId = await accountFrom(values, database);
      const role = ACCOUNT_ROLES.find((each) => each === values.need("role"));
      if (role === undefined) throw wrong("role", `must be one of ${ACCOUNT_ROLES.join(", ")}`);
      const facts = { email: values.need("email").toLowerCase(), role };
      const personId = await withAuditLog(
        await operatorHere(database),
        async (client) => {
          await lockAccount(client, accountId);
          const person = await requirePerson(client, facts.email);
          await setMember(ports, client, { accountId, personId: person, role });
          return person;
        },
        (person) => ({
          action: "member add",
          subject: accountId,
          reason: values.get("reason") ?? null,
          facts,
          inAccount: { accountId, action: "member.set", subject: person, facts },
        }),
      );
      return { json: { personId, role } };
    },
  },
  {
    name: "member budget",
    about: "Sets what all keys that a member has made may cost together in a period.",
    options: {
      account,
      email,
      ...(budget === undefined || period === undefined ? {} : { budget, "budget-period": period }),
      reason,
    },
    async run(values, { database }) {
      const accountId = await accountFrom(values, database);
      const address = values.need("email").toLowerCase();
      const { pool } = await database();
      const { personId } = requireMember(await readMembers(pool, accountId, MAX_MEMBERS), address);
      const which = { accountId, personId };
      const chosen = budgetFrom(values, (await readMemberBudget(pool, which))?.limit ?? null);
      const facts = { email: address, ...budgetFacts(chosen) };
      await withAuditLog(
        await operatorHere(database),
        async (client) => {
          await lockAccount(client, accountId);
          requireMember(await readMembers(client, accountId, MAX_MEMBERS), address);
          await setMemberBudget(client, { ...which, budget: chosen });
        },
        () => ({
          action: "member budget",
          subject: accountId,
          reason: values.get("reason") ?? null,
          facts,
          inAccount: { accountId, action: "member.budget_set", subject: personId, facts },
        }),
      );
      const set = await readMemberBudget(pool, which);
      return { json: { personId, ...budgetColumns(set ?? undefined) } };
    },
  },
  {
    name: "member remove",
    about: "Removes a member from an account and revokes the keys and merchants' pairs that the member has made.",
    options: { account, email, reason },
    async run(values, { database }) {
      const accountId = await accountFrom(values, database);
      const facts = { email: values.need("email").toLowerCase() };
      const revoked = await withAuditLog(
        await operatorHere(database),
        async (client) => {
          await lockAccount(client, accountId);
          const personId = await requirePerson(client, facts.email);
          const members = await readMembers(client, accountId, MAX_MEMBERS);
          const member = members.find((each) => each.personId === personId);
          if (member === undefined || (await readRole(client, { accountId, personId })) === null) throw noMember();
          return { personId, ...(await endMembership(ports, client, { accountId, member })) };
        },
        ({ personId, ...taken }) => ({
          action: "member remove",
          subject: accountId,
          reason: values.get("reason") ?? null,
          facts: { ...facts, ...taken },
          inAccount: {
            accountId,
            action: "member.removed",
            subject: personId,
            facts: { ...facts, ...revokedFacts(taken) },
          },
        }),
      );
      return { json: { revokedKeys: revoked.keys, revokedPairs: revoked.pairs } };
    },
  },
];

async function requirePerson(client: PoolClient, address: string): Promise<string> {
  const personId = await readPersonOfEmail(client, address);
  if (personId === null) throw new NotFound("No person with a verified address has this one.");
  return personId;
}

function requireMember(members: readonly Member[], address: string): Member {
  const member = members.find((each) => each.email.toLowerCase() === address);
  if (member === undefined) throw noMember();
  return member;
}

function budgetColumns(set: MemberBudget | undefined): Readonly<Record<string, string | null>> {
  if (set === undefined) return { budgetIdr: null };
  const { limit, state } = set;
  return {
    budgetIdr: formatMoney(idr(limit.amount)),
    budgetPeriod: limit.period,
    budgetSpentIdr: formatMoney(idr(state.spent)),
    budgetHeldIdr: formatMoney(idr(state.held)),
    budgetLeftIdr: formatMoney(idr(state.left)),
    budgetResetsAt: state.resetsAt?.toISOString() ?? null,
    budgetTimeZone: state.timeZone,
  };
}

function rupiahOf(units: bigint | undefined): string | null {
  return units === undefined ? null : rupiahText(idr(units));
}

function noMember(): NotFound {
  return new NotFound("There is no such member.");
}

function wrong(field: string, message: string): ValidationError {
  return new ValidationError([{ field, rule: `${field}.known`, message }]);
}
