// The audit of customers' accounts: their balances against what was posted, and every usage record by itself.
//
// An account's history is *folded*: usage records and postings behind a safe horizon are summed page by page, in statements of
// their own, into a checkpoint at which later runs begin. Only newer rows are summed together with the account's row, in one
// statement and so one snapshot. That comparison is exact on a running system, and short for an account with millions of records.
// A full run begins at the first row and trusts no checkpoint.
//
// An incremental run looks at accounts that have changed since the last one (`changed-accounts.ts`), and at those that the last ones left
// open: rows above the horizon are still to be folded, or something is wrong. All others have nothing that a run has not summed.
//
// Why a folded range stays complete: ids begin with the time of their making, but rows appear with their commit, which may be
// late. A usage record appears when its hold is deleted, so no record of an admitted request can appear behind the oldest open
// hold of the same snapshot. A request with an id and no hold is receiving its body (at most five minutes) or waiting for a lane
// (seconds). The horizon is ten minutes back, which also allows for nodes whose clocks differ. If a row appears even later the
// sums differ; then the account is read from its beginning, and no violation is reported before one statement has summed all of
// it.

import { BEFORE_ALL_IDS } from "../../kernel/ids.ts";
import { ARCHIVED_SUMS, archivedCharge, FIRST_ID_AT_HAND } from "../archived-usage.ts";
import { type AuditFindings, type Violation, VIOLATIONS_TO_READ } from "./findings.ts";
import type { Look } from "../../database/throttled-reader.ts";
import { changedAccounts, numberOf, type Trace } from "../changed-accounts.ts";
import { systemAccounts } from "../system-accounts.ts";

const ACCOUNTS_PER_CHUNK = 200;
/** The most usage records of one account that one statement folds. */
const RECORDS_PER_PAGE = 2_000;

/** The sums of an account's history, up to where it is folded. */
type Checkpoint = {
  readonly accountId: string;
  readonly posted: bigint;
  /** Usage records up to this id are folded. */
  readonly usageThrough: string;
  /** Usage records up to this id have been checked once. The fold checks each a second time, so also the late ones. */
  readonly lookedThrough: string;
  /** Postings before this id are folded. */
  readonly postingsBefore: string;
  /** Whether the next run looks at the account though it has not changed. */
  readonly isOpen: boolean;
};
/** Usage records of an account with ids above `after` and up to `through`. */
type Range = { readonly accountId: string; readonly after: string; readonly through: string };

const HORIZON = `SELECT uuid_floor(clock_timestamp() - interval '10 minutes') AS horizon`;

const CHECKPOINT =
  "a.id, c.posted, c.usage_through, c.looked_through, c.postings_before, c.open_since IS NOT NULL AS is_open";
const NEXT_ACCOUNTS = `
SELECT ${CHECKPOINT} FROM account a LEFT JOIN audit_checkpoint c ON c.account_id = a.id
WHERE a.id > $1::uuid ORDER BY a.id LIMIT ${ACCOUNTS_PER_CHUNK}`;
const THESE_ACCOUNTS = `
SELECT ${CHECKPOINT} FROM unnest($1::uuid[]) AS these(id) JOIN account a ON a.id = these.id
LEFT JOIN audit_checkpoint c ON c.account_id = a.id ORDER BY a.id`;
// $1: postings from this id on were looked at by no run.
const OPEN_ACCOUNTS = `
SELECT account_id AS id FROM audit_checkpoint WHERE open_since IS NOT NULL
UNION SELECT account_id FROM hold
UNION SELECT account_id FROM posting WHERE id >= $1::uuid`;

const postingsOf = (range: string): string => `
  (SELECT coalesce(sum(CASE r.account_id WHEN credit THEN amount WHEN debit THEN -amount END), 0) FROM posting
   WHERE account_id = r.account_id AND ${range})`;

