// The lines of an account's ledger, newest first, with the balance after each. A usage record is a line by itself: it is the
// posting `customer -> revenue` of its charge.
//
// Lines are ordered by their ids, which begin with their time. A request's line stands where the request came, so one that is
// settled late slides in between older lines. Each page is therefore reckoned anew, from the balance of its own moment back
// to its first line: within a page, and against the balance shown then, every sum is exact.

import type { Pool } from "pg";
import { BEFORE_ALL_IDS, timeOfUuidv7 } from "../kernel/ids.ts";
import { NotFound } from "../kernel/errors.ts";
import { type Look, readOneSnapshot } from "../ledger/gentle-look.ts";
import { chargedFrom } from "./summary.ts";
import { readPageToken } from "./usage.ts";
import { QUARTER_MS } from "./usage-filter.ts";

/** One line. Money is micro-rupiah. */
export type LedgerEntry = {
  readonly id: string;
  readonly postedAt: Date;
  /** What came in, or below zero went out. */
  readonly amount: bigint;
  /** The balance after this line. */
  readonly runningBalance: bigint;
  /** Why, such as `usage`, `top_up` or `operator_credit`. */
  readonly reason: string;
};

export type LedgerPage = { readonly entries: readonly LedgerEntry[]; readonly nextPageToken: string };

const BEHIND_ALL_IDS = "ffffffff-ffff-ffff-ffff-ffffffffffff";

// $1 account, $2 from this id on, $3 how many. Each of the three is read by its key, in order, no further than needed.
const linesInOrder = (beyond: "<" | ">", order: "DESC" | "ASC"): string => `
SELECT id, posted_at, amount::text AS amount, reason FROM (
  (SELECT id, posted_at, amount, reason FROM posting
   WHERE credit = $1::uuid AND id ${beyond} $2::uuid ORDER BY id ${order} LIMIT $3)
  UNION ALL
  (SELECT id, posted_at, -amount, reason FROM posting
   WHERE debit = $1::uuid AND id ${beyond} $2::uuid ORDER BY id ${order} LIMIT $3)
  UNION ALL
  (SELECT request_id, uuid_time(request_id), -charge::numeric, 'usage' FROM usage_record
   WHERE account_id = $1::uuid AND request_id ${beyond} $2::uuid AND charge > 0 ORDER BY request_id ${order} LIMIT $3)
) line ORDER BY id ${order} LIMIT $3`;

const NEWEST_LINES = linesInOrder("<", "DESC");
const OLDEST_LINES = linesInOrder(">", "ASC");

const POSTED = `SELECT posted FROM account WHERE id = $1::uuid`;
const MOVED_FROM = `
SELECT (SELECT coalesce(sum(amount), 0) FROM posting WHERE credit = $1::uuid AND id >= $2::uuid)
     - (SELECT coalesce(sum(amount), 0) FROM posting WHERE debit = $1::uuid AND id >= $2::uuid) AS moved`;

type Row = { id: string; posted_at: Date; amount: string; reason: string };

/** Lists an account's ledger, newest first. Errors: NotFound; ValidationError when the page token is none. */
export function listLedgerEntries(
  pool: Pool,
  query: { accountId: string; pageSize: number; pageToken: string },
): Promise<LedgerPage> {
  const { accountId, pageSize, pageToken } = query;
  const shown = readPageToken(pageToken);
  return readOneSnapshot(pool, async (look) => {
    let balance = await balanceBefore(look, accountId, shown);
    const lines = await look<Row>(NEWEST_LINES, [accountId, shown ?? BEHIND_ALL_IDS, pageSize + 1]);
    const entries = lines.slice(0, pageSize).map(({ id, posted_at: postedAt, amount, reason }) => {
      const entry = { id, postedAt, amount: BigInt(amount), runningBalance: balance, reason };
      balance -= entry.amount;
      return entry;
    });
    return { entries, nextPageToken: lines.length > pageSize ? (entries.at(-1)?.id ?? "") : "" };
  });
}

/** The lines behind one, oldest first, each with the balance that follows from the one before. Undefined: from the first. */
export async function selectOldestLines(
  look: Look,
  accountId: string,
  last: LedgerEntry | undefined,
  limit: number,
): Promise<LedgerEntry[]> {
  let runningBalance = last?.runningBalance ?? 0n;
  const lines = await look<Row>(OLDEST_LINES, [accountId, last?.id ?? BEFORE_ALL_IDS, limit]);
  return lines.map(({ id, posted_at: postedAt, amount, reason }) => {
    runningBalance += BigInt(amount);
    return { id, postedAt, amount: BigInt(amount), runningBalance, reason };
  });
}

/** What the lines before an id come to; null: all of them. */
async function balanceBefore(look: Look, accountId: string, id: string | null): Promise<bigint> {
  const [account] = await look<{ posted: bigint }>(POSTED, [accountId]);
  if (account === undefined) throw new NotFound("There is no such account.");
  if (id === null) return account.posted;
  const [postings] = await look<{ moved: string }>(MOVED_FROM, [accountId, id]);
  // The quarter the id lies in is not whole from there on.
  const nextQuarter = Math.floor(timeOfUuidv7(id) / QUARTER_MS) + 1;
  const charged = await chargedFrom(look, accountId, { fromId: id, fromQuarter: nextQuarter });
  return account.posted - BigInt(postings?.moved ?? 0) + charged;
}
