// Coins for sandbox merchants, which are worth nothing. The bounds keep a faulty script from filling the ledger with
// absurd numbers.

import type { Database } from "../../database/database.ts";
import { withRetry, withTransaction } from "../../database/transactions.ts";
import { LimitExceeded, NotFound } from "../../kernel/errors.ts";
import { invariant } from "../../kernel/invariant.ts";
import { codeOf } from "../../kernel/money.ts";
import { parseAmount } from "../transfers/amount.ts";
import { findCoin } from "../chains/currencies.ts";
import { creditMerchantWithin, listBalances, type MerchantBalance } from "./merchants.ts";
import { readFunds } from "../../ledger/funds.ts";
import { requireMerchantOf } from "./store.ts";

/** The most whole coins of one use. */
export const MAX_FAUCET_COINS = 10_000n;
/** A fund with so many whole coins gets no more. */
export const ENOUGH_FAUCET_COINS = 1_000_000n;

export type FaucetRequest = {
  readonly accountId: string;
  readonly merchantId: string;
  readonly currencyCode: string;
  readonly amountText: string;
  readonly network: string;
};

/**
 * Credits coins to a sandbox merchant's fund and returns the balance of the currency. Errors: NotFound,
 * CurrencyUnsupported, ValidationError, AmountPrecision, LimitExceeded.
 */
export async function useFaucet(database: Pick<Database, "pool">, request: FaucetRequest): Promise<MerchantBalance> {
  const { merchantId, accountId, currencyCode, amountText, network } = request;
  if ((await requireMerchantOf(database.pool, { merchantId, accountId })) !== "sandbox") {
    throw new NotFound("There is a faucet in the sandbox only.");
  }
  const coin = findCoin(currencyCode, network);
  const unit = 10n ** BigInt(coin.decimals);
  if (parseAmount(amountText, coin).units > MAX_FAUCET_COINS * unit) {
    throw new LimitExceeded(`The faucet gives at most ${MAX_FAUCET_COINS} ${currencyCode} at once.`);
  }
  await withRetry(() =>
    withTransaction(database, async (client) => {
      await creditMerchantWithin(client, {
        merchantId,
        currencyCode,
        amountText,
        network: coin.network,
        reason: "faucet",
      });
      // Under the lock that the credit has taken.
      const funds = await readFunds(client, merchantId);
      const fund = funds.find(({ asset }) => asset === `${currencyCode}/${coin.decimals}`);
      invariant(fund !== undefined && codeOf(fund.asset) === currencyCode, "a fund that was credited is there");
      if (fund.posted > ENOUGH_FAUCET_COINS * unit) {
        throw new LimitExceeded(`The faucet fills a balance up to ${ENOUGH_FAUCET_COINS} ${currencyCode}.`);
      }
    }),
  );
  const balance = (await listBalances(database, merchantId)).find((each) => each.currencyCode === currencyCode);
  invariant(balance !== undefined, "a currency that was credited has a balance");
  return balance;
}
