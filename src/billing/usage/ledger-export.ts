// The ledger as a file, from the first line on. Balances are added up as the file is written: an account begins with nothing,
// so each is the sum of the lines before it, even when more is posted meanwhile.

import { formatMoney, idr } from "../../kernel/money.ts";
import type { ReadSource } from "../../database/lagging-reads.ts";
import { readOneSnapshot } from "../../database/throttled-reader.ts";
import { csvFile, RECORDS_PER_PIECE } from "./csv-file.ts";
import { type LedgerEntry, selectOldestLines } from "./ledger-entries.ts";
import { DEFAULT_TIME_ZONE, isoWriter, requireTimeZone } from "./time-zone.ts";

const COLUMNS = ["id", "posted_at", "reason", "amount_idr", "running_balance_idr", "request_id", "top_up_id"] as const;

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
    fieldsOf: ({ id, postedAt, reason, amount, runningBalance, requestId, topUpId }: LedgerEntry) => [
      id,
      iso(postedAt.getTime()),
      reason,
      formatMoney(idr(amount)),
      formatMoney(idr(runningBalance)),
      requestId ?? "",
      topUpId ?? "",
    ],
    readAfter: (last) => readOneSnapshot(source, (look) => selectOldestLines(look, accountId, last, RECORDS_PER_PIECE)),
    signal,
  });
}
