// The demo: what a first start without any configuration needs to answer and bill a request. It goes through the same use
// cases as everything else, so a demo rupiah is as exact as any other.

import { createCustomer } from "./accounts/customers.ts";
import { DEMO_EMAIL as EMAIL } from "./accounts/demo-person.ts";
import { customerOfEmail } from "./accounts/store.ts";
import type { Database } from "./database/database.ts";
import { withTransaction } from "./database/transactions.ts";
import { IDR, parseMoney } from "./kernel/money.ts";
import { creditAccount, openAccount, readBalance } from "./ledger/accounts.ts";
import { systemAccounts } from "./ledger/system-accounts.ts";
import { issueKey } from "./keys/issue-key.ts";
import { listKeys, revokeKey } from "./keys/issued-keys.ts";
import { issuePair, listPairs, revokePair } from "./merchant/credentials.ts";
import { createMerchant, creditMerchant, listMerchants } from "./merchant/merchants.ts";

const KEY_NAME = "demo";
const BALANCE = parseMoney("100000", IDR).units;
const LOW_BALANCE = parseMoney("10000", IDR).units;

/** What the demo's merchant begins with; the faucet gives more. */
const COINS = { currencyCode: "TRX", amountText: "1000", reason: "demo" };

/** What a person pastes. Each start makes new ones and revokes those of the start before. */
export type Demo = {
  readonly accountId: string;
  readonly key: string;
  readonly merchantApiKey: string;
  readonly merchantSecretKey: string;
};

/** Any number that nobody else locks: nodes that start at once on one database take turns by it. */
const DEMO_LOCK = 5_841_020_120;

/** Makes the demo account if there is none, keeps money on it, and issues a fresh key and sandbox pair. */
export function prepareDemo(database: Database): Promise<Demo> {
  return inTurn(database, () => prepareInTurn(database));
}

function inTurn<Made>(database: Database, work: () => Promise<Made>): Promise<Made> {
  return withTransaction(database, async (client) => {
    await client.query("SET LOCAL lock_timeout = '10s'");
    await client.query("SELECT pg_advisory_xact_lock($1)", [DEMO_LOCK]);
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
  const pair = await freshPair(database, accountId);
  return {
    accountId,
    key: await freshKey(database, accountId),
    merchantApiKey: pair.apiKey,
    merchantSecretKey: pair.secretKey,
  };
}

async function demoAccount(database: Database): Promise<string> {
  const known = await customerOfEmail(database.pool, EMAIL);
  if (known !== null) return known;
  const { accountId } = await withTransaction(database, (client) =>
    createCustomer(client, { email: EMAIL, openAccount }),
  );
  return accountId;
}

async function freshKey(database: Database, accountId: string): Promise<string> {
  // The newest page is enough: each start leaves one working key.
  const { keys } = await listKeys(database, { accountId });
  for (const { keyId, name, revokedAt } of keys) {
    if (name === KEY_NAME && revokedAt === null) await revokeKey(database, { keyId, accountId });
  }
  return (await issueKey(database, { accountId, name: KEY_NAME })).secret;
}

async function freshPair(database: Database, accountId: string): Promise<{ apiKey: string; secretKey: string }> {
  const merchant = await demoMerchant(database, accountId);
  if (merchant === undefined) return makeMerchant(database, accountId);
  for (const { pairId, revokedAt } of await listPairs(database, merchant.merchantId)) {
    if (revokedAt === null) await revokePair(database, pairId);
  }
  return issuePair(database.pool, merchant.merchantId);
}

async function demoMerchant(database: Database, accountId: string) {
  return (await listMerchants(database, accountId)).find(({ environment }) => environment === "sandbox");
}

async function makeMerchant(database: Database, accountId: string) {
  const made = await createMerchant(database, { accountId, environment: "sandbox" });
  await creditMerchant(database, { merchantId: made.merchantId, ...COINS });
  return made;
}
