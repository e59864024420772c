// The lines of an account's ledger, newest first, with the balance after each. A usage record is a line by itself: it is the
// posting `customer -> revenue` of its charge.
//
// Lines have the order of their commits: every statement that moves an account's balance locks the account first and reads the
// clock behind the lock. So a later commit is a newer line, no line ever comes in between, and since no commit leaves a
// balance below zero, no line shows one. Where a credit and a debit have the same time, the credit comes first.

import { type Page, type PageRequest, readPageBehind } from "../../kernel/paging.ts";
import type { Pool } from "pg";
import { LimitExceeded, NotFound } from "../../kernel/errors.ts";
import { type Look, readOneSnapshot } from "../../database/throttled-reader.ts";
import { BEFORE_ALL_LINES, type LinePlace, readLinePlace, tokenOf } from "./line-place.ts";
import { readArchivedPart } from "../../ledger/archived-usage.ts";
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

/**
 * Lists an account's ledger, newest first, down to the months whose requests are in the archive. Errors: NotFound; ValidationError when the
 * page token is none.
 */
export function listLedgerEntries(
  pool: Pool,
  { accountId, ...page }: { accountId: string } & PageRequest,
): Promise<Page<LedgerEntry>> {
  const places = { placeOf: readLinePlace, tokenOf: ({ place }: LedgerEntry) => tokenOf(place) };
  return readPageBehind(page, places, (shown, limit) =>
    readOneSnapshot(pool, async (look) => {
      const first = await firstPlaceAtHand(look, accountId);
      if (shown !== null && shown.micros < first.micros) return [];
      let balance = await balanceBefore(look, accountId, shown);
      const { text, values } = NEWEST_LINES(accountId, shown, limit);
      const lines = await look<Row>(text, values);
      return lines
        .filter(({ micros }) => micros >= first.micros)
        .map((row) => {
          const entry = entryOf(row, balance);
          balance -= entry.amount;
          return entry;
        });
    }),
  );
}

/**
 * The lines behind one, oldest first, each with the balance that follows from the one before. Undefined: from the first. Months whose requests
 * are in the archive are one line, with what they come to. Errors: LimitExceeded when requests behind the last line were archived since.
 */
export async function selectOldestLines(
  look: Look,
  accountId: string,
  last: LedgerEntry | undefined,
  limit: number,
): Promise<LedgerEntry[]> {
  const before = last === undefined ? await archivedLine(look, accountId) : null;
  if (last !== undefined && last.place.micros < (await firstPlaceAtHand(look, accountId)).micros)
    throw new LimitExceeded("A month of this file was archived while it was read. Begin the file again.");
  const behind = last ?? before;
  let runningBalance = behind?.runningBalance ?? 0n;
  const rest = before === null ? limit : limit - 1;
  const { text, values } = OLDEST_LINES(accountId, behind?.place ?? BEFORE_ALL_LINES, rest);
  const lines = (await look<Row>(text, values)).map((row) => {
    runningBalance += BigInt(row.amount);
    return entryOf(row, runningBalance);
  });
  return before === null ? lines : [before, ...lines];
}

/** The place before the first line whose requests are not in the archive. */
async function firstPlaceAtHand(look: Look, accountId: string): Promise<LinePlace> {
  const archived = await readArchivedPart(look, accountId);
  return archived === null ? BEFORE_ALL_LINES : { ...BEFORE_ALL_LINES, micros: BigInt(archived.beforeMs) * 1_000n };
}

/** What all lines come to that are behind the place of no request at hand. Null: no request of the account is in the archive. */
async function archivedLine(look: Look, accountId: string): Promise<LedgerEntry | null> {
  const place = await firstPlaceAtHand(look, accountId);
  if (place.micros === 0n) return null;
  const balance = await balanceBefore(look, accountId, place);
  const postedAt = new Date(Number(place.micros / 1_000n));
  const { id } = place;
  const reason = "archived_months";
  return { id, place, postedAt, amount: balance, runningBalance: balance, reason, requestId: null, topUpId: null };
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

/** Whether a place is before all lines of a whole millisecond, such as the beginning of a month. */
function isBeforeAllOfItsMoment({ micros, isDebit, id }: LinePlace): boolean {
  return micros % 1_000n === 0n && !isDebit && id === BEFORE_ALL_LINES.id;
}

/** What the lines before a place come to; null: all of them. Errors: NotFound. */
export async function balanceBefore(look: Look, accountId: string, place: LinePlace | null): Promise<bigint> {
  const [account] = await look<{ posted: bigint }>(POSTED, [accountId]);
  if (account === undefined) throw new NotFound("There is no such account.");
  if (place === null) return account.posted;
  // Requests that came after the place's millisecond were settled after it; of those before, the few that were under way.
  const nextMs = Number(place.micros / 1_000n) + (isBeforeAllOfItsMoment(place) ? 0 : 1);
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
