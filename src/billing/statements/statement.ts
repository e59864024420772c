// The statement of a month: opening balance, what changed it, and closing balance. It is computed from the ledger in one snapshot. The
// balances come from the account's row and the lines behind them, the changes from the lines of the month: they have to meet.

import type { Pool } from "pg";
import { type Look, readOneSnapshot } from "../../database/throttled-reader.ts";
import { billingDay, startOfBillingDay, startOfBillingPeriod } from "../../kernel/clock.ts";
import { NotFound, ValidationError } from "../../kernel/errors.ts";
import { invariant } from "../../kernel/invariant.ts";
import { numberText, type Receipt } from "../receipts/receipt.ts";
import { selectReceiptsOfTopUps } from "../receipts/store.ts";
import { balanceBefore } from "../usage/ledger-entries.ts";
import { BEFORE_ALL_LINES, type LinePlace } from "../usage/line-place.ts";
import {
  type Change,
  type ModelUsage,
  readFirstChange,
  type ReasonSum,
  selectChanges,
  type Span,
  sumPostings,
  sumUsageByModel,
} from "./store.ts";

/** Changes that a statement lists one by one. The sums have all of them. */
const MOST_ENTRIES = 1_000;
/** What ends with a month is committed soon after it. */
const COMPLETE_AFTER_MS = 3_600_000;
const MONTH = /^\d{4}-(0[1-9]|1[0-2])$/;
const USAGE = "usage";

/** A month that has a statement. */
export type StatementMonth = { readonly month: string; readonly isComplete: boolean };

/** `receiptNumber`: of a refund its credit note, of others the receipt of their top-up. */
export type StatementEntry = Change & { readonly receiptNumber: string | null };

/** Money is micro-rupiah. opening + the sums = closing, and the usage = the sum of the reason `usage`. */
export type Statement = StatementMonth &
  Span & {
    readonly accountId: string;
    readonly opening: bigint;
    readonly closing: bigint;
    readonly sums: readonly ReasonSum[];
    readonly usage: readonly ModelUsage[];
    readonly entries: readonly StatementEntry[];
    readonly entriesLeftOut: number;
    /** When it was computed. */
    readonly madeAt: Date;
  };

/** The months of an account from its first change to now, newest first. */
export function listStatements(pool: Pool, accountId: string): Promise<StatementMonth[]> {
  return readOneSnapshot(pool, async (look) => {
    const { first, now } = await readFirstChange(look, accountId);
    if (first === null) return [];
    const months: StatementMonth[] = [];
    for (let fromMs = startOfBillingPeriod("month", now.getTime()); ;) {
      months.push(monthAt(fromMs, now));
      if (fromMs <= first.getTime()) return months;
      fromMs = startOfBillingPeriod("month", fromMs, -1);
    }
  });
}

/** The statement of a month. Errors: ValidationError when the month is none; NotFound where the account has no statement of it. */
export async function readStatement(
  pool: Pool,
  { accountId, month }: { accountId: string; month: string },
): Promise<Statement> {
  const span = spanOf(month);
  const read = await readOneSnapshot(pool, (look) => readIn(look, accountId, span));
  const topUpIds = read.entries.map(({ topUpId }) => topUpId).filter((id) => id !== null);
  // Receipts never change, and may come after the snapshot.
  const receipts = await selectReceiptsOfTopUps(pool, [...new Set(topUpIds)]);
  const byTopUp = Map.groupBy(receipts, ({ topUpId }) => topUpId);
  const entries = read.entries.map((entry) => {
    const own = entry.topUpId === null ? [] : (byTopUp.get(entry.topUpId) ?? []);
    const document = own.find((receipt) => isDocumentOf(receipt, entry));
    return { ...entry, receiptNumber: document === undefined ? null : numberText(document) };
  });
  return { ...read, entries };
}

/** Whether a document, of the documents of a top-up oldest first, is the one of a change. A credit note is for all refunds since the last. */
function isDocumentOf({ kind, givenBack }: Receipt, change: Change): boolean {
  if (change.givenBack === null) return kind === "receipt";
  return kind === "credit_note" && givenBack >= change.givenBack;
}

async function readIn(look: Look, accountId: string, span: Span) {
  const { first, now } = await readFirstChange(look, accountId);
  if (first === null || span.untilMs <= first.getTime() || span.fromMs > now.getTime())
    throw new NotFound("There is no statement of this month.");
  const opening = await balanceBefore(look, accountId, placeAt(span.fromMs));
  const closing = await balanceBefore(look, accountId, placeAt(span.untilMs));
  const usage = await sumUsageByModel(look, accountId, span);
  const sums = withUsage(await sumPostings(look, accountId, span), usage);
  const changed = sums.reduce((sum, { amount }) => sum + amount, 0n);
  invariant(opening + changed === closing, "a statement's changes come from its opening to its closing balance");
  const entries = await selectChanges(look, accountId, { ...span, limit: MOST_ENTRIES });
  const all = sums.filter(isListed).reduce((sum, { count }) => sum + count, 0n);
  const entriesLeftOut = Number(all) - entries.length;
  const month = monthAt(span.fromMs, now);
  return { ...month, ...span, accountId, opening, closing, sums, usage, entries, entriesLeftOut, madeAt: now };
}

/** Whether changes of a reason are listed one by one. */
function isListed({ reason }: ReasonSum): boolean {
  return reason !== USAGE && reason !== "late_usage" && reason !== "credit_note";
}

/** All sums by reason: what came in first, then what went out, usage last. */
function withUsage(postings: readonly ReasonSum[], usage: readonly ModelUsage[]): ReasonSum[] {
  const sorted = postings.toSorted((a, b) => (a.amount === b.amount ? 0 : a.amount > b.amount ? -1 : 1));
  if (usage.length === 0) return sorted;
  const count = usage.reduce((sum, { requests }) => sum + requests, 0n);
  const charge = usage.reduce((sum, each) => sum + each.charge, 0n);
  return [...sorted, { reason: USAGE, count, amount: -charge }];
}

function monthAt(fromMs: number, now: Date): StatementMonth {
  const isComplete = now.getTime() >= startOfBillingPeriod("month", fromMs, 1) + COMPLETE_AFTER_MS;
  return { month: billingDay(fromMs).slice(0, "2026-11".length), isComplete };
}

function spanOf(month: string): Span {
  if (!MONTH.test(month)) {
    const problem = { field: "month", rule: "statement.month", message: "must be a month such as 2026-11" };
    throw new ValidationError([problem]);
  }
  const fromMs = startOfBillingDay(`${month}-01`);
  return { fromMs, untilMs: startOfBillingPeriod("month", fromMs, 1) };
}

/** The place before all lines of a moment and behind. */
function placeAt(ms: number): LinePlace {
  return { ...BEFORE_ALL_LINES, micros: BigInt(ms) * 1_000n };
}
