// Invitations: who can accept one, once, and what another reader of the link learns.

import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { AccountRole } from "#gen/saldo/options/v1/options_pb.ts";
import { uuidv7 } from "../../../src/kernel/ids.ts";
import { digestSecretToken } from "../../../src/kernel/secret-token.ts";
import { problemOf } from "../../setup/rpc-problem.ts";
import { type Person, serveTeams, type Team } from "./team.ts";

let team: Team;
beforeAll(async () => {
  team = await serveTeams();
});
afterAll(() => team.stop());

/** An owner, a person, and the token of an invitation to the person's address. */
async function invited(role: AccountRole = AccountRole.DEVELOPER) {
  const [owner, person] = [await team.newPerson(), await team.newPerson()];
  await owner.members.inviteMember({ email: person.email.toUpperCase(), role });
  return { owner, person, token: team.tokenTo(person.email) };
}

const rolesOf = async ({ ownAccountId }: Person): Promise<string[]> => {
  const text = "SELECT role FROM account_member WHERE account_id = $1";
  return (await team.pool.query<{ role: string }>(text, [ownAccountId])).rows.map(({ role }) => role);
};

describe("an invitation", () => {
  test("makes the person a member, in a session that then acts for the account", async () => {
    const { owner, person, token } = await invited();
    await owner.members.renameAccount({ name: "Toko Jaya" });
    const shown = { accountName: "Toko Jaya", role: AccountRole.DEVELOPER };
    expect(await person.members.showInvite({ token })).toMatchObject(shown);
    expect((await person.members.acceptInvite({ token })).account).toMatchObject({ ...shown, isOwn: false });
    expect((await person.accounts.getMe({})).account).toMatchObject({ accountId: owner.ownAccountId, ...shown });
    const { members, invites } = await owner.members.listMembers({});
    expect(members.map(({ email, isHolder }) => [email, isHolder])).toEqual([
      [owner.email, true],
      [person.email, false],
    ]);
    expect(invites).toEqual([]);
    const { lines } = await owner.members.listActivity({});
    expect(lines.map(({ actor, action }) => [actor, action])).toEqual([
      [person.email, "member.joined"],
      [owner.email, "account.renamed"],
      [owner.email, "member.invited"],
    ]);
  });

  test("is mailed in the inviter's language first, and names account and inviter", async () => {
    const { owner, person } = await invited();
    const indonesian = team.mails.findLast(({ to }) => to === person.email);
    expect(indonesian?.subject).toBe("Saldo: undangan ke sebuah akun / invitation to an account");
    expect(indonesian?.text).toContain(`${owner.email} mengundang Anda menjadi anggota akun "${owner.email}"`);
    await team.pool.query("UPDATE customer SET language = 'en' WHERE account_id = $1", [owner.ownAccountId]);
    await owner.members.inviteMember({ email: person.email, role: AccountRole.VIEWER });
    expect(team.mails.findLast(({ to }) => to === person.email)?.subject).toMatch(/^Saldo: invitation/);
  });

  test("works for a person who signs up after it", async () => {
    const owner = await team.newPerson();
    const email = `${uuidv7()}@test.example`;
    await owner.members.inviteMember({ email, role: AccountRole.BILLING });
    const person = await team.newPerson(email);
    await person.members.acceptInvite({ token: team.tokenTo(email) });
    expect(await rolesOf(owner)).toEqual(["billing"]);
  });

  test("is listed for its person alone, and accepted from the list", async () => {
    const { owner, person, token } = await invited();
    await owner.members.renameAccount({ name: "Toko Jaya" });
    const { invites } = await person.members.listMyAccounts({});
    expect(invites).toMatchObject([{ accountName: "Toko Jaya", role: AccountRole.DEVELOPER }]);
    const inviteId = invites[0]?.id ?? "";
    const other = await team.newPerson();
    expect((await other.members.listMyAccounts({})).invites).toEqual([]);
    expect(await problemOf(other.members.acceptInvite({ inviteId }))).toBe("not_found");
    for (const unclear of [{}, { token, inviteId }])
      expect(await problemOf(person.members.acceptInvite(unclear))).toBe("validation_error");
    expect(await rolesOf(owner)).toEqual([]);
    await person.members.acceptInvite({ inviteId });
    expect(await rolesOf(owner)).toEqual(["developer"]);
    expect((await person.members.listMyAccounts({})).invites).toEqual([]);
    expect(await problemOf(person.members.acceptInvite({ inviteId }))).toBe("not_found");
  });

  test("is not listed when it was revoked or is too old", async () => {
    const [revoked, old] = [await invited(), await invited()];
    const inviteId = (await revoked.person.members.listMyAccounts({})).invites[0]?.id ?? "";
    await revoked.owner.members.revokeInvite({ inviteId });
    await team.expireInvites(old.owner.ownAccountId);
    for (const { person } of [revoked, old]) expect((await person.members.listMyAccounts({})).invites).toEqual([]);
    expect(await problemOf(revoked.person.members.acceptInvite({ inviteId }))).toBe("not_found");
  });

  test("is used once, however many accept it at once", async () => {
    const { owner, person, token } = await invited();
    const outcomes = await Promise.all(
      Array.from({ length: 8 }, () => problemOf(person.members.acceptInvite({ token }))),
    );
    expect(outcomes.filter((outcome) => outcome === "answered")).toHaveLength(1);
    expect(outcomes.filter((outcome) => outcome === "not_found")).toHaveLength(7);
    await owner.members.removeMember({ personId: person.personId });
    expect(await problemOf(person.members.acceptInvite({ token }))).toBe("not_found");
    expect(await rolesOf(owner)).toEqual([]);
  });

  test("is stored as a digest", async () => {
    const { owner, token } = await invited();
    const { rows } = await team.pool.query<{ digest: Buffer; whole: string }>(
      "SELECT digest, i::text AS whole FROM account_invite i WHERE account_id = $1",
      [owner.ownAccountId],
    );
    expect(rows[0]?.digest).toEqual(digestSecretToken(token));
    expect(rows[0]?.whole).not.toContain(token);
  });
});

