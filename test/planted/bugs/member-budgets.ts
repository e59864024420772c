// Guards of the budgets of members.

import { money, type PlantedBug, statement } from "../planted-bug.ts";

const budget = (test: string) => money("member-budget", test);

/** Each with the test that must notice it. */
export const MEMBER_BUDGET_BUGS: readonly PlantedBug[] = [
  {
    name: "an admin raises the own budget",
    edits: [
      {
        file: "src/identity/members/member-budgets.ts",
        find: 'if (actor.personId === personId && role !== "owner")',
        replace: "if (false)",
      },
    ],
    noticedBy: {
      file: "test/identity/members/budgets.test.ts",
      test: "is lowered by an admin for the own keys, and never raised, reset or removed",
    },
  },
  {
    name: "a member's budget is checked before the lock",
    edits: [
      statement(
        "admit_request",
        "SELECT a.posted, a.held, a.owed, a.open_holds, a.max_open_holds, a.frozen_at IS NOT NULL",
        `SELECT b.person_id, b.budget, b.budget_period, b.budget_start, b.budget_spent, b.budget_held
         INTO member, member_amount, member_period, member_start, member_spent, member_held FROM api_key k JOIN member_budget b ON b.account_id = k.account_id AND b.person_id = k.person_id
         WHERE k.account_id = account AND k.id = key;
         SELECT a.posted, a.held, a.owed, a.open_holds, a.max_open_holds, a.frozen_at IS NOT NULL`,
      ),
      statement("admit_request", "IF member_budgets > 0 THEN", "IF false THEN"),
      statement("admit_request", "SET budget_held = member_held + amount", "SET budget_held = b.budget_held + amount"),
    ],
    noticedBy: budget("is read behind the lock"),
  },
  {
    name: "a group is admitted without a look at the budgets of members",
    edits: [statement("commit_requests", "ELSIF member_left[m] < a_least[i] THEN", "ELSIF false THEN")],
    noticedBy: budget("admits exactly as many of a hundred parallel requests of two keys as it covers"),
  },
  {
    name: "each key of a member in a group has the whole budget of the member",
    edits: [statement("commit_requests", "member_left[m] := member_left[m] - amount;", "")],
    noticedBy: budget("admits exactly as many of a hundred parallel requests of two keys as it covers"),
  },
  {
    name: "a hold is larger than what is left of the member's budget",
    edits: [
      statement(
        "admit_request",
        "amount := least(wanted, other, budgeted, member_left);",
        "amount := least(wanted, other, budgeted);",
      ),
    ],
    noticedBy: budget("grants what is left of the tighter one of the budgets"),
  },
  {
    name: "a request alone is charged beyond the member's budget",
    edits: [
      statement(
        "settle_request",
        "least(posted - held - owed, budgeted, member_left)",
        "least(posted - held - owed, budgeted)",
      ),
    ],
    noticedBy: budget("leaves what a request costs beyond its hold and the budget to the operator"),
  },
  {
    name: "requests of a group are charged beyond the member's budget",
    edits: [
      statement(
        "commit_requests",
        "more := greatest(0, least(more, member_left[m]));",
        "more := greatest(0, least(more, 9e17::bigint + member_left[m]));",
      ),
    ],
    noticedBy: budget("shares what is left among requests of its keys that are settled together"),
  },
  {
    name: "a hold is extended beyond the member's budget",
    edits: [
      statement(
        "commit_requests",
        "room := greatest(0, least(room, budget_left(member.",
        "room := greatest(0, least(room, 9e17::bigint + budget_left(member.",
      ),
    ],
    noticedBy: budget("extends a hold by what is left of it, and no further"),
  },
  {
    name: "recovery charges no budget of a member",
    edits: [
      {
        file: "src/ledger/recovery.ts",
        find: "SELECT charge_member_budget(d.account_id, d.member_id, d.amount, coalesce(i.charge, 0))",
        replace: "SELECT charge_member_budget(d.account_id, d.member_id, d.amount, 0)",
      },
    ],
    noticedBy: budget("counts what recovery charges, and what a late settlement adds"),
  },
  {
    name: "a late settlement is charged beyond the member's budget",
    edits: [
      statement(
        "post_late_usage",
        "least(posted - held - owed, budgeted, member_left)",
        "least(posted - held - owed, budgeted)",
      ),
    ],
    noticedBy: budget("counts what recovery charges, and what a late settlement adds"),
  },
  {
    name: "a new budget of a member forgets the requests that run",
    edits: [
      statement(
        "member_budget",
        "AND h.key_id IN (SELECT k.id FROM api_key k WHERE k.account_id = account AND k.person_id = person);",
        "AND false;",
      ),
    ],
    noticedBy: budget("counts the open requests of a member who gets one"),
  },
  {
    name: "the playground key of before keeps out of the budget of its holder",
    edits: [
      {
        file: "src/keys/playground-key.ts",
        find: "if (await isPlaygroundKeyNameless(pool, key)) await nameMaker(member, key);",
        replace: "",
      },
    ],
    noticedBy: budget("counts the playground of the holder"),
  },
  {
    name: "open requests of a key that gets its maker do not count in the budget",
    edits: [
      {
        file: "src/keys/playground-key.ts",
        find: "if (budget !== null) await countHoldsForMember(client, { accountId, keyId, personId });",
        replace: "void budget;",
      },
    ],
    noticedBy: budget("counts the playground of the holder"),
  },
  {
    name: "of a member's requests that a group settles, one counts in the budget",
    edits: [
      statement(
        "commit_requests",
        "AS person_id, sum(budget_freed[n])::bigint AS held, sum(charge[n])::bigint AS charge",
        "AS person_id, sum(budget_freed[n])::bigint AS held, max(charge[n])::bigint AS charge",
      ),
    ],
    noticedBy: budget("shares what is left among requests of its keys that are settled together"),
  },
];
