// Writes the receipts of paid top-ups, and the credit notes for what was given back. Money is never moved here: the credit is committed
// before, and a receipt that is not written yet is written by a later round. So no payment waits for the lock of a series.
//
// Numbers have no gaps: a number is taken from the row of its series in the transaction that writes the receipt, and both are undone
// together. No top-up has two receipts: the top-up is locked first, and read behind the lock.

import type { PoolClient } from "pg";
import { readOtherCell } from "../../database/cell-claim.ts";
import type { Database } from "../../database/database.ts";
import { waitForLocks, withRetry, withTransaction } from "../../database/transactions.ts";
import { failpoint } from "../../kernel/failpoint.ts";
import { BEFORE_ALL_IDS, uuidv7 } from "../../kernel/ids.ts";
import { readBillingSettings } from "../settings.ts";
import { NOBODY, type Party, printedParty } from "./party.ts";
import { type Receipt, type ReceiptKind, seriesOf } from "./receipt.ts";
import {
  insertReceipt,
  lockUnreceipted,
  markReceipted,
  readNoted,
  readNow,
  readParties,
  selectBuyer,
  selectUnreceipted,
  takeNumber,
  type Unreceipted,
} from "./store.ts";

const TOP_UPS_PER_PAGE = 100;
/** A bound on one round: the next one goes on. */
const MOST_PAGES = 50;
/** The hours that Asia/Jakarta is ahead of UTC. It has no summer time. */
const JAKARTA_MS = 7 * 60 * 60_000;

type Client = Parameters<typeof readBillingSettings>[0];

export type ReceiptWork = {
  readonly database: Database;
  /** The seller where operators have set none. Null: no receipt is written before they do. */
  readonly sellerByDefault: Party | null;
  /** The buyer where an account has set none. */
  readonly ownerOf: (accountId: string) => Promise<Party>;
};

/** The seller as operators have set it, or the default; empty where there is neither. And the buyer of an account. */
export async function partiesOf(work: ReceiptWork, accountId: string): Promise<{ seller: Party; buyer: Party }> {
  const { pool } = work.database;
  return { seller: (await sellerOf(work, pool)) ?? NOBODY, buyer: await buyerOf(work, pool, accountId) };
}

/** Whether no receipt is written, because operators have set no seller. */
export async function isSellerMissing(client: Client, sellerByDefault: Party | null): Promise<boolean> {
  return (await sellerOf({ sellerByDefault }, client)) === null;
}

/** Writes every receipt and credit note that is owed. Returns how many. */
export async function issueReceipts(work: ReceiptWork, signal?: AbortSignal): Promise<number> {
  const { pool } = work.database;
  let issued = 0;
  let after = BEFORE_ALL_IDS;
  for (let page = 0; page < MOST_PAGES; page += 1) {
    const topUpIds = await selectUnreceipted(pool, after, TOP_UPS_PER_PAGE);
    if (page === 0 && topUpIds.length > 0 && (await sellerOf(work, pool)) === null) return 0;
    for (const topUpId of topUpIds) {
      if (signal?.aborted === true) return issued;
      issued += await issueFor(work, topUpId);
    }
    const last = topUpIds.at(-1);
    if (last === undefined || topUpIds.length < TOP_UPS_PER_PAGE) return issued;
    after = last;
  }
  return issued;
}

/** Writes what one top-up lacks. Returns how many documents. */
async function issueFor(work: ReceiptWork, topUpId: string): Promise<number> {
  let issued = 0;
  // A top-up may lack its receipt and a credit note: each is a transaction of its own.
  while (await withRetry(() => withTransaction(work.database, (client) => issueNext(work, client, topUpId)))) {
    issued += 1;
    failpoint?.("after-receipt-commit");
  }
  return issued;
}

/** Writes the next document of a top-up. False: it lacks none. */
async function issueNext(work: ReceiptWork, client: PoolClient, topUpId: string): Promise<boolean> {
  await waitForLocks(client);
  const topUp = await lockUnreceipted(client, topUpId);
  const parties = topUp === null ? null : await partiesNow(work, client, topUp);
  if (topUp === null || parties === null) return false;
  const document = topUp.isReceipted ? await creditNoteOf(client, topUp) : receiptOf(topUp);
  const { accountId, provider, taxRate, isTaxIncluded } = topUp;
  const series = seriesOf({ kind: document.kind, provider }, await readOtherCell(client)); // planted: series-of-cell
  const year = yearInJakarta(document.datedAt);
  const number = await takeNumber(client, { series, year });
  failpoint?.("before-receipt-commit");
  const numbered = { receiptId: uuidv7(), series, year, number, ...document };
  const frozen = { accountId, topUpId, provider, taxRate, isTaxIncluded, ...parties };
  await insertReceipt(client, { ...numbered, ...frozen });
  await markReceipted(client, topUpId, document.givenBack);
  return true;
}

/** Who a document is from and for. A credit note corrects a receipt, so it names those of the receipt. Null: no seller was set. */
async function partiesNow(
  work: ReceiptWork,
  client: PoolClient,
  { topUpId, accountId, isReceipted }: Unreceipted,
): Promise<{ seller: Party; buyer: Party } | null> {
  const corrected = isReceipted ? await readParties(client, topUpId) : null;
  if (corrected !== null) return corrected;
  const seller = await sellerOf(work, client);
  if (seller === null) return null;
  return { seller, buyer: await buyerOf(work, client, accountId) };
}

/** The buyer of an account as it is printed: a name that cannot be printed is marked, and does not stop the receipt. */
async function buyerOf({ ownerOf }: Pick<ReceiptWork, "ownerOf">, client: Client, accountId: string): Promise<Party> {
  const [set, owner] = [await selectBuyer(client, accountId), await ownerOf(accountId)];
  return printedParty(set ?? owner, set === null ? "" : owner.name);
}

type Document = Pick<Receipt, "net" | "tax" | "givenBack" | "datedAt"> & { readonly kind: ReceiptKind };

function receiptOf({ amount, tax, paidAt }: Unreceipted): Document {
  return { kind: "receipt", net: amount, tax, givenBack: 0n, datedAt: paidAt };
}

/** The credit note for what was given back since the last one. */
async function creditNoteOf(client: PoolClient, topUp: Unreceipted): Promise<Document> {
  const noted = await readNoted(client, topUp.topUpId);
  const net = topUp.givenBack - noted.net;
  const tax = topUp.taxGivenBack - noted.tax;
  const givenBack = topUp.givenBack + topUp.taxGivenBack;
  return { kind: "credit_note", net, tax, givenBack, datedAt: await readNow(client) };
}

async function sellerOf(
  { sellerByDefault }: Pick<ReceiptWork, "sellerByDefault">,
  client: Client,
): Promise<Party | null> {
  const { seller } = await readBillingSettings(client);
  return seller.name === NOBODY.name ? sellerByDefault : printedParty(seller);
}

/** The year of a moment in Asia/Jakarta. */
function yearInJakarta(moment: Date): number {
  return new Date(moment.getTime() + JAKARTA_MS).getUTCFullYear();
}