describe("is refused alike, and shows nothing,", () => {
  const refused = async (person: Person, token: string, owner: Person) => {
    expect(await problemOf(person.members.showInvite({ token }))).toBe("not_found");
    expect(await problemOf(person.members.acceptInvite({ token }))).toBe("not_found");
    expect(await rolesOf(owner)).toEqual([]);
    expect((await person.accounts.getMe({})).account?.accountId).toBe(person.ownAccountId);
  };

  test("where another person has the link", async () => {
    const { owner, person, token } = await invited();
    await refused(await team.newPerson(), token, owner);
    expect(await problemOf(person.members.acceptInvite({ token }))).toBe("answered");
  });

  test("where it is too old", async () => {
    const { owner, person, token } = await invited();
    expect(await person.members.showInvite({ token })).toMatchObject({ role: AccountRole.DEVELOPER });
    await team.expireInvites(owner.ownAccountId);
    await refused(person, token, owner);
  });

  test("where it was revoked, also while it is accepted", async () => {
    const { owner, person, token } = await invited();
    const inviteId = (await owner.members.listMembers({})).invites[0]?.id ?? "";
    await owner.members.revokeInvite({ inviteId });
    await owner.members.revokeInvite({ inviteId });
    await refused(person, token, owner);
    for (let round = 0; round < 5; round += 1) {
      const next = await invited();
      const id = (await next.owner.members.listMembers({})).invites[0]?.id ?? "";
      const [accepted] = await Promise.all([
        problemOf(next.person.members.acceptInvite({ token: next.token })),
        next.owner.members.revokeInvite({ inviteId: id }),
      ]);
      expect(await rolesOf(next.owner)).toEqual(accepted === "answered" ? ["developer"] : []);
    }
  });

  test("where another invitation took its place", async () => {
    const { owner, person, token } = await invited(AccountRole.ADMIN);
    await owner.members.inviteMember({ email: person.email, role: AccountRole.VIEWER });
    expect((await owner.members.listMembers({})).invites).toHaveLength(1);
    await refused(person, token, owner);
    await person.members.acceptInvite({ token: team.tokenTo(person.email) });
    expect(await rolesOf(owner)).toEqual(["viewer"]);
  });

  test("where its inviter is no admin any more", async () => {
    const owner = await team.newPerson();
    const [admin, person] = [await team.newMember(owner.ownAccountId, "admin"), await team.newPerson()];
    await admin.members.inviteMember({ email: person.email, role: AccountRole.ADMIN });
    await owner.members.changeRole({ personId: admin.personId, role: AccountRole.DEVELOPER });
    const token = team.tokenTo(person.email);
    expect(await problemOf(person.members.acceptInvite({ token }))).toBe("not_found");
    expect(await rolesOf(owner)).toEqual(["developer"]);
  });

  test("where there never was one, or it is another account's to revoke", async () => {
    const { owner, person } = await invited();
    await refused(person, "a".repeat(43), owner);
    const inviteId = (await owner.members.listMembers({})).invites[0]?.id ?? "";
    expect(await problemOf(person.members.revokeInvite({ inviteId }))).toBe("not_found");
  });
});

