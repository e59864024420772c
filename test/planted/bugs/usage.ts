// Guards of usage as it is read: roll-ups, sums, the file, and the mail about a low balance.

import { money, type PlantedBug } from "../planted-bug.ts";

/** Each with the test that must notice it. */
export const USAGE_BUGS: readonly PlantedBug[] = [
  {
    name: "roll-ups do not wait for an open request",
    edits: [
      { file: "src/billing/usage/roll-up.ts", find: ", quarter_of(h.oldest)) AS horizon", replace: ") AS horizon" },
    ],
    noticedBy: money("usage-roll-up", "wait for the oldest open request"),
  },
  {
    name: "failed requests are those alone that nothing is charged for",
    edits: [{ file: "src/billing/usage/store.ts", find: " OR metering ? 'failure')", replace: ")" }],
    noticedBy: money("usage-reads", "sums to the same by list, file"),
  },
  {
    name: "sums of failed requests are read from roll-ups, which do not know failures",
    edits: [{ file: "src/billing/usage/summary.ts", find: "selection.failed ? 0 :", replace: "" }],
    noticedBy: money("usage-reads", "sums to the same by list, file"),
  },
  {
    name: "the tokens of a late charge are in no sum",
    edits: [
      {
        file: "src/billing/usage/summary.ts",
        find: "`l.${column} - u.${column} AS ${column}`",
        replace: "`0 AS ${column}`",
      },
    ],
    noticedBy: money("usage-pages", "counts a late charge with its request, in sums, on its record and in the file"),
  },
  {
    name: "roll-ups are believed without a look at the balance",
    edits: [
      { file: "src/billing/usage/summary.ts", find: "CASE WHEN a.posted =", replace: "CASE WHEN true OR a.posted =" },
    ],
    noticedBy: money("usage-roll-up", "are skipped while a late request is missing in them, and then made again"),
  },
  {
    name: "a stretch is added to what was there",
    edits: [
      {
        file: "src/billing/usage/roll-up.ts",
        find: "quarter >= $2::int AND quarter < $3::int RETURNING charge",
        replace: "quarter >= $2::int AND false AND quarter < $3::int RETURNING charge",
      },
    ],
    noticedBy: money("usage-roll-up", "are skipped while a late request is missing in them, and then made again"),
  },
  {
    name: "a page of the ledger begins at the balance of now, whatever came since",
    edits: [
      {
        file: "src/billing/usage/ledger-entries.ts",
        find: "return account.posted - moved;",
        replace: "return account.posted + charged;",
      },
    ],
    noticedBy: money("usage-pages", "balances stay exact, while records and postings arrive"),
  },
  {
    name: "a statement has the order in which requests came",
    edits: [
      {
        file: "src/billing/usage/line-statements.ts",
        find: 'const SETTLED = "settled_time(request_id, settled_at)";',
        replace: 'const SETTLED = "request_time(request_id)";',
      },
    ],
    noticedBy: money("statements", "shows a charge above its hold after the top-up that paid it"),
  },
  {
    name: "the audit does not compare tokens of the rarer kinds",
    edits: [{ file: "src/billing/usage/audit-roll-ups.ts", find: "  ...Object.values(OTHER_KINDS),\n", replace: "" }],
    noticedBy: money("usage-roll-up", "are found wrong by the audit in "),
  },
  {
    name: "sums leave out what was charged after the record",
    edits: [
      {
        file: "src/billing/usage/summary.ts",
        find: "UNION ALL ${lateCharges(columns, fits)}`",
        replace: "`",
      },
    ],
    noticedBy: money("usage-pages", "counts a late charge with its request, in sums, on its record and in the file"),
  },
  {
    name: "a low balance is mailed for as long as it is low",
    edits: [{ file: "src/billing/low-balance-alert.ts", find: " AND l.is_below <> p.is_below", replace: "" }],
    noticedBy: money(
      "low-balance",
      "is sent once when the balance falls below the threshold, and again only after it has risen to it",
    ),
  },
  {
    name: "the mail of a fall is noted for a later fall, which is never mailed",
    edits: [
      {
        file: "src/billing/low-balance-alert.ts",
        find: "AND attempts = $2::int AND next_attempt_at IS NOT DISTINCT FROM $3::timestamptz",
        replace: "AND $2::int > 0 AND coalesce($3::timestamptz, clock_timestamp()) IS NOT NULL",
      },
    ],
    noticedBy: money("low-balance", "is owed again where the balance has risen and fallen while the mail"),
  },
  {
    name: "a welcome credit has no reference",
    edits: [{ file: "src/billing/welcome-credit.ts", find: "    reference: `welcome:${accountId}`,\n", replace: "" }],
    noticedBy: money("welcome-credit", "is given once, for ever"),
  },
];
