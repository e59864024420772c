// Members of an account as they and its owners meet them: roles that change, members who go, and what goes with them.

import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { AccountRole } from "#gen/saldo/options/v1/options_pb.ts";
import { uuidv7 } from "../../../src/kernel/ids.ts";
import { problemOf } from "../../setup/rpc-problem.ts";
import { serveTeams, type Team } from "./team.ts";

let team: Team;
beforeAll(async () => {
  team = await serveTeams();
});
afterAll(() => team.stop());

/** An account that no person opened, as an operator opens one, with owners by rows. */
async function accountOfOwners(count: number) {
  const { ownAccountId } = await team.newPerson();
  await team.pool.query("UPDATE auth.person SET account_id = NULL WHERE account_id = $1", [ownAccountId]);
  return Promise.all(Array.from({ length: count }, () => team.newMember(ownAccountId, "owner")));
}

async function rolesIn(accountId: string): Promise<string[]> {
  const text = "SELECT role FROM account_member WHERE account_id = $1 ORDER BY role";
  return (await team.pool.query<{ role: string }>(text, [accountId])).rows.map(({ role }) => role);
}

describe("a member who is removed", () => {
  test("has no access at the next call, and goes on with the own account after switching", async () => {
    const owner = await team.newPerson();
    const member = await team.newMember(owner.ownAccountId, "admin");
    expect(await problemOf(member.members.listMembers({}))).toBe("answered");
    await owner.members.removeMember({ personId: member.personId });
    expect(await problemOf(member.members.listMembers({}))).toBe("permission_denied");
    expect(await problemOf(member.keys.createKey({ name: "late" }))).toBe("permission_denied");
    const { account, person } = await member.accounts.getMe({});
    expect(account).toMatchObject({ accountId: owner.ownAccountId, accountName: "", role: AccountRole.UNSPECIFIED });
    expect(person?.accountId).toBe(member.ownAccountId);
    expect(await problemOf(member.members.switchAccount({ accountId: owner.ownAccountId }))).toBe("not_found");
    await member.members.switchAccount({ accountId: member.ownAccountId });
    expect((await member.accounts.getMe({})).account).toMatchObject({ isOwn: true, role: AccountRole.OWNER });
    expect((await member.members.listMembers({})).members).toHaveLength(1);
  });

  test("loses the keys and the open invitations that the member made, and others keep theirs", async () => {
    const owner = await team.newPerson();
    const [admin, other] = [
      await team.newMember(owner.ownAccountId, "admin"),
      await team.newMember(owner.ownAccountId, "developer"),
    ];
    const [lost, kept] = [await admin.keys.createKey({ name: "lost" }), await other.keys.createKey({ name: "kept" })];
    const back = `${uuidv7()}@test.example`;
    await admin.members.inviteMember({ email: back, role: AccountRole.ADMIN });
    const before = (await owner.members.listMembers({})).members;
    expect(before.find(({ personId }) => personId === admin.personId)?.workingKeys).toBe(1);
    expect(await owner.members.removeMember({ personId: admin.personId })).toMatchObject({ revokedKeys: 1 });
    const { keys } = await owner.keys.listKeys({});
    const working = keys.filter(({ revokedAt }) => revokedAt === undefined).map(({ id }) => id);
    expect(working).toEqual([kept.key?.id]);
    expect(keys.map(({ id }) => id)).toContain(lost.key?.id);
    expect((await owner.members.listMembers({})).invites).toEqual([]);
    const invited = await team.newPerson(back);
    expect(await problemOf(invited.members.acceptInvite({ token: team.tokenTo(back) }))).toBe("not_found");
  });

  test("makes no key beside the removal", async () => {
    const owner = await team.newPerson();
    const member = await team.newMember(owner.ownAccountId, "developer");
    const making = Array.from({ length: 10 }, (_, index) => problemOf(member.keys.createKey({ name: `key ${index}` })));
    const [, ...made] = await Promise.all([owner.members.removeMember({ personId: member.personId }), ...making]);
    expect(made.filter((outcome) => outcome !== "answered" && outcome !== "permission_denied")).toEqual([]);
    const { keys } = await owner.keys.listKeys({});
    expect(keys.filter(({ revokedAt }) => revokedAt === undefined)).toEqual([]);
  });
});

