// Guards of settlement, release, credit and extension.

import { ledger, money, type PlantedBug, statement } from "../planted-bug.ts";

/** Each with the test that must notice it. */
export const SETTLEMENT_BUGS: readonly PlantedBug[] = [
  {
    name: "a settlement charges its whole cost, whatever there is",
    edits: [statement("charge := least(cost, freed.amount + posted - held);", "charge := cost;")],
    noticedBy: money("settlement", "takes above the hold only what is available"),
  },
  {
    name: "a settlement charges no more than its hold, though there is more",
    edits: [statement("charge := least(cost, freed.amount + posted - held);", "charge := least(cost, freed.amount);")],
    noticedBy: money("settlement", "takes above the hold only what is available"),
  },
  {
    name: "a settlement charges again what has a record already, alone",
    edits: [statement("    charge := 0;\n", "")],
    noticedBy: money("settlement", "gives back a hold whose request has its record already"),
  },
  {
    name: "a settlement that meets a record fails, and its hold stays, alone",
    edits: [statement("ON CONFLICT DO NOTHING;\n  IF FOUND", ";\n  IF FOUND")],
    noticedBy: money("settlement", "gives back a hold whose request has its record already"),
  },
  {
    name: "a settlement charges again what has a record already, in a group",
    edits: [statement("WHERE key_id[n] IS NOT NULL;", "WHERE key_id[n] IS NOT NULL ON CONFLICT DO NOTHING;")],
    noticedBy: money("settlement", "gives back a hold whose request has its record already"),
  },
  {
    name: "a group of settlements takes from what others hold",
    edits: [
      statement("more := least(s_cost[i] - charge[i], posted[here] - held[here]);", "more := s_cost[i] - charge[i];"),
    ],
    noticedBy: money("settlement", "charges a batch as if its members came one after the other"),
  },
  {
    name: "a settled request still counts as running",
    edits: [statement("held - freed.amount, open_holds = open_holds - 1", "held - freed.amount")],
    noticedBy: money("admission", "lets as many requests run at once"),
  },
  {
    name: "a release charges",
    edits: [ledger("group-commit.ts", "cost: 0n,", "cost: 1n,")],
    noticedBy: money("races", "between a settlement and a sweep are won by one"),
  },
  {
    name: "a credit that comes twice counts twice",
    edits: [
      ledger(
        "accounts.ts",
        "+ $4::bigint, held = l.held FROM acc l, ins WHERE",
        "+ $4::bigint, held = l.held FROM acc l WHERE",
      ),
    ],
    noticedBy: money("races", "between credits of one reference are won by one"),
  },
  {
    name: "an extension grants more than there is",
    edits: [
      statement(
        "least(greatest(e_amount[i] - extended, 0), posted[here] - held[here])",
        "greatest(e_amount[i] - extended, 0)",
      ),
    ],
    noticedBy: money("extension", "grants what there is when that is still useful"),
  },
  {
    name: "an extension takes back what is held",
    edits: [
      statement(
        "least(greatest(e_amount[i] - extended, 0), posted[here] - held[here])",
        "least(e_amount[i] - extended, posted[here] - held[here])",
      ),
    ],
    noticedBy: money("extension", "never takes back what is held or recorded"),
  },
];
