// The demo: what a first start without any configuration needs to answer and bill a request. It goes through the same use
// cases as everything else, so its bills are as exact as in production. Its key and pair survive a restart: a key that was pasted
// into an agent goes on working. They are kept in the demo's own database, which is as readable as a file of its owner: the
// folder of the embedded one is closed to others, and a demo takes another database only where a setting allows it. What they
// open is play money.

import { createCustomer } from "../../identity/customers.ts";
import { DEMO_EMAIL as EMAIL } from "../../identity/demo-person.ts";
import { customerOfEmail } from "../../identity/store.ts";
import type { Database } from "../../database/database.ts";
import { claimPurpose, keepDemoCredentials, readDemoCredentials } from "../../database/purpose.ts";
import { withTransaction } from "../../database/transactions.ts";
import { IDR, parseMoney } from "../../kernel/money.ts";
import { openAccount, readBalance } from "../../ledger/accounts.ts";
import { creditAccount } from "../../ledger/credits.ts";
import { systemAccounts } from "../../ledger/system-accounts.ts";
import { issueKey } from "../../keys/issue-key.ts";
import { createKeys } from "../../keys/keys.ts";
import { createPairVerifier, issuePair } from "../../merchant/merchants/credentials.ts";
import { createMerchant, creditMerchant, listMerchants } from "../../merchant/merchants/merchants.ts";

const KEY_NAME = "demo";
const BALANCE = parseMoney("100000", IDR).units;
const LOW_BALANCE = parseMoney("10000", IDR).units;

/** What the demo's merchant begins with; the faucet gives more. */
const COINS = { currencyCode: "TRX", amountText: "1000", reason: "demo" };

/** The line to paste. The next start prints the same one, unless it was revoked. */
export type Demo = {
  readonly accountId: string;
  readonly key: string;
  readonly merchantApiKey: string;
  readonly merchantSecretKey: string;
};

/** A number that no other code locks: nodes that start at once on one database take turns by it. */
const DEMO_LOCK = 5_841_020_120;

/** Makes the demo account if there is none, keeps money on it, and finds or issues its key and sandbox pair. Errors: WrongPurpose. */
export function prepareDemo(database: Database): Promise<Demo> {
  return inTurn(database, () => prepareInTurn(database));
}

function inTurn<Made>(database: Database, work: () => Promise<Made>): Promise<Made> {
  return withTransaction(database, async (client) => {
    await client.query("SET LOCAL lock_timeout = '10s'");
    await client.query("SELECT pg_advisory_xact_lock($1)", [DEMO_LOCK]);
    await claimPurpose(database.pool, "demo");
    return work();
  });
}

/**
 * The demo's account and its sandbox merchant, made where they are not there yet. Unlike a start it leaves the printed key and
 * pair as they are.
 */
export function findDemo(database: Database): Promise<{ accountId: string; merchantId: string }> {
  return inTurn(database, async () => {
    const accountId = await demoAccount(database);
    const merchant = await demoMerchant(database, accountId);
    const { merchantId } = merchant ?? (await makeMerchant(database, accountId));
    return { accountId, merchantId };
  });
}

async function prepareInTurn(database: Database): Promise<Demo> {
  const accountId = await demoAccount(database);
  if ((await readBalance(database.pool, accountId)).available < LOW_BALANCE) {
    await withTransaction(database, (client) =>
      creditAccount(client, { accountId, amount: BALANCE, from: systemAccounts.promotions, reason: "demo_credit" }),
    );
  }
  const kept = await keptCredentials(database, accountId);
  const pair = kept?.pair ?? (await newPair(database, accountId));
  const key = kept?.key ?? (await issueKey(database, { accountId, name: KEY_NAME })).secret;
  const demo = { accountId, key, merchantApiKey: pair.apiKey, merchantSecretKey: pair.secretKey };
  if (kept?.key == null || kept.pair === null) await keepDemoCredentials(database.pool, JSON.stringify(demo));
  return demo;
}

type Kept = { readonly key: string | null; readonly pair: { apiKey: string; secretKey: string } | null };

/** What an earlier start printed and still works, each null where it does not. Null: nothing was kept. */
async function keptCredentials(database: Database, accountId: string): Promise<Kept | null> {
  const kept = await readDemoCredentials(database.pool);
  if (kept === null) return null;
  const { key, merchantApiKey, merchantSecretKey } = JSON.parse(kept) as Demo;
  const pair = { apiKey: merchantApiKey, secretKey: merchantSecretKey };
  const [owner, merchant] = await Promise.all([
    createKeys({ database }).verify(key),
    createPairVerifier(database)(pair),
  ]);
  return { key: owner?.accountId === accountId ? key : null, pair: merchant === null ? null : pair };
}

async function demoAccount(database: Database): Promise<string> {
  const known = await customerOfEmail(database.pool, EMAIL);
  if (known !== null) return known;
  const { accountId } = await withTransaction(database, (client) =>
    createCustomer(client, { email: EMAIL, openAccount }),
  );
  return accountId;
}

async function newPair(database: Database, accountId: string): Promise<{ apiKey: string; secretKey: string }> {
  const merchant = await demoMerchant(database, accountId);
  return merchant === undefined ? makeMerchant(database, accountId) : issuePair(database.pool, merchant.merchantId);
}

async function demoMerchant(database: Database, accountId: string) {
  return (await listMerchants(database, accountId)).find(({ environment }) => environment === "sandbox");
}

async function makeMerchant(database: Database, accountId: string) {
  const made = await createMerchant(database, { accountId, environment: "sandbox" });
  await creditMerchant(database, { merchantId: made.merchantId, ...COINS });
  return made;
}