describe("a role", () => {
  test("holds from the next call on, and one without keys revokes them", async () => {
    const owner = await team.newPerson();
    const member = await team.newMember(owner.ownAccountId, "developer");
    await member.keys.createKey({ name: "mine" });
    expect(await problemOf(member.members.listMembers({}))).toBe("permission_denied");
    const change = { personId: member.personId, role: AccountRole.ADMIN };
    expect(await owner.members.changeRole(change)).toMatchObject({ revokedKeys: 0 });
    expect(await problemOf(member.members.listMembers({}))).toBe("answered");
    const toViewer = { personId: member.personId, role: AccountRole.VIEWER };
    expect(await owner.members.changeRole(toViewer)).toMatchObject({ revokedKeys: 1 });
    expect(await problemOf(member.keys.createKey({ name: "more" }))).toBe("permission_denied");
    expect((await owner.keys.listKeys({})).keys.map(({ revokedAt }) => revokedAt !== undefined)).toEqual([true]);
  });

  test("of an owner is neither given, changed nor removed by an admin", async () => {
    const owner = await team.newPerson();
    const second = await team.newMember(owner.ownAccountId, "owner");
    const admin = await team.newMember(owner.ownAccountId, "admin");
    const { personId } = second;
    const email = `${uuidv7()}@test.example`;
    const tried = await Promise.all([
      problemOf(admin.members.changeRole({ personId, role: AccountRole.VIEWER })),
      problemOf(admin.members.changeRole({ personId: admin.personId, role: AccountRole.OWNER })),
      problemOf(admin.members.removeMember({ personId })),
      problemOf(admin.members.inviteMember({ email, role: AccountRole.OWNER })),
    ]);
    expect(new Set(tried)).toEqual(new Set(["permission_denied"]));
    await owner.members.inviteMember({ email, role: AccountRole.OWNER });
    const [invite] = (await owner.members.listMembers({})).invites;
    expect(await problemOf(admin.members.revokeInvite({ inviteId: invite?.id ?? "" }))).toBe("permission_denied");
    expect(await rolesIn(owner.ownAccountId)).toEqual(["admin", "owner"]);
    expect(await problemOf(second.members.changeRole({ personId: admin.personId, role: AccountRole.OWNER }))).toBe(
      "answered",
    );
  });

  test("is one of the five", async () => {
    const owner = await team.newPerson();
    const { personId } = await team.newMember(owner.ownAccountId, "viewer");
    for (const role of [AccountRole.UNSPECIFIED, AccountRole.PERSON])
      expect(await problemOf(owner.members.changeRole({ personId, role }))).toBe("validation_error");
    expect(await rolesIn(owner.ownAccountId)).toEqual(["viewer"]);
  });
});

describe("an account always has an owner", () => {
  test("who opened it neither leaves nor is removed or demoted", async () => {
    const holder = await team.newPerson();
    const second = await team.newMember(holder.ownAccountId, "owner");
    const { personId } = holder;
    expect(await problemOf(holder.members.leaveAccount({}))).toBe("validation_error");
    expect(await problemOf(second.members.removeMember({ personId }))).toBe("validation_error");
    expect(await problemOf(second.members.changeRole({ personId, role: AccountRole.VIEWER }))).toBe("validation_error");
    expect(await problemOf(second.members.leaveAccount({}))).toBe("answered");
    expect((await holder.members.listMembers({})).members.map(({ role }) => role)).toEqual([AccountRole.OWNER]);
  });

  test("the last one neither leaves nor takes the own role away", async () => {
    const [owner] = await accountOfOwners(1);
    expect(await problemOf(owner?.members.leaveAccount({}) ?? Promise.resolve())).toBe("validation_error");
    const change = owner?.members.changeRole({ personId: owner.personId, role: AccountRole.ADMIN });
    expect(await problemOf(change ?? Promise.resolve())).toBe("validation_error");
  });

  test("when all leave at once, one stays", async () => {
    const owners = await accountOfOwners(5);
    const outcomes = await Promise.all(owners.map(({ members }) => problemOf(members.leaveAccount({}))));
    expect(outcomes.toSorted()).toEqual(["answered", "answered", "answered", "answered", "validation_error"]);
  });

  test("when two remove each other at once, one is left", async () => {
    const [first, second] = await accountOfOwners(2);
    if (first === undefined || second === undefined) throw new Error("two owners were made");
    const outcomes = await Promise.all([
      problemOf(first.members.removeMember({ personId: second.personId })),
      problemOf(second.members.removeMember({ personId: first.personId })),
    ]);
    expect(outcomes.filter((outcome) => outcome === "answered")).toHaveLength(1);
  });
});