// $1 accounts, $2 folded usage, $3 folded postings, $4 horizon. One snapshot: it contains a request's hold or its record. A month in the
// archive is folded as a whole, before all records.
const FOLD = `
SELECT r.account_id AS id, page.records, page.last, page.charge,
       ${postingsOf("id >= r.postings_before AND id < $4::uuid")} AS moved,
       EXISTS (SELECT FROM posting WHERE account_id = r.account_id AND id >= $4::uuid) AS is_posting
FROM unnest($1::uuid[], $2::uuid[], $3::uuid[]) AS r(account_id, usage_through, postings_before)
CROSS JOIN LATERAL (
  SELECT count(*)::int AS records, coalesce(sum(charge), 0) AS charge, max(request_id::text COLLATE "C")::uuid AS last
  FROM (
    SELECT request_id, charge FROM usage_record
    WHERE account_id = r.account_id AND request_id > r.usage_through AND request_id >= ${FIRST_ID_AT_HAND}
      AND request_id < least($4::uuid, (SELECT id FROM hold WHERE account_id = r.account_id ORDER BY id LIMIT 1))
    ORDER BY request_id LIMIT ${RECORDS_PER_PAGE}
  ) records
) live
CROSS JOIN LATERAL (
  SELECT coalesce(sum(charge), 0) AS charge, max(last_id::text COLLATE "C") AS last
  FROM ${ARCHIVED_SUMS} a WHERE account_id = r.account_id AND first_id > r.usage_through
) archived
CROSS JOIN LATERAL (
  SELECT live.records, live.charge + archived.charge AS charge, greatest(live.last::text COLLATE "C", archived.last)::uuid AS last
) page`;

// $1 accounts, $2 after: the next page of records, folded or not.
const PAGE = `
SELECT r.account_id AS id, page.records, page.last
FROM unnest($1::uuid[], $2::uuid[]) AS r(account_id, after)
CROSS JOIN LATERAL (
  SELECT count(*)::int AS records, max(request_id::text COLLATE "C")::uuid AS last
  FROM (
    SELECT request_id FROM usage_record WHERE account_id = r.account_id AND request_id > r.after
    ORDER BY request_id LIMIT ${RECORDS_PER_PAGE}
  ) records
) page`;

// $1 accounts, $2 folded usage, $3 folded postings, $4 their sums.
const BALANCES = `
SELECT a.id AS subject, format('posted %s, postings %s; held %s, holds %s; open %s, counted %s', a.posted, e.total, a.held, h.total, h.open, a.open_holds) AS detail
FROM unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::numeric[]) AS r(account_id, usage_through, postings_before, posted)
JOIN account a ON a.id = r.account_id
CROSS JOIN LATERAL (
  SELECT r.posted + ${postingsOf("id >= r.postings_before")}
       - (SELECT coalesce(sum(charge), 0) FROM usage_record
          WHERE account_id = r.account_id AND request_id > r.usage_through AND request_id >= ${FIRST_ID_AT_HAND})
       - ${archivedCharge("r.account_id", "r.usage_through")} AS total
) e
CROSS JOIN LATERAL (SELECT coalesce(sum(amount), 0) AS total, count(*) AS open FROM hold WHERE account_id = r.account_id) h
WHERE a.id = ANY ($1::uuid[]) AND (a.posted <> e.total OR a.held <> h.total OR a.open_holds <> h.open OR a.posted < a.held OR a.held < 0)`;
const BALANCE_CHECK = "posted = sum of postings, held = sum of open holds, available >= 0";

