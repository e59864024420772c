// Merchants, what they have in their funds, and the coins that operators and the sandbox credit to them.

import type { PoolClient } from "pg";
import type { Environment } from "../../identity/principal.ts";
import type { Database } from "../../database/database.ts";
import { withRetry, withTransaction } from "../../database/transactions.ts";
import { formatDecimal } from "../../kernel/decimal.ts";
import { LimitExceeded, ValidationError } from "../../kernel/errors.ts";
import { uuidv7 } from "../../kernel/ids.ts";
import { codeOf, scaleOf } from "../../kernel/money.ts";
import { CurrencyUnsupported } from "../../kernel/transfer-errors.ts";
import { lockAccount } from "../../ledger/account-lock.ts";
import { creditFund, openFund, readFunds } from "../../ledger/funds.ts";
import { claimReference } from "../../ledger/postings.ts";
import { parseAmount } from "../transfers/amount.ts";
import { issuePair, type IssuedPair, type PairMaker } from "./credentials.ts";
import { assetOf, coins, findCoin } from "../chains/currencies.ts";
import { openDefaultLimits } from "./limits-store.ts";
import { outsideAccounts } from "../transfers/outside-accounts.ts";
import type { IsServed } from "../transfers/quote.ts";
import { insertMerchant, type MerchantSummary, readMerchants, readOwner } from "./store.ts";

/** The largest balance of a fund in whole coins. Its column holds ten thousand times as many at 18 decimals. */
const MAX_FUND_COINS = 10n ** 16n;

/** `maker` left out: no member makes it. */
export type NewMerchant = {
  readonly accountId: string;
  readonly environment: Environment;
  readonly maker?: PairMaker;
};

/** Creates a merchant of an account, with its first pair. Errors: NotFound. */
export function createMerchant(
  database: Pick<Database, "pool">,
  merchant: NewMerchant,
): Promise<IssuedPair & { merchantId: string }> {
  return withTransaction(database, (client) => addMerchant(client, merchant));
}

/** The same inside the caller's transaction. */
export async function addMerchant(
  client: PoolClient,
  { accountId, environment, maker }: NewMerchant,
): Promise<IssuedPair & { merchantId: string }> {
  await lockAccount(client, accountId);
  const merchantId = uuidv7();
  await insertMerchant(client, { id: merchantId, accountId, environment });
  await openDefaultLimits(client, merchantId);
  return { merchantId, ...(await issuePair(client, merchantId, maker?.personId)) };
}

/**
 * Creates the merchant of an account in an environment, where it has none yet. Errors: NotFound, LimitExceeded,
 * CurrencyUnsupported where no currency is served in production, RoleMissing.
 */
export function openMerchant(
  { database, isServed }: { database: Pick<Database, "pool">; isServed: IsServed },
  merchant: NewMerchant,
): Promise<IssuedPair & { merchantId: string }> {
  const { accountId, environment, maker } = merchant;
  if (!coins.some(({ currencyCode, network }) => isServed(currencyCode, network, environment))) {
    throw new CurrencyUnsupported();
  }
  return withRetry(() =>
    withTransaction(database, async (client) => {
      await lockAccount(client, accountId);
      await maker?.requireRole(client);
      const own = await readMerchants(client, accountId);
      if (own.some((each) => each.environment === environment)) {
        throw new LimitExceeded(`This account has a ${environment} merchant already.`);
      }
      return addMerchant(client, merchant);
    }),
  );
}

/** The merchants of an account, oldest first. */
export function listMerchants(database: Pick<Database, "pool">, accountId: string): Promise<MerchantSummary[]> {
  return readMerchants(database.pool, accountId);
}

export type MerchantCredit = {
  readonly merchantId: string;
  readonly currencyCode: string;
  /** Decimal digits in whole coins, greater than zero. */
  readonly amountText: string;
  /** Absent or empty: the currency's usual one. */
  readonly network?: string;
  /** The reason, as the operator wrote it. */
  readonly reason?: string;
  /** The name of the event: the same reference is credited once, for ever. */
  readonly reference?: string;
};

/** A posted credit, by this call or earlier under the same reference. Amounts are in whole coins. */
export type CreditedFund = {
  readonly postingId: string;
  readonly amount: string;
  readonly available: string;
  /** Whether this call posted it. */
  readonly isNew: boolean;
};

/**
 * Credits received coins to a merchant's fund. Errors: NotFound, ValidationError, AmountPrecision, CurrencyUnsupported,
 * LimitExceeded.
 */
export function creditMerchant(database: Pick<Database, "pool">, credit: MerchantCredit): Promise<CreditedFund> {
  return withRetry(() => withTransaction(database, (client) => creditMerchantWithin(client, credit)));
}

/** The same inside the caller's transaction. ValidationError also where the reference was used for another credit. */
export async function creditMerchantWithin(client: PoolClient, credit: MerchantCredit): Promise<CreditedFund> {
  const coin = findCoin(credit.currencyCode, credit.network);
  const amount = parseAmount(credit.amountText, coin);
  const { merchantId, reason, reference } = credit;
  const { accountId, environment } = await readOwner(client, merchantId);
  const fund = await openFund(client, { merchantId, accountId, asset: assetOf(coin) });
  const shown = (units: bigint): string => formatDecimal(units, coin.decimals);
  const first = reference === undefined ? undefined : await claimReference(client, reference);
  if (first !== undefined) {
    if (first.credit !== fund.id || first.amount !== amount.units) {
      const message = "was used for another credit; a further one needs a reference of its own";
      throw new ValidationError([{ field: "reference", rule: "credit.reference", message }]);
    }
    const available = shown(fund.posted - fund.held);
    return { postingId: first.id, amount: shown(first.amount), available, isNew: false };
  }
  const posted = fund.posted + amount.units;
  if (posted > MAX_FUND_COINS * 10n ** BigInt(coin.decimals)) {
    throw new LimitExceeded(`A balance is at most ${MAX_FUND_COINS} ${coin.currencyCode}.`);
  }
  const postingId = await creditFund(client, {
    fund,
    amount: amount.units,
    from: outsideAccounts[environment].coins,
    reason: "merchant_credit",
    ...(reason === undefined ? {} : { note: reason }),
    ...(reference === undefined ? {} : { reference }),
  });
  return { postingId, amount: shown(amount.units), available: shown(posted - fund.held), isNew: true };
}

/** A merchant's balance of one currency, in whole coins. */
export type MerchantBalance = { readonly currencyCode: string; readonly available: string; readonly held: string };

/** The merchant's balances, one per currency by code. A currency with several scales is added up at the finest. */
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