describe("inviting", () => {
  test("answers alike for addresses with and without an account", async () => {
    const owner = await team.newPerson();
    const known = await team.newPerson();
    for (const email of [known.email, `${uuidv7()}@test.example`]) {
      const { invite } = await owner.members.inviteMember({ email, role: AccountRole.VIEWER });
      expect(Object.keys(invite ?? {}).toSorted()).toEqual([
        "$typeName",
        "createdAt",
        "email",
        "expiresAt",
        "id",
        "role",
      ]);
    }
  });

  test("by an admin leaves the invitation of an owner open, and replaces others with a line for each", async () => {
    const owner = await team.newPerson();
    const admin = await team.newMember(owner.ownAccountId, "admin");
    const [next, other] = [await team.newPerson(), `${uuidv7()}@test.example`];
    await owner.members.inviteMember({ email: next.email, role: AccountRole.OWNER });
    const asked = { email: next.email, role: AccountRole.VIEWER };
    expect(await problemOf(admin.members.inviteMember(asked))).toBe("permission_denied");
    expect((await owner.members.listMembers({})).invites.map(({ role }) => role)).toEqual([AccountRole.OWNER]);
    await owner.members.inviteMember({ email: other, role: AccountRole.DEVELOPER });
    const former = (await owner.members.listMembers({})).invites.find(({ email }) => email === other)?.id;
    await admin.members.inviteMember({ email: other, role: AccountRole.VIEWER });
    const { lines } = await owner.members.listActivity({});
    const revoked = lines.filter(({ action }) => action === "member.invite_revoked");
    expect(revoked.map(({ actor, subject, facts }) => ({ actor, subject, facts }))).toEqual([
      { actor: admin.email, subject: former, facts: { email: other, role: "developer" } },
    ]);
    await next.members.acceptInvite({ token: team.tokenTo(next.email) });
    expect((await rolesOf(owner)).toSorted()).toEqual(["admin", "owner"]);
  });

  test("takes an address and no member", async () => {
    const { owner, person, token } = await invited();
    await person.members.acceptInvite({ token });
    for (const email of ["not an address", person.email, owner.email])
      expect(await problemOf(owner.members.inviteMember({ email, role: AccountRole.VIEWER }))).toBe("validation_error");
  });

  test("is counted by account, by account and address, and by address in all", async () => {
    const [owner, person] = [await team.newPerson(), await team.newPerson()];
    const invite = (by: Person, email: string) =>
      problemOf(by.members.inviteMember({ email, role: AccountRole.VIEWER }));
    for (let index = 0; index < 5; index += 1) expect(await invite(owner, person.email)).toBe("answered");
    expect(await invite(owner, person.email)).toBe("rate_limit");
    // A stranger who used up an address for the own account has not used it up for others.
    expect(await invite(await team.newPerson(), person.email)).toBe("answered");
    const outcomes: string[] = [];
    for (let index = 0; index < 16; index += 1) outcomes.push(await invite(owner, `${uuidv7()}@test.example`));
    expect(outcomes).toContain("rate_limit");
    const fromOthers: string[] = [];
    for (let index = 0; index < 40; index += 1) fromOthers.push(await invite(await team.newPerson(), person.email));
    expect(fromOthers).toContain("rate_limit");
  });

  test("leaves the invitation open when the mail is not sent, and inviting again sends it", async () => {
    const [owner, person] = [await team.newPerson(), await team.newPerson()];
    const asked = { email: person.email, role: AccountRole.VIEWER };
    team.mail.isDown = true;
    try {
      expect(await problemOf(owner.members.inviteMember(asked))).toBe("upstream_busy");
    } finally {
      team.mail.isDown = false;
    }
    expect((await owner.members.listMembers({})).invites).toHaveLength(1);
    await owner.members.inviteMember(asked);
    expect((await owner.members.listMembers({})).invites).toHaveLength(1);
    await person.members.acceptInvite({ token: team.tokenTo(person.email) });
    expect(await rolesOf(owner)).toEqual(["viewer"]);
  });
});
