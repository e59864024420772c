// The price of a transfer. A quote promises nothing and stores nothing; ordering computes it again.

import type { Environment } from "../../identity/principal.ts";
import type { Database } from "../../database/database.ts";
import { formatDecimal } from "../../kernel/decimal.ts";
import { LimitExceeded } from "../../kernel/errors.ts";
import { invariant } from "../../kernel/invariant.ts";
import { add, type Money } from "../../kernel/money.ts";
import { CurrencyUnsupported } from "../../kernel/transfer-errors.ts";
import { parseAmount } from "./amount.ts";
import { type Coin, findCoin, type Network } from "../chains/currencies.ts";
import { computeFee, type FeeRow } from "../merchants/fee-schedule.ts";
import { findFeeRow } from "../merchants/set-fee.ts";

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
  /** The amount for the receiver: decimal digits in whole coins. */
  readonly amountText: string;
  /** Absent or empty: the currency's usual one. */
  readonly network?: string;
};

/** Whether there is a chain that carries a currency on a network. */
export type IsServed = (currencyCode: string, network: Network, environment: Environment) => boolean;

/**
 * The least amount of a coin and its least fee, in its smallest units: below them the network costs more than the fee.
 */
export type Floor = { readonly least: bigint; readonly fee: bigint };

/** The dependencies of a quote. */
export type QuoteSources = {
  readonly database: Pick<Database, "pool">;
  readonly isServed: IsServed;
  /** The floor of a coin in production. Null or absent: there is none. */
  readonly floorOf?: (coin: Coin) => Floor | null;
};

/** Prices a transfer. Errors: ValidationError, AmountPrecision, CurrencyUnsupported, LimitExceeded. */
export async function quoteTransfer(sources: QuoteSources, request: QuoteRequest): Promise<Quote> {
  const coin = findCoin(request.currencyCode, request.network);
  if (!sources.isServed(coin.currencyCode, coin.network, request.environment)) throw new CurrencyUnsupported();
  const received = parseAmount(request.amountText, coin);
  const floor = request.environment === "production" ? (sources.floorOf?.(coin) ?? null) : null;
  if (floor !== null && received.units < floor.least) {
    const least = formatDecimal(floor.least, coin.decimals);
    throw new LimitExceeded(`A transfer of ${coin.currencyCode} on ${coin.network} is at least ${least}.`);
  }
  const feeRow = await findFeeRow(sources.database, request);
  return priceTransfer({ coin, received, feeRow, leastFee: floor?.fee ?? 0n });
}

/** The quote of an amount by one row of the fee schedule, whose fee is no lower than the floor. */
export function priceTransfer({
  coin,
  received,
  feeRow,
  leastFee = 0n,
}: {
  coin: Coin;
  received: Money;
  feeRow: FeeRow;
  leastFee?: bigint;
}): Quote {
  const ownFee = computeFee(feeRow, received);
  const fee = ownFee.units < leastFee ? { ...ownFee, units: leastFee } : ownFee;
  const total = add(received, fee);
  invariant(total.units === received.units + fee.units && fee.units >= 0n, "total = received + fee");
  return { coin, received, fee, total, feeRowId: feeRow.id };
}
