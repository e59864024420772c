// The audit of merchants' fees: each is computed again from the row of the fee schedule that its transfer names, and that row was the right
// one when the transfer was ordered.

import type { Violation } from "../../ledger/audit/findings.ts";
import type { Asset } from "../../kernel/money.ts";
import { computeFee } from "../merchants/fee-schedule.ts";
import { readTerms, type StoredTerms } from "../merchants/fee-store.ts";
import type { PageCheck } from "./audit-pages.ts";

const CHECK = "the fee of a transfer is that of its row of the fee schedule";

// A transfer is priced by its own transaction or shortly before it, and a new row may be of a transaction that overlaps.
const PRICED = "interval '10 minutes'";
const specificity = (row: string): string =>
  `((${row}.merchant_id IS NOT NULL)::int * 2 + (${row}.currency_code IS NOT NULL)::int)`;
const fits = (row: string): string =>
  `(coalesce(${row}.merchant_id, t.merchant_id) = t.merchant_id AND coalesce(${row}.currency_code, t.currency_code) = t.currency_code)`;
const feesOf = (which: string): string => `
SELECT t.id, t.environment, t.asset, t.received::text, t.fee::text, f.flat, f.rate, f.min, f.max,
       ${fits("f")} AND f.created_at <= t.created_at + ${PRICED} AND NOT EXISTS (
         SELECT FROM fee_schedule s
         WHERE ${fits("s")} AND s.created_at < t.created_at - ${PRICED}
           AND (${specificity("s")}, s.version) > (${specificity("f")}, f.version)) AS "isOfTime"
FROM (${which}) page
JOIN transfer t ON t.id = page.id
JOIN fee_schedule f ON f.id = t.fee_id`;

type PricedTransfer = StoredTerms & {
  readonly id: string;
  readonly environment: "sandbox" | "production";
  readonly asset: Asset;
  readonly received: string;
  readonly fee: string;
  readonly isOfTime: boolean;
};

/** The check of a page of transfers. */
export function wrongFees(which: string): PageCheck {
  const statement = feesOf(which);
  return async (look, page) => {
    const transfers = await look<PricedTransfer>(statement, page);
    return transfers.flatMap((transfer): Violation[] => {
      const detail = differenceOf(transfer);
      return detail === null ? [] : [{ check: CHECK, subject: transfer.id, detail }];
    });
  };
}

/** Null: there is none. In production the network's least fee of that time may be above the row's, and no table has it. */
function differenceOf({ environment, asset, received, fee, isOfTime, ...terms }: PricedTransfer): string | null {
  if (!isOfTime) return "its row was not the one that applied";
  const due = computeFee(readTerms(terms), { units: BigInt(received), asset }).units;
  const taken = BigInt(fee);
  if (taken === due || (environment === "production" && taken > due)) return null;
  return `fee ${taken}, by its row ${due}`;
}
