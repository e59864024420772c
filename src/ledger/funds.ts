// Merchants' funds: a ledger account of one merchant in one asset. A fund's balance changes only here, together with its
// postings, under its lock, and is written absolutely from the locked row. The transaction that ends a transfer captures or
// releases its hold.

import type { Pool, PoolClient } from "pg";
import { waitForLocks } from "../database/transactions.ts";
import { uuidv7 } from "../kernel/ids.ts";
import { invariant } from "../kernel/invariant.ts";
import type { Asset } from "../kernel/money.ts";
import { insertPostings, type Posting } from "./postings.ts";

const OPEN = `
INSERT INTO merchant_fund (merchant_id, account_id, asset, id) VALUES ($1::uuid, $2::uuid, $3::text, $4::uuid)
ON CONFLICT DO NOTHING`;
const LOCK = `
SELECT id, account_id AS "accountId", posted, held FROM merchant_fund
WHERE merchant_id = $1::uuid AND asset = $2::text FOR NO KEY UPDATE`;
const SET = `UPDATE merchant_fund SET posted = $2::numeric, held = $3::numeric WHERE id = $1::uuid`;
const OF_MERCHANT = `SELECT asset, posted, held FROM merchant_fund WHERE merchant_id = $1::uuid ORDER BY asset`;

/** A fund's balance in the asset's smallest unit. */
export type FundBalance = { readonly asset: Asset; readonly posted: bigint; readonly held: bigint };

/** A fund that is locked. */
export type Fund = FundBalance & {
  readonly id: string;
  /** The account that the merchant belongs to. */
  readonly accountId: string;
};

type FundKey = { readonly merchantId: string; readonly asset: Asset };
type Row = { id: string; accountId: string; posted: string; held: string };

/** Locks the fund of a merchant and asset until the end of the transaction. Undefined: it was never opened. */
export async function lockFund(client: PoolClient, { merchantId, asset }: FundKey): Promise<Fund | undefined> {
  await waitForLocks(client);
  const { rows } = await client.query<Row>(LOCK, [merchantId, asset]);
  return rows[0] && { ...rows[0], asset, posted: BigInt(rows[0].posted), held: BigInt(rows[0].held) };
}

/** Locks the fund, and opens it first where it is missing. */
export async function openFund(client: PoolClient, fund: FundKey & { readonly accountId: string }): Promise<Fund> {
  await client.query(OPEN, [fund.merchantId, fund.accountId, fund.asset, uuidv7()]);
  const locked = await lockFund(client, fund);
  invariant(locked !== undefined, "a fund that was just opened is there");
  return locked;
}

/** The funds of a merchant, by asset. */
export async function readFunds(client: Pick<Pool | PoolClient, "query">, merchantId: string): Promise<FundBalance[]> {
  const { rows } = await client.query<{ asset: Asset; posted: string; held: string }>(OF_MERCHANT, [merchantId]);
  return rows.map(({ asset, posted, held }) => ({ asset, posted: BigInt(posted), held: BigInt(held) }));
}

/** Coins that are put on a fund, in the asset's smallest unit. */
export type FundCredit = {
  readonly fund: Fund;
  readonly amount: bigint;
  /** The ledger account of the other side. */
  readonly from: string;
  readonly reason: string;
  readonly note?: string;
  /** The name of the event, which this transaction has claimed. */
  readonly reference?: string;
};

/** Puts coins on a locked fund. Returns the id of the posting. */
export async function creditFund(client: PoolClient, { fund, from, ...move }: FundCredit): Promise<string> {
  const id = await post(client, { fund, debit: from, credit: fund.id, ...move });
  await write(client, { ...fund, posted: fund.posted + move.amount });
  return id;
}

/** Takes available coins off a locked fund, to another ledger account. Returns the id of the posting. */
export async function debitFund(
  client: PoolClient,
  { fund, to, ...move }: Omit<FundCredit, "from"> & { readonly to: string },
): Promise<string> {
  invariant(fund.posted - fund.held >= move.amount, "what is taken off a fund is available");
  const id = await post(client, { fund, debit: fund.id, credit: to, ...move });
  await write(client, { ...fund, posted: fund.posted - move.amount });
  return id;
}

async function post(
  client: PoolClient,
  { fund, ...move }: Pick<Posting, "debit" | "credit" | "amount" | "reason" | "note" | "reference"> & { fund: Fund },
): Promise<string> {
  const id = uuidv7();
  const { accountId, asset } = fund;
  const written = await insertPostings(client, [{ id, accountId, groupId: id, asset, ...move }]);
  invariant(written.length === 1, "a reference of a fund is claimed before it is used");
  return id;
}

/** Holds available coins of a locked fund. */
export async function holdInFund(client: PoolClient, fund: Fund, amount: bigint): Promise<void> {
  invariant(amount > 0n && fund.posted - fund.held >= amount, "what is held is available");
  await write(client, { ...fund, held: fund.held + amount });
}

/** Releases a hold of a locked fund. */
export async function voidFundHold(client: PoolClient, fund: Fund, amount: bigint): Promise<void> {
  await write(client, { ...fund, held: heldWithout(fund, amount) });
}

/**
 * Captures a hold of a locked fund by postings: those that debit the fund sum to the hold, and others pass the coins on. Each has
 * a reference, and a reference is posted once.
 */
export async function captureFundHold(
  client: PoolClient,
  { fund, amount, postings }: { fund: Fund; amount: bigint; postings: readonly (Posting & { reference: string })[] },
): Promise<void> {
  const debited = postings.filter(({ debit }) => debit === fund.id).reduce((sum, leg) => sum + leg.amount, 0n);
  invariant(debited === amount, "what is captured of a fund is its hold");
  const written = await insertPostings(client, postings);
  invariant(written.length === postings.length, "a hold of a fund is captured once");
  await write(client, { ...fund, posted: fund.posted - amount, held: heldWithout(fund, amount) });
}

function heldWithout(fund: Fund, amount: bigint): bigint {
  invariant(amount > 0n && fund.held >= amount, "what ends is held by its fund");
  return fund.held - amount;
}

async function write(client: PoolClient, { id, posted, held }: Fund): Promise<void> {
  await client.query(SET, [id, posted, held]);
}
