import { issueReceipts, type ReceiptWork } from "../receipts/issue-receipts.ts";
import type { Tick } from "../../workers/tick.ts";

/** A payer looks for the receipt soon after the payment. */
const ISSUE_MS = 2_000;

/** Writes the receipts of top-ups that were paid, and the credit notes for what was given back. */
export function receiptTick(work: ReceiptWork): Tick {
  return { name: "issue receipts", everyMs: ISSUE_MS, run: (signal) => issueReceipts(work, signal) };
}