// $1 accounts, $2 after, $3 through. Every record is checked once; a detail is written only for a violation. Each check has its
// own limit: a violation in every record must not hide one in a single record.
const RECORDS = `
SELECT "check", subject, detail FROM (
SELECT v.name AS "check", u.request_id AS subject, v.detail, row_number() OVER (PARTITION BY v.name) AS number
FROM unnest($1::uuid[], $2::uuid[], $3::uuid[]) AS r(account_id, after, through)
CROSS JOIN LATERAL (
  SELECT u.request_id, u.cost, u.charge, u.unbilled_cost, u.billing_day, u.basis,
         least(u.input_tokens_uncached, u.input_tokens_cached, u.output_tokens, u.cost) AS smallest,
         u.basis IN ('exact', 'drained', 'estimated', 'recovered', 'free') AS is_known_basis,
         usage_cost(u.input_tokens_uncached, u.input_tokens_cached, u.output_tokens, u.other_tokens, u.input_price, u.output_price,
                    u.cache_hit_price, u.other_prices) AS recomputed,
         (uuid_time(u.request_id) AT TIME ZONE 'Asia/Jakarta')::date AS day,
         (SELECT coalesce(sum(amount), 0) FROM posting
          WHERE account_id = r.account_id AND id = u.request_id AND debit = '${systemAccounts.operatorLoss}'
            AND reason = 'uncollected') AS booked
  FROM usage_record u
  WHERE u.account_id = r.account_id AND u.request_id > r.after AND u.request_id <= r.through
  OFFSET 0
) u
CROSS JOIN LATERAL (VALUES
  ('a cost is recomputed from tokens and prices', u.cost <> u.recomputed, format('cost %s, recomputed %s', u.cost, u.recomputed)),
  ('what was cut off a charge is booked as our loss', u.cost - u.charge + u.unbilled_cost <> u.booked,
   format('cost %s, charge %s, unbilled %s, booked %s', u.cost, u.charge, u.unbilled_cost, u.booked)),
  ('a record has a known basis and no count below zero', u.smallest < 0 OR NOT u.is_known_basis,
   format('basis %s, smallest %s', u.basis, u.smallest)),
  ('the billing day is the day of the request', u.billing_day <> u.day, format('billed on %s', u.billing_day))
) v(name, is_broken, detail)
WHERE (u.cost <> u.recomputed OR u.cost - u.charge + u.unbilled_cost <> u.booked OR u.billing_day <> u.day OR u.smallest < 0 OR NOT u.is_known_basis)
  AND v.is_broken
) found WHERE number <= ${VIOLATIONS_TO_READ}`;

// $1 accounts. From the holds to their records, whatever the planner estimates of either. Behind a pooler an admission can run a
// second time after its settlement; the sweep releases such a hold within a minute and a half.
const RESOLVED_HOLDS = `
SELECT 'a hold is resolved once' AS check, h.id AS subject, 'an open hold has a usage record' AS detail
FROM hold h
WHERE h.account_id = ANY ($1::uuid[]) AND h.placed_at < clock_timestamp() - interval '3 minutes'
  AND (SELECT count(*) FROM usage_record u WHERE u.account_id = h.account_id AND u.request_id = h.id) > 0
LIMIT ${VIOLATIONS_TO_READ}`;

// An older run does not close what a newer one left open. $6 the accounts that are left open, $7 the number of this run.
const SAVE = `
INSERT INTO audit_checkpoint AS c (account_id, usage_through, postings_before, posted, looked_through, open_since)
SELECT f.*, CASE WHEN f.account_id = ANY ($6::uuid[]) THEN $7::bigint END
FROM unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::numeric[], $5::uuid[]) AS f(account_id, usage_through, postings_before, posted, looked_through)
ON CONFLICT (account_id) DO UPDATE
SET posted = excluded.posted, usage_through = excluded.usage_through, postings_before = excluded.postings_before,
    looked_through = excluded.looked_through, open_since = CASE
      WHEN excluded.open_since IS NOT NULL THEN greatest(c.open_since, excluded.open_since)
      WHEN c.open_since > $7::bigint THEN c.open_since END`;
// Accounts with a violation: their checkpoints stay as they are.
const LEAVE_OPEN = `
INSERT INTO audit_checkpoint AS c (account_id, usage_through, postings_before, posted, looked_through, open_since)
SELECT id, $2::uuid, $2::uuid, 0, $2::uuid, $3::bigint FROM unnest($1::uuid[]) AS a(id)
ON CONFLICT (account_id) DO UPDATE SET open_since = greatest(c.open_since, excluded.open_since)`;

type AccountRow = {
  id: string;
  posted: string | null;
  usage_through: string | null;
  looked_through: string | null;
  postings_before: string | null;
  is_open: boolean;
};
type PageRow = { id: string; records: number; last: string | null };
type FoldRow = PageRow & { charge: string; moved: string; is_posting: boolean };

/** The id below which no row can still appear, at this moment. */
export async function readHorizon(look: Look): Promise<string> {
  const [row] = await look<{ horizon: string }>(HORIZON);
  return row?.horizon ?? BEFORE_ALL_IDS;
}

