// Who sets the budget of a member, and what becomes of it when the member leaves and comes back.

import { afterAll, beforeAll, expect, test } from "vitest";
import { BudgetPeriod } from "#gen/saldo/keys/v1/key_pb.ts";
import { AccountRole } from "#gen/saldo/options/v1/options_pb.ts";
import { problemOf } from "../../setup/rpc-problem.ts";
import { type Person, serveTeams, type Team } from "./team.ts";

let team: Team;
beforeAll(async () => {
  team = await serveTeams();
});
afterAll(() => team.stop());

const MONTHLY = { budgetIdr: "50000", budgetPeriod: BudgetPeriod.MONTH };

async function budgetsOf(owner: Person): Promise<Record<string, string | undefined>> {
  const { members } = await owner.members.listMembers({});
  return Object.fromEntries(members.map(({ personId, budget }) => [personId, budget?.budgetIdr]));
}

test("owners and admins set it, owners alone that of owners, and each change is a line of the activity log", async () => {
  const owner = await team.newPerson();
  const [admin, developer] = [
    await team.newMember(owner.ownAccountId, "admin"),
    await team.newMember(owner.ownAccountId, "developer"),
  ];
  const { personId } = developer;
  const { budget } = await admin.members.setMemberBudget({ personId, ...MONTHLY });
  expect(budget).toMatchObject({ ...MONTHLY, state: { spentIdr: "0", heldIdr: "0", leftIdr: "50000" } });
  expect(budget?.state?.resetsAt).toBeDefined();
  expect(await problemOf(admin.members.setMemberBudget({ personId: owner.personId, ...MONTHLY }))).toBe(
    "permission_denied",
  );
  expect(await problemOf(developer.members.setMemberBudget({ personId, budgetIdr: "" }))).toBe("permission_denied");
  expect((await owner.members.setMemberBudget({ personId: owner.personId, ...MONTHLY })).budget).toBeDefined();
  expect(await budgetsOf(owner)).toEqual({
    [owner.personId]: "50000",
    [admin.personId]: undefined,
    [personId]: "50000",
  });
  expect((await owner.members.setMemberBudget({ personId, budgetIdr: "" })).budget).toBeUndefined();
  const { lines } = await owner.members.listActivity({});
  const set = { amount: "50000", period: "month" };
  expect(lines.map(({ actor, action, facts }) => [actor, action, facts])).toEqual([
    [owner.email, "member.budget_set", { email: developer.email, "before.amount": "50000", "before.period": "month" }],
    [owner.email, "member.budget_set", { email: owner.email, ...set }],
    [admin.email, "member.budget_set", { email: developer.email, ...set }],
  ]);
});

test("is lowered by an admin for the own keys, and never raised, reset or removed", async () => {
  const owner = await team.newPerson();
  const admin = await team.newMember(owner.ownAccountId, "admin");
  const { personId } = admin;
  const setOwn = (budget: object) => problemOf(admin.members.setMemberBudget({ personId, ...budget }));
  await owner.members.setMemberBudget({ personId, ...MONTHLY });
  for (const budget of [
    { ...MONTHLY, budgetIdr: "50000.000001" },
    { ...MONTHLY, budgetPeriod: BudgetPeriod.DAY, budgetIdr: "1" },
    { budgetIdr: "" },
  ])
    expect(await setOwn(budget)).toBe("permission_denied");
  expect((await budgetsOf(owner))[personId]).toBe("50000");
  await admin.members.setMemberBudget({ personId, ...MONTHLY, budgetIdr: "40000" });
  expect(await setOwn(MONTHLY)).toBe("permission_denied");
  expect((await budgetsOf(owner))[personId]).toBe("40000");
  await owner.members.setMemberBudget({ personId, budgetIdr: "" });
  await admin.members.setMemberBudget({ personId, ...MONTHLY });
  expect((await budgetsOf(owner))[personId]).toBe("50000");
});

test("is refused for strangers and members of other accounts, and where amount and period do not belong together", async () => {
  const [owner, stranger] = [await team.newPerson(), await team.newPerson()];
  const setOf = (personId: string, budget: object) => problemOf(owner.members.setMemberBudget({ personId, ...budget }));
  expect(await setOf(stranger.personId, MONTHLY)).toBe("not_found");
  const { personId } = owner;
  expect(await setOf(personId, { budgetIdr: "5" })).toBe("validation_error");
  expect(await setOf(personId, { budgetIdr: "", budgetPeriod: BudgetPeriod.DAY })).toBe("validation_error");
  expect(await setOf(personId, { ...MONTHLY, budgetIdr: "five" })).toBe("validation_error");
  expect(await setOf(personId, { ...MONTHLY, budgetIdr: "-1" })).toBe("validation_error");
  expect(await setOf(personId, { ...MONTHLY, budgetIdr: "99999999999999" })).toBe("validation_error");
  expect(await budgetsOf(owner)).toEqual({ [personId]: undefined });
});

test("stays with a member who is removed and comes back", async () => {
  const owner = await team.newPerson();
  const member = await team.newMember(owner.ownAccountId, "developer");
  const { personId } = member;
  await owner.members.setMemberBudget({ personId, ...MONTHLY });
  await owner.members.removeMember({ personId });
  expect(await budgetsOf(owner)).toEqual({ [owner.personId]: undefined });
  await owner.members.inviteMember({ email: member.email, role: AccountRole.DEVELOPER });
  await member.members.switchAccount({ accountId: member.ownAccountId });
  await member.members.acceptInvite({ token: team.tokenTo(member.email) });
  expect(await budgetsOf(owner)).toEqual({ [owner.personId]: undefined, [personId]: "50000" });
});
