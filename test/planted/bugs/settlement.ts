// Guards of settlement, release, credit and extension.

import { type Edit, ledger, money, type PlantedBug, statement } from "../planted-bug.ts";

const owed = (test: string) => ({ file: "test/top-ups/owed.test.ts", test });
const collecting = (find: string, replace: string): Edit => ({
  file: "src/database/functions/collect_owed.sql",
  find,
  replace,
});

/** Each with the test that must notice it. */
export const SETTLEMENT_BUGS: readonly PlantedBug[] = [
  {
    name: "a settlement charges its whole cost, whatever there is",
    edits: [
      statement(
        "settle_request",
        "charge := least(cost, freed.amount + greatest(0, least(posted - held - owed, budgeted, member_left)));",
        "charge := cost;",
      ),
    ],
    noticedBy: money("settlement", "takes above the hold only available money, and posts the rest as our loss"),
  },
  {
    name: "a settlement charges no more than its hold, though there is more",
    edits: [
      statement(
        "settle_request",
        "charge := least(cost, freed.amount + greatest(0, least(posted - held - owed, budgeted, member_left)));",
        "charge := least(cost, freed.amount);",
      ),
    ],
    noticedBy: money("settlement", "takes above the hold only available money, and posts the rest as our loss"),
  },
  {
    name: "a settlement charges again what has a record already, alone",
    edits: [statement("settle_request", "    charge := 0;\n", "")],
    noticedBy: money("settlement", "releases a hold whose request has its record already, and charges nothing more"),
  },
  {
    name: "a settlement that meets a record fails, and its hold stays, alone",
    edits: [statement("settle_request", "ON CONFLICT DO NOTHING;\n  IF FOUND", ";\n  IF FOUND")],
    noticedBy: money("settlement", "releases a hold whose request has its record already, and charges nothing more"),
  },
  {
    name: "a settlement charges again what has a record already, in a group",
    edits: [
      statement(
        "commit_requests",
        "WHERE key_id[n] IS NOT NULL;",
        "WHERE key_id[n] IS NOT NULL ON CONFLICT DO NOTHING;",
      ),
    ],
    noticedBy: money("settlement", "releases a hold whose request has its record already, and charges nothing more"),
  },
  {
    name: "a group of settlements takes from what others hold",
    edits: [
      statement(
        "commit_requests",
        "more := least(s_cost[i] - charge[i], greatest(0, posted[here] - held[here] - owed[here]));",
        "more := s_cost[i] - charge[i];",
      ),
    ],
    noticedBy: money("settlement", "charges a batch as if its members came one after the other"),
  },
  {
    name: "a receivable is ignored: what is owed can be spent, by a request alone",
    edits: [
      statement("admit_request", "other := greatest(0, posted - held - owed);", "other := greatest(0, posted - held);"),
    ],
    noticedBy: owed("that a dead process held"),
  },
  {
    name: "a receivable is ignored: what is owed can be spent, by requests in a group",
    edits: [
      statement(
        "commit_requests",
        "room := greatest(0, posted[here] - held[here] - owed[here]);",
        "room := greatest(0, posted[here] - held[here]);",
      ),
    ],
    noticedBy: owed("is not there for an extension"),
  },
  {
    name: "a settlement alone collects nothing of what is owed",
    edits: [statement("settle_request", "IF owed > 0 THEN PERFORM collect_owed(account, request); END IF;", "")],
    noticedBy: owed("is collected when the request ends free"),
  },
  {
    name: "settlements in a group collect nothing of what is owed",
    edits: [statement("commit_requests", "IF 0 < ANY (owed) THEN", "IF false THEN")],
    noticedBy: owed("never leaves free money beside the debt"),
  },
  {
    name: "what is collected of a debt is still owed",
    edits: [
      collecting("SET posted = a.posted - collected, owed = a.owed - collected", "SET posted = a.posted - collected"),
    ],
    noticedBy: owed("is collected when the request ends free"),
  },
  {
    name: "one event collects only once of a debt",
    edits: [collecting("'receivable:' || due.id || ':' || posting_id);", "'receivable:' || due.id || ':' || source);")],
    noticedBy: owed("by several credit notes of one request"),
  },
  {
    name: "an operator takes from an account what it owes",
    edits: [ledger("debits.ts", "a.posted - a.held - a.owed >= $5::bigint", "a.posted - a.held >= $5::bigint")],
    noticedBy: owed("that a dead process held"),
  },
  {
    name: "a settled request still counts as running",
    edits: [statement("settle_request", "held - freed.amount, open_holds = open_holds - 1", "held - freed.amount")],
    noticedBy: money("admission", "admits as many simultaneous requests as the account's limit"),
  },
  {
    name: "a release charges",
    edits: [ledger("group-commit/group-commit.ts", "cost: 0n,", "cost: 1n,")],
    noticedBy: money("races", "between a settlement and a sweep are won by one"),
  },
  {
    name: "a credit that comes twice counts twice",
    edits: [
      ledger(
        "credits.ts",
        "+ $5::bigint, held = l.held FROM acc l, ins WHERE",
        "+ $5::bigint, held = l.held FROM acc l WHERE",
      ),
    ],
    noticedBy: money("races", "between credits with one reference are won by one, whatever the others contain"),
  },
  {
    name: "an extension grants more than there is",
    edits: [
      statement(
        "commit_requests",
        "least(greatest(e_amount[i] - extended, 0), room)",
        "greatest(e_amount[i] - extended, 0)",
      ),
    ],
    noticedBy: money("extension", "grants the available amount when it is still useful, and refuses one unit below"),
  },
  {
    name: "an extension takes back what is held",
    edits: [
      statement(
        "commit_requests",
        "least(greatest(e_amount[i] - extended, 0), room)",
        "least(e_amount[i] - extended, room)",
      ),
    ],
    noticedBy: money("extension", "never reduces a hold or its progress"),
  },
  {
    name: "a loss is not under the customer whose request it was",
    edits: [statement("settle_request", "VALUES (account, request, request,", "VALUES (request, request, request,")],
    noticedBy: money("audit", "finds a loss above the uncovered cost, and one without a record"),
  },
  {
    name: "two orders of one reference look for it at once",
    edits: [ledger("postings.ts", "  await client.query(CLAIM, [reference]);\n", "")],
    noticedBy: money(
      "races",
      "between commands with one reference on two accounts are won by one, and the others are refused",
    ),
  },
];