type AccountsAudit = {
  readonly look: Look;
  readonly findings: AuditFindings;
  readonly full: boolean;
  readonly horizon: string;
  /** The moment at which this run began. */
  readonly trace: Trace;
};

/** Where the last run ended: its moment (null: any account may have changed since), and the first posting that it did not look at. */
type Since = { readonly trace: Trace | null; readonly postings: string };

/**
 * Audits accounts: all of them from their beginning (`full`), or from their checkpoints those that have changed, that have holds or new
 * postings, or that were left open.
 */
export async function auditAccounts(audit: AccountsAudit & { readonly since: Since }): Promise<void> {
  const { look, full, since } = audit;
  for await (const accounts of full ? allAccounts(look) : openAccounts(look, since))
    await auditChunk(
      audit,
      accounts.map((row) => (full ? beginningOf(row.id) : fromRow(row))),
    );
}

async function* allAccounts(look: Look): AsyncGenerator<AccountRow[], void> {
  for (let after: string | undefined = BEFORE_ALL_IDS; after !== undefined;) {
    const accounts: AccountRow[] = await look(NEXT_ACCOUNTS, [after]);
    if (accounts.length > 0) yield accounts;
    after = accounts.at(-1)?.id;
  }
}

async function* openAccounts(look: Look, since: Since): AsyncGenerator<AccountRow[], void> {
  const changed = await changedAccounts(look, since.trace, { orHolding: true });
  if (changed === null) {
    yield* allAccounts(look);
    return;
  }
  const open = await look<{ id: string }>(OPEN_ACCOUNTS, [since.postings]);
  const ids = [...new Set([...changed, ...open.map(({ id }) => id)])].toSorted();
  for (let at = 0; at < ids.length; at += ACCOUNTS_PER_CHUNK)
    yield await look<AccountRow>(THESE_ACCOUNTS, [ids.slice(at, at + ACCOUNTS_PER_CHUNK)]);
}

async function auditChunk(audit: AccountsAudit, begun: readonly Checkpoint[]): Promise<void> {
  const { look, findings, full } = audit;
  const seenBefore = findings.seen;
  const folded = await fold(audit, begun);
  const suspects = new Set((await lookAtBalances(look, folded)).map(({ subject }) => subject));
  const certain = folded.filter(({ accountId }) => !suspects.has(accountId));
  if (suspects.size > 0) {
    const beginnings = [...suspects].map(beginningOf);
    // A row appeared late or was changed behind a checkpoint: read the accounts from their beginnings.
    if (!full) await auditChunk({ ...audit, full: true }, beginnings);
    // Report nothing before one statement has summed all rows of the account.
    else findings.add(await lookAtBalances(look, beginnings));
  }
  const looked = await lookAtRest(audit, full ? folded : certain);
  findings.add(await look<Violation>(RESOLVED_HOLDS, [looked.map(({ accountId }) => accountId)]));
  // A violation is found in every run until it is corrected, so none may be behind a checkpoint.
  if (findings.seen > seenBefore) {
    await look(LEAVE_OPEN, [begun.map(({ accountId }) => accountId), BEFORE_ALL_IDS, numberOf(audit.trace)]);
    return;
  }
  await save(
    audit,
    begun,
    looked.filter(({ accountId }) => !suspects.has(accountId)),
  );
}

async function lookAtBalances(look: Look, checkpoints: readonly Checkpoint[]): Promise<Violation[]> {
  const rows = await look<Omit<Violation, "check">>(BALANCES, columnsOfCheckpoints(checkpoints));
  return rows.map((row) => ({ check: BALANCE_CHECK, ...row }));
}

/** Stores the checkpoints that have moved, that were open or that are. */
async function save(
  { look, trace }: AccountsAudit,
  begun: readonly Checkpoint[],
  folded: readonly Checkpoint[],
): Promise<void> {
  const before = new Map(begun.map((checkpoint) => [checkpoint.accountId, checkpoint]));
  const moved = folded.filter(({ accountId, posted, lookedThrough, usageThrough, isOpen }) => {
    const then = before.get(accountId);
    const isThere =
      posted === then?.posted && usageThrough === then.usageThrough && lookedThrough === then.lookedThrough;
    return !isThere || isOpen || then.isOpen;
  });
  if (moved.length === 0) return;
  const open = moved.flatMap(({ accountId, isOpen }) => (isOpen ? [accountId] : []));
  const looked = moved.map(({ lookedThrough }) => lookedThrough);
  await look(SAVE, [...columnsOfCheckpoints(moved), looked, open, numberOf(trace)]);
}

