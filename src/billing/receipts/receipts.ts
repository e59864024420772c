// What other modules do with receipts: list them, show one, make its file, and name the buyer of those to come.

import type { Pool } from "pg";
import { type RecordChange, takeTurnAtSettings, UNRECORDED } from "../../database/record-change.ts";
import { withTransaction } from "../../database/transactions.ts";
import { changedFacts, type Facts } from "../../kernel/changed-facts.ts";
import { NotFound } from "../../kernel/errors.ts";
import { type Page, type PageRequest, readPage } from "../../kernel/paging.ts";
import type { Language } from "../../kernel/preferred-language.ts";
import type { Document } from "../documents/document.ts";
import { NOBODY, type Party, readParty } from "./party.ts";
import { numberText, type Receipt } from "./receipt.ts";
import { receiptDocument } from "./receipt-document.ts";
import { saveBuyer, selectBuyer, selectReceipt, selectReceiptsOfAccount, selectReceiptsOfTopUps } from "./store.ts";

/** An account's receipts and credit notes, newest first. Errors: ValidationError when the page token is none. */
export function listReceipts(
  pool: Pool,
  { accountId, ...page }: { accountId: string } & PageRequest,
): Promise<Page<Receipt>> {
  return readPage(
    page,
    (range) => selectReceiptsOfAccount(pool, { accountId, ...range }),
    ({ receiptId }) => receiptId,
  );
}

/** A receipt. `accountId` null: of any account, for operators. Errors: NotFound, also for another account's. */
export async function getReceipt(
  pool: Pool,
  { accountId, receiptId }: { accountId: string | null; receiptId: string },
): Promise<Receipt> {
  const receipt = await selectReceipt(pool, receiptId);
  if (receipt === null || (accountId !== null && receipt.accountId !== accountId))
    throw new NotFound("There is no such receipt.");
  return receipt;
}

/** A receipt as a document, and the name of its file without its ending. Errors: as getReceipt. */
export async function readReceiptDocument(
  pool: Pool,
  asked: { accountId: string | null; receiptId: string; language: Language },
): Promise<{ receipt: Receipt; document: Document; name: string }> {
  const receipt = await getReceipt(pool, asked);
  const corrected = receipt.kind === "receipt" ? [] : await selectReceiptsOfTopUps(pool, [receipt.topUpId]);
  const first = corrected.find(({ kind }) => kind === "receipt");
  const corrects = first === undefined ? "" : numberText(first);
  return { receipt, document: receiptDocument(receipt, asked.language, corrects), name: numberText(receipt) };
}

/** The buyer on an account's next receipts. Its fields are empty until the account sets one. */
export async function readBuyer(pool: Pool, accountId: string): Promise<Party> {
  return (await selectBuyer(pool, accountId)) ?? NOBODY;
}

/**
 * Sets it; empty fields remove it. A receipt that is written already stays. `record` writes a line of it in the same transaction. Errors:
 * ValidationError.
 */
export function setBuyer(
  pool: Pool,
  accountId: string,
  typed: Party,
  record: RecordChange = UNRECORDED,
): Promise<Party> {
  const buyer = readParty(typed, "buyer");
  return withTransaction({ pool }, async (client) => {
    await takeTurnAtSettings(client, accountId);
    const before = (await selectBuyer(client, accountId)) ?? NOBODY;
    await saveBuyer(client, accountId, buyer);
    await record(client, { subject: null, facts: changedFacts(factsOf(before), factsOf(buyer)) });
    return buyer;
  });
}

function factsOf({ name, address, npwp }: Party): Facts {
  return { buyerName: name || undefined, buyerAddress: address || undefined, buyerNpwp: npwp || undefined };
}
