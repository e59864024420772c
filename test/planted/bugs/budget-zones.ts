// Guards of the zone of budgets.

import { money, type PlantedBug, statement } from "../planted-bug.ts";

const zone = (test: string) => money("budget-zone", test);

/** Each with the test that must notice it. */
export const BUDGET_ZONE_BUGS: readonly PlantedBug[] = [
  {
    name: "a change of the zone begins a budget again",
    edits: [
      statement(
        "budget_zone",
        "new_spent := budget_spent_at(period, start, zone, until, spent, t);",
        "new_spent := 0;",
      ),
    ],
    noticedBy: zone("keeps what is spent and held, refuses on, and shows when it begins again"),
  },
  {
    name: "a period ends at a midnight of its new zone before its end",
    edits: [statement("budget_zone", "IF midnight < ends THEN", "IF false THEN")],
    noticedBy: zone("lets it last until"),
  },
  {
    name: "a month begins in the far west before the month",
    edits: [statement("budget_zone", "RETURN greatest(midnight,", "RETURN least(midnight,")],
    noticedBy: zone("lets it last until"),
  },
  {
    name: "a period that a change of the zone has extended ends at the next midnight",
    edits: [statement("key_budget", "OR t < until THEN start", "THEN start")],
    noticedBy: zone("lets it last until"),
  },
  {
    name: "a period is taken to have begun in the zone in which it is counted",
    edits: [statement("budget_zone", "CASE WHEN new_start < until THEN began_in ELSE zone END", "zone")],
    noticedBy: zone("there and back leaves the end as it was"),
  },
  {
    name: "a day with two midnights begins with the second",
    edits: [statement("key_budget", "THEN interval '1 hour' ELSE", "THEN interval '0' ELSE")],
    noticedBy: zone("begins at the first moment of its date, in every zone that the database knows"),
  },
  {
    name: "a budget that is set is counted in Jakarta, whatever the zone of its account",
    edits: [
      statement(
        "set_key_budget",
        "ELSE (SELECT a.budget_zone FROM account a WHERE a.id = account) END",
        "ELSE NULL END",
      ),
    ],
    noticedBy: zone("holds for members' budgets and all keys, and for those that are set behind it"),
  },
  {
    name: "a change of the zone changes the budgets of every account",
    edits: [
      statement(
        "budget_zone",
        "WHERE k.account_id = account AND m.account_id = account AND m.id = k.id AND m.budget IS NOT NULL",
        "WHERE m.id = k.id AND m.budget IS NOT NULL",
      ),
    ],
    noticedBy: zone("keeps what is spent and held, refuses on, and shows when it begins again"),
  },
  {
    name: "a charge is counted in the day of Jakarta",
    edits: [
      statement(
        "key_budget",
        "ELSE budget_spent_at(k.budget_period, k.budget_start, k.budget_zone, k.budget_until, k.budget_spent, t) + charge END",
        "ELSE budget_spent_at(k.budget_period, k.budget_start, NULL, NULL, k.budget_spent, t) + charge END",
      ),
    ],
    noticedBy: zone("two processes at a midnight have each period's budget once"),
  },
  {
    name: "a refused budget begins again at midnight of Jakarta",
    edits: [
      statement(
        "admit_request",
        "amount := budget_end_ms(period, zone, until, t);",
        "amount := budget_end_ms(period, NULL, NULL, t);",
      ),
    ],
    noticedBy: zone("keeps what is spent and held, refuses on, and shows when it begins again"),
  },
  {
    name: "a zone is taken that the database does not know",
    edits: [
      {
        file: "src/keys/budget-zone.ts",
        find: "if (known !== undefined) return known.name;",
        replace: "if (known !== undefined || isName) return name;",
      },
    ],
    noticedBy: {
      file: "test/identity/members/budget-zone.test.ts",
      test: "is a zone that the database knows, in any case of its letters",
    },
  },
];
