// Guards of alerts: once for each crossing, to the right webhook, with a secret that is shown once.

import type { Edit, PlantedBug } from "../planted-bug.ts";

const source = (file: string, find: string, replace: string): Edit => ({ file: `src/${file}`, find, replace });
const sent = (test: string) => ({ file: "test/money/sent-alerts.test.ts", test });
const usedUp = (test: string) => ({ file: "test/money/used-up-budgets.test.ts", test });
const alerts = (test: string) => ({ file: "test/money/alerts.test.ts", test });

/** Each with the test that must notice it. */
export const ALERT_BUGS: readonly PlantedBug[] = [
  {
    name: "every look makes an alert of its own",
    edits: [
      source(
        "billing/alerts/make-alerts.ts",
        "SELECT new_uuidv7(), account_id, type, crossing,",
        "SELECT new_uuidv7(), account_id, type, crossing || txid_current(),",
      ),
    ],
    noticedBy: alerts("come once at each percent, from several simultaneous processes"),
  },
  {
    name: "a lower percent is notified after a higher one",
    edits: [source("billing/alerts/make-alerts.ts", "e.percent >= f.percent", "e.percent = f.percent")],
    noticedBy: alerts("and then at no lower one"),
  },
  {
    name: "an alert is made without its post",
    edits: [
      source("billing/alerts/make-alerts.ts", "w.url IS NOT NULL AND w.stopped_at", "w.url IS NULL AND w.stopped_at"),
    ],
    noticedBy: sent("are signed, and delivered by another process where the one that decided them is killed"),
  },
  {
    name: "the spend of a former period counts in this one",
    edits: [
      source(
        "billing/alerts/decide-alerts.ts",
        "budget_spent_at(b.budget_period, b.budget_start, b.budget_zone, b.budget_until, b.budget_spent, n.moment) AS spent",
        "b.budget_spent AS spent",
      ),
    ],
    noticedBy: alerts("come again in the next period and for another budget"),
  },
  {
    name: "yesterday's requests count in today's spend",
    edits: [
      source(
        "billing/alerts/decide-alerts.ts",
        "quarter_floor(greatest(b.before_quarter, d.quarter))",
        "quarter_floor(b.before_quarter)",
      ),
    ],
    noticedBy: alerts("come once at each percent, and count the day's requests"),
  },
  {
    name: "an account has an alert of another one posted again",
    edits: [
      source(
        "callbacks/delivery-log.ts",
        "WHERE d.event_id = $1::uuid AND d.${receiver} = $2::uuid",
        "WHERE d.event_id = $1::uuid AND $2::uuid IS NOT NULL",
      ),
    ],
    noticedBy: sent("and again when their owner orders it"),
  },
  {
    name: "a secret is shown whenever a webhook is saved",
    edits: [
      source(
        "callbacks/callback-settings.ts",
        "token: madeToken, secret: madeSecret };",
        'token: madeToken, secret: madeSecret || (known?.secret ?? "") };',
      ),
    ],
    noticedBy: sent("show the secret once, and sign with the new one from a rotation on"),
  },
  {
    name: "what other requests hold makes a budget used up",
    edits: [
      {
        file: "src/database/functions/used_up_budget.sql",
        find: "needed <= budget AND budget - used < needed AND used >= budget - used",
        replace: "needed <= budget AND used >= budget - used",
      },
    ],
    noticedBy: usedUp("is not used up by what others hold"),
  },
  {
    name: "a budget that was raised is still used up",
    edits: [
      {
        file: "src/database/functions/set_key_budget.sql",
        find: "CASE WHEN k.budget = new_budget THEN k.budget_used_up_at END",
        replace: "k.budget_used_up_at",
      },
    ],
    noticedBy: usedUp("is used up again where another amount is"),
  },
  {
    name: "a group of refused requests leaves no note of a used-up budget",
    edits: [
      {
        file: "src/database/functions/commit_requests.sql",
        find: "PERFORM note_used_up_key(key.account_id, key.id, 0, a_least[i]);",
        replace: "",
      },
    ],
    noticedBy: usedUp("is used up where requests are refused together"),
  },
  {
    name: "an alert of a member's budget is mailed to members who may not read it",
    edits: [
      source("billing/alerts/alert-mails.ts", 'roles: ["owner", "admin"], personId', "...MONEY_READERS, personId"),
    ],
    noticedBy: usedUp("a member's is read by owners, admins and the member"),
  },
  {
    name: "mails of a claim go out behind its end",
    edits: [source("billing/mail-readers.ts", "if (!mayGoOn()) return false;", "mayGoOn();")],
    noticedBy: usedUp("goes to no reader when another process"),
  },
  {
    name: "a mail that failed for one reader goes to all of them again",
    edits: [
      source("billing/mail-readers.ts", "if (mailed.includes(reader.id)) continue;", "mailed.includes(reader.id);"),
    ],
    noticedBy: usedUp("is sent again to those alone whose mail failed"),
  },
  {
    name: "changes of an account's settings at the same time all show what one of them found",
    edits: [
      { file: "src/database/record-change.ts", find: "await client.query(TAKE_TURN, [accountId]);", replace: "" },
    ],
    noticedBy: {
      file: "test/identity/members/changes.test.ts",
      test: "has each of an account's settings with what it found",
    },
  },
];
