// Guards of admission: balance, locks, the rate window, revocation, limits of the account.

import { money, type PlantedBug, statement } from "../planted-bug.ts";

/** Each with the test that must notice it. */
export const ADMISSION_BUGS: readonly PlantedBug[] = [
  {
    name: "a request alone is admitted without a look at the balance",
    edits: [statement("admit_request", "IF other < least_amount THEN", "IF false THEN")],
    noticedBy: money("admission", "holds the available amount when it is still useful, and refuses one unit below"),
  },
  {
    name: "a group is admitted without a look at the balance",
    edits: [statement("commit_requests", "IF other < a_least[i] THEN", "IF false THEN")],
    noticedBy: money("admission", "admits exactly as many of 100 parallel requests"),
  },
  {
    name: "a request alone holds more than there is",
    edits: [statement("admit_request", "amount := least(wanted, other, budgeted, member_left);", "amount := wanted;")],
    noticedBy: money("admission", "holds the available amount when it is still useful, and refuses one unit below"),
  },
  {
    name: "a group holds more than there is, and the database has to refuse it",
    edits: [
      statement(
        "commit_requests",
        "amount := least(a_amount[i], other, budgeted, member_left[m]);",
        "amount := a_amount[i];",
      ),
    ],
    noticedBy: money("admission", "never needs the database's own constraint to refuse a group"),
  },
  {
    name: "the database allows a negative balance",
    edits: [
      {
        file: "src/database/migrations/0001-baseline/03-ledger.sql",
        find: "CHECK (held >= 0 AND posted >= held)",
        replace: "CHECK (held >= 0)",
      },
    ],
    noticedBy: money("races", "the database itself refuses"),
  },
  {
    name: "the account is read and not locked, for a request alone",
    edits: [
      statement(
        "admit_request",
        "member_budgets\n  FROM account a WHERE a.id = account FOR NO KEY UPDATE",
        "member_budgets\n  FROM account a WHERE a.id = account",
      ),
    ],
    noticedBy: money("races", "admissions against a credit: they see it once they have locked the row"),
  },
  {
    name: "the accounts are read and not locked, for a group",
    edits: [statement("commit_requests", "ORDER BY a.id FOR NO KEY UPDATE", "ORDER BY a.id")],
    noticedBy: money("races", "for the last money admit exactly as many as it covers"),
  },
  {
    name: "the key is read and not locked, for a request alone",
    edits: [statement("admit_request", "k.id = key FOR NO KEY UPDATE;", "k.id = key;")],
    noticedBy: money("races", "all are counted in its window"),
  },
  {
    name: "the keys are read and not locked, for a group",
    edits: [
      statement(
        "commit_requests",
        "AND k.id = ANY (a_key)\n               ORDER BY k.account_id, k.id FOR NO KEY UPDATE LOOP",
        "AND k.id = ANY (a_key)\n               ORDER BY k.account_id, k.id LOOP",
      ),
    ],
    noticedBy: money("races", "all are counted in its window"),
  },
  {
    name: "the clock is read before the lock, for a request alone",
    edits: [
      statement(
        "admit_request",
        "t := clock_timestamp();\n  IF rate_limit > 0 THEN",
        "t := statement_timestamp();\n  IF rate_limit > 0 THEN",
      ),
    ],
    noticedBy: money("races", "admissions against a lock: they are counted at their admission"),
  },
  {
    name: "the clock is read before the locks, for a group",
    edits: [
      statement(
        "commit_requests",
        "t := clock_timestamp();\n      budget_taken",
        "t := statement_timestamp();\n      budget_taken",
      ),
    ],
    noticedBy: money("races", "admissions against a lock: they are counted at their admission"),
  },
  {
    name: "the rate window lets one too many in, alone",
    edits: [
      statement(
        "admit_request",
        "IF rate_limit > 0 AND used >= rate_limit THEN",
        "IF rate_limit > 0 AND used > rate_limit THEN",
      ),
    ],
    noticedBy: money("admission", "frees a slot when the request that took it is 60 seconds old"),
  },
  {
    name: "the rate window lets one too many in, in a group",
    edits: [statement("commit_requests", "used + taken >= rate_limit THEN", "used + taken > rate_limit THEN")],
    noticedBy: money("admission", "gives exactly the window's slots to 100 parallel requests"),
  },
  {
    name: "a group counts in every window what it counted in the first",
    edits: [
      statement(
        "commit_requests",
        "FROM generate_series(1, cardinality(used_keys)) n\n      WHERE k.id = used_keys[n] AND",
        "FROM generate_series(1, 1) n\n      WHERE",
      ),
    ],
    noticedBy: money("admission", "counts in the window of each key of a group its own requests"),
  },
  {
    name: "the rate window is a second short",
    edits: [
      {
        file: "src/database/functions/rate_window.sql",
        find: "THEN cardinality(slots) - width_bucket(t - interval '60 s', slots)",
        replace: "THEN cardinality(slots) - width_bucket(t - interval '59 s', slots)",
      },
    ],
    noticedBy: money("admission", "frees a slot when the request that took it is 60 seconds old"),
  },
  {
    name: "a revoked key is not looked at, alone",
    edits: [statement("admit_request", "IF revoked OR expires_at <= t THEN", "IF expires_at <= t THEN")],
    noticedBy: money("admission", "refuses a key from the moment its revocation is committed"),
  },
  {
    name: "a revoked key is not looked at, in a group",
    edits: [statement("commit_requests", "IF key.revoked OR key.expires_at <= t THEN", "IF key.expires_at <= t THEN")],
    noticedBy: money("admission", "refuses a key from the moment its revocation is committed"),
  },
  {
    name: "a frozen account is not looked at, alone",
    edits: [statement("admit_request", "IF frozen THEN outcome := 'frozen'; RETURN; END IF;", "")],
    noticedBy: money("admission", "refuses a frozen account"),
  },
  {
    name: "a frozen account is not looked at, in a group",
    edits: [statement("commit_requests", "ELSIF frozen[here] THEN outcome", "ELSIF false THEN outcome")],
    noticedBy: money("admission", "refuses a frozen account"),
  },
  {
    name: "one request too many runs at once, alone",
    edits: [statement("admit_request", "open_holds >= max_open_holds THEN", "open_holds > max_open_holds THEN")],
    noticedBy: money("admission", "admits as many simultaneous requests as the account's limit"),
  },
  {
    name: "one request too many runs at once, in a group",
    edits: [
      statement(
        "commit_requests",
        "open_holds[here] >= max_open_holds[here] THEN",
        "open_holds[here] > max_open_holds[here] THEN",
      ),
    ],
    noticedBy: money("admission", "admits as many simultaneous requests as the account's limit"),
  },
  {
    name: "the name of a request is read before its account is locked",
    edits: [
      {
        file: "src/database/functions/admit_request_once.sql",
        find: "FROM lock_accounts(ARRAY[account]) a;",
        replace: "FROM account a WHERE a.id = account;",
      },
    ],
    noticedBy: money("idempotency", "are admitted once, however many come at once"),
  },
  {
    name: "a name is free again though its request was charged",
    edits: [
      {
        file: "src/database/functions/admit_request_once.sql",
        find: "IF is_running OR former_basis <> 'free' THEN",
        replace: "IF is_running THEN",
      },
    ],
    noticedBy: money("idempotency", "return the charge of the first one"),
  },
];