describe("a person with several accounts", () => {
  test("lists them, switches between them, and each session has its own choice", async () => {
    const [firm, club] = [await team.newPerson(), await team.newPerson()];
    await firm.members.renameAccount({ name: "PT Maju & Co." });
    const member = await team.newMember(firm.ownAccountId, "billing");
    await team.pool.query("INSERT INTO account_member (account_id, person_id, role) VALUES ($1, $2, 'viewer')", [
      club.ownAccountId,
      member.personId,
    ]);
    const { accounts, currentAccountId } = await member.members.listMyAccounts({});
    expect(currentAccountId).toBe(firm.ownAccountId);
    expect(accounts.map(({ accountName, role, isOwn }) => [accountName, role, isOwn])).toEqual([
      [member.email, AccountRole.OWNER, true],
      ...[
        [club.email, AccountRole.VIEWER, false],
        ["PT Maju & Co.", AccountRole.BILLING, false],
      ].toSorted(([a], [b]) => String(a).localeCompare(String(b))),
    ]);
    await member.members.switchAccount({ accountId: club.ownAccountId });
    expect((await member.accounts.getMe({})).account).toMatchObject({ accountName: club.email });
    expect(await problemOf(member.members.switchAccount({ accountId: uuidv7() }))).toBe("not_found");
    expect((await member.accounts.getMe({})).account).toMatchObject({ accountName: club.email });
  });

  test("a page that shows another account than the session's is refused", async () => {
    const firm = await team.newPerson();
    const member = await team.newMember(firm.ownAccountId, "admin");
    const stale = team.reach(member, { "x-saldo-account": member.ownAccountId });
    const right = team.reach(member, { "x-saldo-account": firm.ownAccountId });
    expect(await problemOf(stale.keys.createKey({ name: "on the wrong account" }))).toBe("not_found");
    expect(await problemOf(right.keys.createKey({ name: "on the right one" }))).toBe("answered");
  });

  test("keeps the own settings, whatever the session acts for", async () => {
    const firm = await team.newPerson();
    const member = await team.newMember(firm.ownAccountId, "owner");
    await member.accounts.updateSettings({ timeZone: "Asia/Makassar" });
    expect((await member.accounts.getMe({})).settings?.timeZone).toBe("Asia/Makassar");
    expect((await firm.accounts.getMe({})).settings?.timeZone).toBe("Asia/Jakarta");
  });
});

describe("the name of an account", () => {
  test.each(["visit evil.com", "http://evil", "a\nb", "x@evil", "<b>", " - "])("is not %j", async (name) => {
    const owner = await team.newPerson();
    expect(await problemOf(owner.members.renameAccount({ name }))).toBe("validation_error");
  });

  test("is given, shown and taken back", async () => {
    const owner = await team.newPerson();
    expect(await owner.members.renameAccount({ name: " CV. Sinar, Jaya " })).toMatchObject({
      accountName: "CV. Sinar, Jaya",
    });
    expect(await owner.members.renameAccount({ name: "" })).toMatchObject({ accountName: owner.email });
  });
});

describe("the activity log", () => {
  test("has a line for each change, by whom, and none for what was refused", async () => {
    const owner = await team.newPerson();
    const admin = await team.newMember(owner.ownAccountId, "admin");
    const { key } = await admin.keys.createKey({ name: "server" });
    await problemOf(admin.keys.createKey({ name: "" }));
    await admin.keys.revokeKey({ keyId: key?.id ?? "" });
    await owner.keys.setRetrySettings({ settings: { keepAnswers: true } });
    await owner.members.changeRole({ personId: admin.personId, role: AccountRole.VIEWER });
    const { lines } = await owner.members.listActivity({});
    expect(
      lines.map(({ actor, personId, action, subject, facts }) => ({ actor, personId, action, subject, facts })),
    ).toEqual([
      {
        actor: owner.email,
        personId: owner.personId,
        action: "member.role_changed",
        subject: admin.personId,
        facts: { email: admin.email, from: "admin", to: "viewer" },
      },
      { actor: owner.email, personId: owner.personId, action: "KeysService/SetRetrySettings", subject: "", facts: {} },
      {
        actor: admin.email,
        personId: admin.personId,
        action: "KeysService/RevokeKey",
        subject: key?.id,
        facts: { name: "server" },
      },
      {
        actor: admin.email,
        personId: admin.personId,
        action: "KeysService/CreateKey",
        subject: key?.id,
        facts: { name: "server", rateLimit: "60" },
      },
    ]);
    const stranger = await team.newPerson();
    expect((await stranger.members.listActivity({})).lines).toEqual([]);
  });

  test("is never changed", async () => {
    const owner = await team.newPerson();
    await owner.members.renameAccount({ name: "Kept" });
    for (const text of ["UPDATE account_activity SET actor = 'x'", "DELETE FROM account_activity"])
      await expect(team.pool.query(text)).rejects.toThrow(/permission denied|append-only|never changed/i);
  });
});
