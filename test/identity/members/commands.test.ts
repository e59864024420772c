// The operator's commands about members, with their lines in both logs.

import { afterAll, beforeAll, expect, test } from "vitest";
import { saldoJson } from "../../setup/saldo-command.ts";
import { signInPerson, type SignedIn } from "../../setup/session-rows.ts";
import { createTestDatabase, type TestDatabase } from "../../setup/test-database.ts";

let opened: TestDatabase;
let holder: SignedIn;
let person: SignedIn;
const saldo = (...words: string[]) => saldoJson(words, { DATABASE_URL: opened.url });
beforeAll(async () => {
  opened = await createTestDatabase();
  holder = await signInPerson(opened.database.pool);
  person = await signInPerson(opened.database.pool);
});
afterAll(() => opened.drop());

const linesOf = async (table: "operator_action" | "account_activity") => {
  const text = `SELECT action, facts FROM ${table} ORDER BY id`;
  return (await opened.database.pool.query<{ action: string; facts: object }>(text)).rows;
};

test("give an account another owner, change a role and remove a member, and each is recorded", async () => {
  const account = ["--account", holder.ownAccountId, "--email", person.email.toUpperCase()];
  await saldo("member", "add", ...account, "--role", "owner", "--reason", "the founder has left");
  const { members } = (await saldo("member", "list", "--account", holder.ownAccountId)) as unknown as {
    members: { email: string; role: string }[];
  };
  expect(members.map(({ email, role }) => [email, role])).toEqual([
    [holder.email, "owner"],
    [person.email, "owner"],
  ]);
  await saldo("member", "add", ...account, "--role", "viewer");
  expect(await saldo("member", "remove", ...account)).toMatchObject({ revokedKeys: 0 });
  const { email } = person;
  expect(await linesOf("account_activity")).toEqual([
    { action: "member.set", facts: { email, role: "owner" } },
    { action: "member.set", facts: { email, role: "viewer" } },
    { action: "member.removed", facts: { email } },
  ]);
  expect((await linesOf("operator_action")).map(({ action }) => action)).toEqual([
    "member add",
    "member add",
    "member remove",
  ]);
});

test("set a budget of a member, and show what is left of it", async () => {
  const account = ["--account", holder.ownAccountId, "--email", holder.email];
  const set = await saldo("member", "budget", ...account, "--budget", "50000", "--budget-period", "month");
  const shown = { budgetIdr: "50000", budgetPeriod: "month", budgetSpentIdr: "0", budgetLeftIdr: "50000" };
  expect(set).toMatchObject({ personId: holder.personId, ...shown });
  expect(await saldo("member", "list", "--account", holder.ownAccountId)).toMatchObject({ members: [shown] });
  // The period stays where it is left out.
  expect(await saldo("member", "budget", ...account, "--budget", "7")).toMatchObject({ budgetPeriod: "month" });
  expect(await saldo("member", "budget", ...account, "--budget", "none")).toEqual({
    personId: holder.personId,
    budgetIdr: null,
  });
  await expect(saldo("member", "budget", ...account, "--budget-period", "day")).rejects.toThrow(/needs a --budget/);
  const stranger = ["--account", holder.ownAccountId, "--email", "no@one.example"];
  await expect(saldo("member", "budget", ...stranger, "--budget", "1")).rejects.toThrow(/no such member/);
  expect((await linesOf("account_activity")).slice(-3)).toEqual([
    { action: "member.budget_set", facts: { email: holder.email, amount: "50000", period: "month" } },
    { action: "member.budget_set", facts: { email: holder.email, amount: "7", period: "month" } },
    { action: "member.budget_set", facts: { email: holder.email } },
  ]);
});

test("add no member above the most that an account can have", async () => {
  const { ownAccountId } = await signInPerson(opened.database.pool);
  await opened.database.pool.query(
    `WITH person AS (
       INSERT INTO auth.person (id, email, email_verified, name)
       SELECT gen_random_uuid(), 'crowd-' || n || '@test.example', true, 'Somebody' FROM generate_series(1, 199) n RETURNING id
     ) INSERT INTO account_member (account_id, person_id, role) SELECT $1, id, 'viewer' FROM person`,
    [ownAccountId],
  );
  const add = (email: string, role: string) =>
    saldo("member", "add", "--account", ownAccountId, "--email", email, "--role", role);
  await expect(add(person.email, "viewer")).rejects.toThrow(/at most 200 members/);
  expect(await add("crowd-7@test.example", "admin")).toMatchObject({ role: "admin" });
});

test("refuse what is no role, no person, no member, and the person whose account it is", async () => {
  const { ownAccountId } = holder;
  const about = (email: string) => ["--account", ownAccountId, "--email", email];
  await expect(saldo("member", "add", ...about(person.email), "--role", "king")).rejects.toThrow(
    /must be one of owner/,
  );
  await expect(saldo("member", "add", ...about("no@one.example"), "--role", "owner")).rejects.toThrow(/No person/);
  await expect(saldo("member", "remove", ...about(person.email))).rejects.toThrow(/no such member/);
  await expect(saldo("member", "remove", ...about(holder.email))).rejects.toThrow(/stays its owner/);
  await expect(saldo("member", "add", ...about(holder.email), "--role", "viewer")).rejects.toThrow(/stays its owner/);
});
