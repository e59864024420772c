// The lines of an account's ledger, newest first, with the balance after each. A usage record is a line by itself: it is the
// posting `customer -> revenue` of its charge.
//
// Lines have the order of their commits: every statement that moves an account's balance locks the account first and reads the
// clock behind the lock. So a later commit is a newer line, no line ever comes in between, and since no commit leaves a
// balance below zero, no line shows one. Where a credit and a debit have the same time, the credit comes first.

import { type Page, type PageRequest, readPageBehind } from "../../kernel/paging.ts";
import type { Pool } from "pg";
import { NotFound } from "../../kernel/errors.ts";
import { type Look, readOneSnapshot } from "../../database/throttled-reader.ts";
import { BEFORE_ALL_LINES, type LinePlace, readLinePlace, tokenOf } from "./line-place.ts";
import { LATE_FROM, MOVED_FROM, NEWEST_LINES, OLDEST_LINES, POSTED, UNDER_WAY_FROM } from "./line-statements.ts";
import { chargedFrom } from "./summary.ts";
import { QUARTER_MS } from "./usage-filter.ts";
import { uuidv7Floor } from "../../kernel/ids.ts";

/** One line. Money is micro-rupiah. */
export type LedgerEntry = {
  readonly id: string;
  readonly place: LinePlace;
  readonly postedAt: Date;
  /** What came in, or below zero went out. */
  readonly amount: bigint;
  /** The balance after this line. */
  readonly runningBalance: bigint;
  /** Why, such as `usage`, `top_up` or `operator_credit`. */
  readonly reason: string;
  /** The request that a charge or a credit note belongs to. */
  readonly requestId: string | null;
  /** The top-up that was credited, given back or owed. */
  readonly topUpId: string | null;
};

type Row = {
  id: string;
  micros: bigint;
  is_debit: number;
  amount: string;
  reason: string;
  request_id: string | null;
  top_up_id: string | null;
};

/** Lists an account's ledger, newest first. Errors: NotFound; ValidationError when the page token is none. */
export function listLedgerEntries(
  pool: Pool,
  { accountId, ...page }: { accountId: string } & PageRequest,
): Promise<Page<LedgerEntry>> {
  const places = { placeOf: readLinePlace, tokenOf: ({ place }: LedgerEntry) => tokenOf(place) };
  return readPageBehind(page, places, (shown, limit) =>
    readOneSnapshot(pool, async (look) => {
      let balance = await balanceBefore(look, accountId, shown);
      const { text, values } = NEWEST_LINES(accountId, shown, limit);
      const lines = await look<Row>(text, values);
      return lines.map((row) => {
        const entry = entryOf(row, balance);
        balance -= entry.amount;
        return entry;
      });
    }),
  );
}

/** The lines behind one, oldest first, each with the balance that follows from the one before. Undefined: from the first. */
export async function selectOldestLines(
  look: Look,
  accountId: string,
  last: LedgerEntry | undefined,
  limit: number,
): Promise<LedgerEntry[]> {
  let runningBalance = last?.runningBalance ?? 0n;
  const { text, values } = OLDEST_LINES(accountId, last?.place ?? BEFORE_ALL_LINES, limit);
  return (await look<Row>(text, values)).map((row) => {
    runningBalance += BigInt(row.amount);
    return entryOf(row, runningBalance);
  });
}

function entryOf(row: Row, runningBalance: bigint): LedgerEntry {
  const { id, micros, reason } = row;
  return {
    id,
    place: { micros, isDebit: row.is_debit === 1, id },
    postedAt: new Date(Number(micros / 1_000n)),
    amount: BigInt(row.amount),
    runningBalance,
    reason,
    requestId: row.request_id,
    topUpId: row.top_up_id,
  };
}

/** What the lines before a place come to; null: all of them. Errors: NotFound. */
export async function balanceBefore(look: Look, accountId: string, place: LinePlace | null): Promise<bigint> {
  const [account] = await look<{ posted: bigint }>(POSTED, [accountId]);
  if (account === undefined) throw new NotFound("There is no such account.");
  if (place === null) return account.posted;
  // Requests that came after the place's millisecond were settled after it; of those before, the few that were under way.
  const nextMs = Number(place.micros / 1_000n) + 1;
  const fromId = uuidv7Floor(nextMs);
  const charged = await chargedFrom(look, accountId, { fromId, fromQuarter: Math.ceil(nextMs / QUARTER_MS) });
  let moved = -charged;
  for (const statement of [MOVED_FROM, UNDER_WAY_FROM, LATE_FROM]) {
    const { text, values } = statement(accountId, place, fromId);
    const [row] = await look<{ moved: string }>(text, values);
    moved += BigInt(row?.moved ?? 0);
  }
  return account.posted - moved;
}
