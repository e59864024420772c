// Taking a demo's play money back. Everything in a demo's database is play money but what a real payment provider took. The
// unspent rest goes back by postings to the account that gave it; spent money and its postings remain. Play money counts as
// spent first.

import type { PoolClient } from "pg";
import { selectGivenBack } from "../../billing/top-ups/store.ts";
import { invariant } from "../../kernel/invariant.ts";
import type { Asset } from "../../kernel/money.ts";
import { lockAllAccounts } from "../../ledger/account-lock.ts";
import { debitOnce } from "../../ledger/debits.ts";
import { debitFund, lockFund } from "../../ledger/funds.ts";
import { forgiveDebts } from "../../ledger/receivables.ts";
import { systemAccounts } from "../../ledger/system-accounts.ts";

const { promotions, providerClearing, operatorAdjustments, merchantClearing } = systemAccounts;
const REASON = "operator_adjustment";
const NOTE = "play money of a demo";
/** The one payment provider whose money is play money. */
const PLAY_PROVIDER = "sandbox";

type Row = {
  readonly accountId: string;
  readonly available: bigint;
  /** Net amounts that came from each source; numeric texts. */
  readonly promoted: string;
  readonly sandboxTopUps: string;
  readonly realTopUps: string;
};

const STANDINGS = `
SELECT a.id AS "accountId", greatest(0, a.posted - a.held - a.owed) AS available,
  coalesce(sum(n.amount) FILTER (WHERE n.other = '${promotions}'), 0) AS promoted,
  coalesce(sum(n.amount) FILTER (WHERE n.other = '${providerClearing}' AND t.provider = '${PLAY_PROVIDER}'), 0) AS "sandboxTopUps",
  coalesce(sum(n.amount) FILTER (WHERE n.other = '${providerClearing}' AND t.provider <> '${PLAY_PROVIDER}'), 0) AS "realTopUps"
FROM account a
LEFT JOIN (
  SELECT credit AS account_id, debit AS other, group_id, amount FROM posting WHERE asset = 'IDR/6'
  UNION ALL
  SELECT debit, credit, group_id, -amount FROM posting WHERE asset = 'IDR/6'
) n ON n.account_id = a.id
LEFT JOIN top_up t ON t.id = n.group_id
WHERE a.posted > 0
GROUP BY a.id ORDER BY a.id`;

/** Takes the play money of every account back. Gives how much, in micro-rupiah. */
export async function takePlayMoneyBack(client: PoolClient): Promise<bigint> {
  await lockAllAccounts(client);
  // A debt of play money must not be collected from a real payment; one to a real provider is owed for every purpose of the database.
  const topUpIds = await selectGivenBack(client, PLAY_PROVIDER);
  await forgiveDebts(client, { topUpIds, from: promotions, reason: REASON, note: NOTE });
  let taken = 0n;
  for (const standing of await standings(client)) taken += await takeFrom(client, standing);
  return taken;
}

async function standings(client: PoolClient): Promise<Row[]> {
  return (await client.query<Row>(STANDINGS)).rows;
}

async function takeFrom(client: PoolClient, standing: Row): Promise<bigint> {
  const { accountId, available } = standing;
  const real = BigInt(standing.realTopUps);
  let left = available - (real > 0n ? real : 0n);
  if (left <= 0n) return 0n;
  const total = left;
  const sources: readonly (readonly [to: string, most: bigint])[] = [
    [promotions, BigInt(standing.promoted)],
    [providerClearing, BigInt(standing.sandboxTopUps)],
    // What operators put on by hand, and what was given back of requests.
    [operatorAdjustments, left],
  ];
  for (const [to, most] of sources) {
    const amount = most < left ? most : left;
    if (amount <= 0n) continue;
    const reference = `demo-clear:${accountId}:${to}`;
    await debitOnce(client, { accountId, amount, to, reason: REASON, note: NOTE, reference });
    left -= amount;
  }
  return total;
}

const PRODUCTION_FUNDS = `
SELECT f.merchant_id AS "merchantId", f.asset FROM merchant_fund f JOIN merchant m ON m.id = f.merchant_id
WHERE m.environment = 'production' AND f.posted > 0 ORDER BY f.id`;
const HAS_HELD = `
SELECT EXISTS (SELECT FROM account WHERE held > 0) OR EXISTS (
  SELECT FROM merchant_fund f JOIN merchant m ON m.id = f.merchant_id WHERE m.environment = 'production' AND f.held > 0
) AS "hasHeld"`;

/** Whether requests or production transfers are open, so that it is not decided yet what is left. */
export async function hasOpenHolds(client: PoolClient): Promise<boolean> {
  return (await client.query<{ hasHeld: boolean }>(HAS_HELD)).rows[0]?.hasHeld === true;
}

/** Takes back the coins that production merchants of a demo got: no real coins back them. Returns the number of funds with some. */
export async function takePlayCoinsBack(client: PoolClient): Promise<number> {
  const { rows } = await client.query<{ merchantId: string; asset: Asset }>(PRODUCTION_FUNDS);
  for (const key of rows) {
    const fund = await lockFund(client, key);
    invariant(fund !== undefined, "a fund stays where it is");
    await debitFund(client, { fund, amount: fund.posted, to: merchantClearing, reason: REASON, note: NOTE });
  }
  return rows.length;
}
