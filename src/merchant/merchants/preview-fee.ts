// The price of a transfer now and on other terms, for an operator who considers a new fee. Nothing is stored.

import type { Database } from "../../database/database.ts";
import type { FeeRow } from "./fee-schedule.ts";
import { parseAmount } from "../transfers/amount.ts";
import { findCoin } from "../chains/currencies.ts";
import { priceTransfer, type Quote } from "../transfers/quote.ts";
import { type FeeChange, findFeeRow, parseTerms } from "./set-fee.ts";
import { requireMerchant } from "./store.ts";

/** No merchant has this id: the general rows apply. */
const NO_MERCHANT = "00000000-0000-0000-0000-000000000000";

export type FeeQuestion = {
  /** Null: a merchant without rows of its own. */
  readonly merchantId: string | null;
  readonly currencyCode: string;
  readonly network: string;
  /** Decimal digits in whole coins. */
  readonly amountText: string;
  /** Terms to try; null: only the valid ones. */
  readonly terms: Pick<FeeChange, "flat" | "rate" | "min" | "max"> | null;
};

/** The quote by the row in force, and by the terms to try. */
export type FeePreview = { readonly row: FeeRow; readonly current: Quote; readonly proposed: Quote | null };

/** Prices a transfer in both ways. Errors: ValidationError, AmountPrecision, CurrencyUnsupported, LimitExceeded, NotFound. */
export async function previewFee(
  database: Pick<Database, "pool">,
  { merchantId, currencyCode, network, amountText, terms }: FeeQuestion,
): Promise<FeePreview> {
  const coin = findCoin(currencyCode, network);
  const received = parseAmount(amountText, coin);
  const tried = terms === null ? null : parseTerms(terms);
  if (merchantId !== null) await requireMerchant(database.pool, merchantId);
  const row = await findFeeRow(database, { merchantId: merchantId ?? NO_MERCHANT, currencyCode: coin.currencyCode });
  return {
    row,
    current: priceTransfer({ coin, received, feeRow: row }),
    proposed: tried === null ? null : priceTransfer({ coin, received, feeRow: { ...row, ...tried } }),
  };
}
