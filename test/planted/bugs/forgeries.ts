// Checks of the audit that compare the books with what other topics recorded.

import type { PlantedBug } from "../planted-bug.ts";

const forgeries = (test: string) => ({ file: "test/money/forgeries.test.ts", test });
const incremental = (test: string) => ({ file: "test/money/incremental-audit.test.ts", test });
const ACCOUNTS = "src/ledger/audit/accounts.ts";
const POSTINGS = "src/operator/audit-postings.ts";
const RECORDS = "src/billing/usage/audit-records.ts";
const GIFTS = "src/billing/audit-gifts.ts";

/** Each with the test that must notice it. */
export const FORGERY_BUGS: readonly PlantedBug[] = [
  {
    name: "the incremental audit passes over held money without a hold",
    edits: [{ file: ACCOUNTS, find: "{ orHolding: true }", replace: "{ orHolding: false }" }],
    noticedBy: incremental("finds a hold that is gone though its account was not written"),
  },
  {
    name: "the audit takes a line of operators for a posting of another amount",
    edits: [{ file: POSTINGS, find: "(o.facts ->> 'amount')::numeric * 1000000 = l.amount", replace: "true" }],
    noticedBy: forgeries("finds a posting that takes another amount"),
  },
  {
    name: "the audit takes a line of operators for a posting to another account",
    edits: [{ file: POSTINGS, find: "o.subject = l.subject AND", replace: "" }],
    noticedBy: forgeries("finds a posting that takes another amount"),
  },
  {
    name: "the audit looks for operators' postings by their reason alone",
    edits: [
      {
        file: POSTINGS,
        find: "('${systemAccounts.operatorAdjustments}' IN (p.debit, p.credit) OR p.reason = 'credit_note')",
        replace: "p.reason IN ('operator_credit', 'operator_adjustment', 'credit_note')",
      },
    ],
    noticedBy: forgeries("out of operators' adjustments that no operator ordered"),
  },
  {
    name: "the audit takes a welcome credit of any time",
    edits: [{ file: GIFTS, find: "next.set_at >= p.posted_at - interval '1 minute'", replace: "true" }],
    noticedBy: forgeries("finds a welcome credit that no setting gave"),
  },
  {
    name: "the audit takes a gift of any reason",
    edits: [{ file: GIFTS, find: "ELSE true END", replace: "ELSE false END" }],
    noticedBy: forgeries("finds a welcome credit that no setting gave"),
  },
  {
    name: "the audit takes a price of any time",
    edits: [{ file: RECORDS, find: "if (isDemo) return", replace: "if (isDemo || right.length > 0) return" }],
    noticedBy: forgeries("finds a price of another time"),
  },
  {
    name: "the audit does not compare prices of less common kinds",
    edits: [
      { file: RECORDS, find: "prices.cacheHit, otherPricesColumn(prices)].join", replace: "prices.cacheHit].join" },
    ],
    noticedBy: forgeries("finds a price of another time"),
  },
  {
    name: "the audit takes every correction that has the name of a cleared demo",
    edits: [
      {
        file: POSTINGS,
        find: "BETWEEN since - interval '1 hour' AND since + interval '1 minute'",
        replace: "IS NOT NULL",
      },
    ],
    noticedBy: forgeries("finds money taken as a demo's, where no demo was cleared"),
  },
  {
    name: "the audit takes every request that is named as a demo's",
    edits: [{ file: RECORDS, find: "settled_time(request_id, settled_at) <", replace: "request_time(request_id) <" }],
    noticedBy: forgeries("does not compare what a demo left"),
  },
  {
    name: "the audit takes any price in a demo",
    edits: [
      {
        file: RECORDS,
        find: "return right.length === 0 ? [] : [{ fromMs: 0, untilMs: Infinity }];",
        replace: "return [{ fromMs: 0, untilMs: Infinity }];",
      },
    ],
    noticedBy: forgeries("counts every price of a demo at any time"),
  },
  {
    name: "the incremental audit forgets an account whose rows are still to be folded",
    edits: [
      { file: ACCOUNTS, find: "isOpen: each.isOpen || lookedThrough > each.usageThrough", replace: "isOpen: false" },
    ],
    noticedBy: incremental("stores an account's sums up to ten minutes ago"),
  },
  {
    name: "the incremental audit forgets an account in which it found something",
    edits: [
      {
        file: ACCOUNTS,
        find: "await look(LEAVE_OPEN, [begun.map(({ accountId }) => accountId), BEFORE_ALL_IDS, numberOf(audit.trace)]);",
        replace: "",
      },
    ],
    noticedBy: incremental("behind a checkpoint: "),
  },
  {
    name: "the incremental audit looks at no account that has changed",
    edits: [{ file: "src/ledger/changed-accounts.ts", find: "<= now.number - $1::bigint OR $2", replace: "< 0 OR $2" }],
    noticedBy: incremental("sees money that moved behind a checkpoint"),
  },
  {
    name: "the audit takes the transactions of another server for its own",
    edits: [{ file: "src/ledger/changed-accounts.ts", find: "now?.system !== system || ", replace: "" }],
    noticedBy: incremental("looks at every account where the last run was on another server"),
  },
  {
    name: "the audit compares no fund with its postings",
    edits: [
      {
        file: "src/ledger/audit/audit.ts",
        find: "await auditFunds({ look, findings, full, horizon });",
        replace: "",
      },
    ],
    noticedBy: incremental("folds a merchant's fund, and finds one"),
  },
];
