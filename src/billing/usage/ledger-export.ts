// The ledger as a file, from the first line on. Balances are added up as the file is written: an account begins with nothing,
// so each is the sum of the lines before it, even when more is posted meanwhile.

import { formatMoney, idr } from "../../kernel/money.ts";
import type { ReadSource } from "../../database/lagging-reads.ts";
import { type Look, readOneSnapshot } from "../../database/throttled-reader.ts";
import { csvFile, RECORDS_PER_PIECE } from "./csv-file.ts";
import { type LedgerEntry, selectOldestLines } from "./ledger-entries.ts";
import { AUTOMATIC } from "./line-statements.ts";
import { DEFAULT_TIME_ZONE, isoWriter, requireTimeZone } from "./time-zone.ts";

const COLUMNS = [
  "id",
  "posted_at",
  "reason",
  "amount_idr",
  "running_balance_idr",
  "request_id",
  "top_up_id",
  "automatic",
] as const;

/**
 * Returns an account's ledger as the pieces of one CSV file, oldest line first. Every line that was committed before the
 * first piece was asked for is in it once; one that is committed meanwhile may be, behind all of those. Errors: ValidationError, before the first piece.
 */
export function exportLedger(
  source: ReadSource,
  query: { accountId: string; timeZone?: string; signal?: AbortSignal },
): AsyncGenerator<string, void> {
  const { accountId, timeZone = DEFAULT_TIME_ZONE, signal } = query;
  requireTimeZone(timeZone);
  const iso = isoWriter(timeZone);
  return csvFile({
    columns: COLUMNS,
    fieldsOf: ({ id, postedAt, reason, amount, runningBalance, requestId, topUpId, isAutomatic }: FileLine) => [
      id,
      iso(postedAt.getTime()),
      reason,
      formatMoney(idr(amount)),
      formatMoney(idr(runningBalance)),
      requestId ?? "",
      topUpId ?? "",
      topUpId === null ? "" : String(isAutomatic),
    ],
    readAfter: (last) => readOneSnapshot(source, (look) => readLines(look, accountId, last)),
    signal,
  });
}

/** A line, and whether its top-up charged a saved method by itself. */
type FileLine = LedgerEntry & { readonly isAutomatic: boolean };

async function readLines(look: Look, accountId: string, last: FileLine | undefined): Promise<FileLine[]> {
  const lines = await selectOldestLines(look, accountId, last, RECORDS_PER_PIECE);
  const topUpIds = new Set(lines.flatMap(({ topUpId }) => topUpId ?? []));
  const rows = topUpIds.size === 0 ? [] : await look<{ id: string }>(AUTOMATIC, [[...topUpIds]]);
  const automatic = new Set(rows.map(({ id }) => id));
  return lines.map((line) => ({ ...line, isAutomatic: line.topUpId !== null && automatic.has(line.topUpId) }));
}
