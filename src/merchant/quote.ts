// The price of a transfer. A quote promises nothing and stores nothing; ordering computes it again.

import type { Environment } from "../accounts/principal.ts";
import type { Database } from "../database/database.ts";
import { CurrencyUnsupported } from "../kernel/errors.ts";
import { invariant } from "../kernel/invariant.ts";
import { add, type Money } from "../kernel/money.ts";
import { parseAmount } from "./amount.ts";
import { type Coin, findCoin, type Network } from "./currencies.ts";
import { computeFee, type FeeRow } from "./fee-schedule.ts";
import { findFeeRow } from "./set-fee.ts";

/** What a transfer would cost: `total` = `received` + `fee`, all in the coin's asset. */
export type Quote = {
  readonly coin: Coin;
  readonly received: Money;
  readonly fee: Money;
  readonly total: Money;
  /** The version of the fee schedule it was priced by. */
  readonly feeRowId: string;
};

export type QuoteRequest = {
  readonly merchantId: string;
  readonly environment: Environment;
  readonly currencyCode: string;
  /** What the receiver shall get: decimal digits in whole coins. */
  readonly amountText: string;
  /** Absent or empty: the currency's usual one. */
  readonly network?: string;
};

/** Whether there is a chain that carries a currency on a network. */
export type IsServed = (currencyCode: string, network: Network, environment: Environment) => boolean;

/** What a quote needs. */
export type QuoteSources = { readonly database: Pick<Database, "pool">; readonly isServed: IsServed };

/** Prices a transfer. Errors: ValidationError, AmountPrecision, CurrencyUnsupported, LimitExceeded. */
export async function quoteTransfer(sources: QuoteSources, request: QuoteRequest): Promise<Quote> {
  const coin = findCoin(request.currencyCode, request.network);
  if (!sources.isServed(coin.currencyCode, coin.network, request.environment)) throw new CurrencyUnsupported();
  const received = parseAmount(request.amountText, coin);
  const feeRow = await findFeeRow(sources.database, request);
  return priceTransfer({ coin, received, feeRow });
}

/** The quote of an amount by one row of the fee schedule. */
export function priceTransfer({ coin, received, feeRow }: { coin: Coin; received: Money; feeRow: FeeRow }): Quote {
  const fee = computeFee(feeRow, received);
  const total = add(received, fee);
  invariant(total.units === received.units + fee.units && fee.units >= 0n, "total = received + fee");
  return { coin, received, fee, total, feeRowId: feeRow.id };
}
