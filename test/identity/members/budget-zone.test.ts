// Who sets the time zone of an account's budgets, which zones there are, and what is recorded of it.

import { afterAll, beforeAll, expect, test } from "vitest";
import { timestampDate } from "@bufbuild/protobuf/wkt";
import { BudgetPeriod } from "#gen/saldo/keys/v1/key_pb.ts";
import { problemOf } from "../../setup/rpc-problem.ts";
import { type Person, serveTeams, type Team } from "./team.ts";

let team: Team;
beforeAll(async () => {
  team = await serveTeams();
});
afterAll(() => team.stop());

const MONTHLY = { budgetIdr: "50000", budgetPeriod: BudgetPeriod.MONTH };
const set = ({ keys }: Person, timeZone: string) => keys.setBudgetSettings({ settings: { timeZone } });
const zoneOf = async ({ keys }: Person) => (await keys.getBudgetSettings({})).settings?.timeZone;

test("is set by owners and admins, and each change is a line of the activity log", async () => {
  const [owner, stranger] = [await team.newPerson(), await team.newPerson()];
  const [admin, developer] = [
    await team.newMember(owner.ownAccountId, "admin"),
    await team.newMember(owner.ownAccountId, "developer"),
  ];
  expect(await zoneOf(developer)).toBe("Asia/Jakarta");
  expect((await set(admin, "Asia/Makassar")).settings).toMatchObject({ timeZone: "Asia/Makassar" });
  expect((await set(owner, "Asia/Jayapura")).settings).toMatchObject({ timeZone: "Asia/Jayapura" });
  await set(owner, "Asia/Jayapura");
  expect(await problemOf(set(developer, "Asia/Jakarta"))).toBe("permission_denied");
  expect([await zoneOf(developer), await zoneOf(stranger)]).toEqual(["Asia/Jayapura", "Asia/Jakarta"]);
  const { lines } = await owner.members.listActivity({});
  expect(lines.map(({ actor, action, subject, facts }) => [actor, action, subject, facts])).toEqual([
    [
      owner.email,
      "KeysService/SetBudgetSettings",
      "",
      { timeZone: "Asia/Jayapura", "before.timeZone": "Asia/Makassar" },
    ],
    [
      admin.email,
      "KeysService/SetBudgetSettings",
      "",
      { timeZone: "Asia/Makassar", "before.timeZone": "Asia/Jakarta" },
    ],
  ]);
});

test("is a zone that the database knows, in any case of its letters", async () => {
  const owner = await team.newPerson();
  expect((await set(owner, "asia/MAKASSAR")).settings?.timeZone).toBe("Asia/Makassar");
  expect((await set(owner, "Asia/Kolkata")).settings?.timeZone).toBe("Asia/Kolkata");
  for (const name of [
    "",
    "Asia/Bandung",
    "WIB-7",
    "+07:00",
    "<WIB>-7",
    "Asia/Jakarta'",
    "../etc/passwd",
    "x".repeat(65),
  ]) {
    expect(await problemOf(set(owner, name)), name).toBe("validation_error");
  }
  expect(await zoneOf(owner)).toBe("Asia/Kolkata");
});

test("is shown with the budgets of keys and members, which begin again at its midnight", async () => {
  const owner = await team.newPerson();
  const { personId } = owner;
  await set(owner, "Asia/Makassar");
  await owner.members.setMemberBudget({ personId, ...MONTHLY });
  const { key } = await owner.keys.createKey({ name: "key", limits: MONTHLY });
  const { members } = await owner.members.listMembers({});
  const { keys } = await owner.keys.listKeys({});
  for (const state of [key?.budget, keys[0]?.budget, members[0]?.budget?.state]) {
    expect(state?.timeZone).toBe("Asia/Makassar");
    expect(state?.resetsAt === undefined ? "" : timestampDate(state.resetsAt).toISOString()).toMatch(/T16:00:00.000Z$/);
  }
  const { key: total } = await owner.keys.createKey({
    name: "total",
    limits: { budgetIdr: "5", budgetPeriod: BudgetPeriod.TOTAL },
  });
  expect(total?.budget).toMatchObject({ timeZone: "" });
});