/** Folds pages up to the horizon, and checks each record on the way. */
async function fold(audit: AccountsAudit, begun: readonly Checkpoint[]): Promise<Checkpoint[]> {
  const { look, horizon } = audit;
  const folded = new Map(begun.map((checkpoint) => [checkpoint.accountId, checkpoint]));
  for (let open = [...begun]; open.length > 0;) {
    const [accounts, usage, postings] = columnsOfCheckpoints(open);
    const pages = await look<FoldRow>(FOLD, [accounts, usage, postings, horizon]);
    const ranges: Range[] = [];
    open = [];
    for (const { id, records, last, charge, moved, is_posting: isPosting } of pages) {
      const before = folded.get(id);
      if (before === undefined) continue;
      const after = {
        ...before,
        posted: before.posted - BigInt(charge) + BigInt(moved),
        usageThrough: last ?? before.usageThrough,
        // The run before may have had a later horizon: a folded range stays folded.
        postingsBefore: later(horizon, before.postingsBefore),
        isOpen: isPosting,
      };
      folded.set(id, after);
      if (last !== null) ranges.push({ accountId: id, after: before.usageThrough, through: last });
      if (records === RECORDS_PER_PAGE) open.push(after);
    }
    await auditRecords(audit, ranges);
  }
  return [...folded.values()];
}

/** Checks the records since the last check, page by page. */
async function lookAtRest(audit: AccountsAudit, folded: readonly Checkpoint[]): Promise<Checkpoint[]> {
  const marks = new Map(folded.map((each) => [each.accountId, later(each.usageThrough, each.lookedThrough)]));
  for (let open = [...marks.keys()]; open.length > 0;) {
    const pages = await audit.look<PageRow>(PAGE, [open, open.map((id) => marks.get(id))]);
    const ranges = pages.flatMap(({ id, last }): Range[] =>
      last === null ? [] : [{ accountId: id, after: marks.get(id) ?? BEFORE_ALL_IDS, through: last }],
    );
    await auditRecords(audit, ranges);
    for (const { accountId, through } of ranges) marks.set(accountId, through);
    open = pages.filter(({ records }) => records === RECORDS_PER_PAGE).map(({ id }) => id);
  }
  return folded.map((each) => {
    const lookedThrough = marks.get(each.accountId) ?? each.lookedThrough;
    return { ...each, lookedThrough, isOpen: each.isOpen || lookedThrough > each.usageThrough };
  });
}

async function auditRecords({ look, findings }: AccountsAudit, ranges: readonly Range[]): Promise<void> {
  if (ranges.length === 0) return;
  findings.add(
    await look<Violation>(RECORDS, [
      ranges.map(({ accountId }) => accountId),
      ranges.map(({ after }) => after),
      ranges.map(({ through }) => through),
    ]),
  );
}

function later(a: string, b: string): string {
  return a > b ? a : b;
}

function beginningOf(accountId: string): Checkpoint {
  const none = BEFORE_ALL_IDS;
  return { accountId, posted: 0n, usageThrough: none, lookedThrough: none, postingsBefore: none, isOpen: true };
}

function fromRow({ id, posted, is_open: isOpen, ...row }: AccountRow): Checkpoint {
  if (posted === null) return beginningOf(id);
  const { usage_through: usageThrough, looked_through: lookedThrough, postings_before: postingsBefore } = row;
  return { accountId: id, posted: BigInt(posted), usageThrough, lookedThrough, postingsBefore, isOpen } as Checkpoint;
}

/** Accounts, folded usage, folded postings, posted. */
function columnsOfCheckpoints(checkpoints: readonly Checkpoint[]) {
  return [
    checkpoints.map(({ accountId }) => accountId),
    checkpoints.map(({ usageThrough }) => usageThrough),
    checkpoints.map(({ postingsBefore }) => postingsBefore),
    checkpoints.map(({ posted }) => posted.toString()),
  ] as const;
}
