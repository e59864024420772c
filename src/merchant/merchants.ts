// Merchants and what they have. A fund is a ledger account of one merchant in one asset; its balance changes only
// together with a posting, in one transaction that has locked it.

import type { Environment } from "../accounts/principal.ts";
import type { Database } from "../database/database.ts";
import { withRetry, withTransaction } from "../database/transactions.ts";
import { formatDecimal } from "../kernel/decimal.ts";
import { LimitExceeded } from "../kernel/errors.ts";
import { uuidv7 } from "../kernel/ids.ts";
import { invariant } from "../kernel/invariant.ts";
import { codeOf, scaleOf } from "../kernel/money.ts";
import { insertPostings } from "../ledger/postings.ts";
import { systemAccounts } from "../ledger/system-accounts.ts";
import { parseAmount } from "./amount.ts";
import { issuePair, type IssuedPair } from "./credentials.ts";
import { assetOf, findCoin } from "./currencies.ts";
import { insertMerchant, lockFund, openFund, readFunds, readMerchants, requireMerchant, writeFund } from "./store.ts";

/** The most whole coins a fund may come to. Its column holds ten thousand times as many at 18 decimals. */
const MAX_FUND_COINS = 10n ** 16n;

/** Makes a merchant of an account, with its first pair. Errors: NotFound. */
export function createMerchant(
  database: Pick<Database, "pool">,
  { accountId, environment }: { accountId: string; environment: Environment },
): Promise<IssuedPair & { merchantId: string }> {
  return withTransaction(database, async (client) => {
    const merchantId = uuidv7();
    await insertMerchant(client, { id: merchantId, accountId, environment });
    return { merchantId, ...(await issuePair(client, merchantId)) };
  });
}

/** The merchants of an account, oldest first. */
export function listMerchants(
  database: Pick<Database, "pool">,
  accountId: string,
): Promise<{ merchantId: string; environment: Environment }[]> {
  return readMerchants(database.pool, accountId);
}

export type MerchantCredit = {
  readonly merchantId: string;
  readonly currencyCode: string;
  /** Decimal digits in whole coins, greater than zero. */
  readonly amountText: string;
  /** Absent or empty: the currency's usual one. */
  readonly network?: string;
  /** A sentence by whoever ordered it. */
  readonly reason?: string;
};

/**
 * Puts coins that came in on a merchant's fund. `available` is in whole coins. Errors: NotFound, ValidationError,
 * AmountPrecision, CurrencyUnsupported, LimitExceeded.
 */
export async function creditMerchant(
  database: Pick<Database, "pool">,
  credit: MerchantCredit,
): Promise<{ postingId: string; available: string }> {
  const coin = findCoin(credit.currencyCode, credit.network);
  const amount = parseAmount(credit.amountText, coin);
  const { merchantId } = credit;
  const creditOnce = (): Promise<{ postingId: string; available: string }> =>
    withTransaction(database, async (client) => {
      await requireMerchant(client, merchantId);
      await openFund(client, { merchantId, asset: assetOf(coin), newId: uuidv7() });
      const fund = await lockFund(client, { merchantId, asset: assetOf(coin) });
      invariant(fund !== undefined, "a fund that was just opened is there");
      const posted = fund.posted + amount.units;
      if (posted > MAX_FUND_COINS * 10n ** BigInt(coin.decimals)) {
        throw new LimitExceeded(`A balance is at most ${MAX_FUND_COINS} ${coin.currencyCode}.`);
      }
      const postingId = uuidv7();
      await insertPostings(client, [
        {
          id: postingId,
          groupId: postingId,
          asset: fund.asset,
          debit: systemAccounts.merchantClearing,
          credit: fund.id,
          amount: amount.units,
          reason: "merchant_credit",
          ...(credit.reason === undefined ? {} : { note: credit.reason }),
        },
      ]);
      await writeFund(client, { ...fund, posted });
      return { postingId, available: formatDecimal(posted - fund.held, coin.decimals) };
    });
  return withRetry(creditOnce);
}

/** What a merchant has in one currency, in whole coins. */
export type MerchantBalance = { readonly currencyCode: string; readonly available: string; readonly held: string };

/** The merchant's balances, one per currency by code. A currency kept with several scales is added up at the finest. */
export async function listBalances(database: Pick<Database, "pool">, merchantId: string): Promise<MerchantBalance[]> {
  const funds = await readFunds(database.pool, merchantId);
  const codes = [...new Set(funds.map((fund) => codeOf(fund.asset)))].toSorted();
  return codes.map((currencyCode) => {
    const own = funds.filter((fund) => codeOf(fund.asset) === currencyCode);
    const scale = Math.max(...own.map((fund) => scaleOf(fund.asset)));
    const sum = (unitsOf: (fund: (typeof own)[number]) => bigint): string =>
      formatDecimal(
        own.reduce((total, fund) => total + unitsOf(fund) * 10n ** BigInt(scale - scaleOf(fund.asset)), 0n),
        scale,
      );
    return { currencyCode, available: sum((fund) => fund.posted - fund.held), held: sum((fund) => fund.held) };
  });
}
