// Merchant pairs: an API key that names the pair and a secret that proves it. A pair is shown once, when it is issued;
// the database keeps digests. A merchant may have several, so that one can be replaced without an interruption.

import { timingSafeEqual } from "node:crypto";
import { LRUCache } from "lru-cache";
import type { PoolClient } from "pg";
import type { Environment, MerchantPrincipal } from "../../identity/principal.ts";
import type { Database } from "../../database/database.ts";
import { waitForLocks, withRetry, withTransaction } from "../../database/transactions.ts";
import { type Clock, systemClock } from "../../kernel/clock.ts";
import { LimitExceeded } from "../../kernel/errors.ts";
import { uuidv7 } from "../../kernel/ids.ts";
import { invariant } from "../../kernel/invariant.ts";
import { digestSecretToken, newSecretToken, type SecretTokenPrefix } from "../../kernel/secret-token.ts";
import { lockAccount } from "../../ledger/account-lock.ts";
import { insertPair, markPairRevoked, type PairSummary, readPair, readPairs } from "./pair-store.ts";
import { requireMerchant, requireMerchantOf } from "./store.ts";

type Queryable = Parameters<typeof insertPair>[0];

const prefixes = {
  sandbox: { key: "mk_test_", secret: "sk_test_" },
  production: { key: "mk_", secret: "sk_" },
} as const satisfies Record<Environment, { key: SecretTokenPrefix; secret: SecretTokenPrefix }>;

/** How much of the random part is shown, so that a person can distinguish pairs. */
const SHOWN_CHARACTERS = 4;

/** A new pair, the only time both halves are visible. */
export type IssuedPair = { readonly pairId: string; readonly apiKey: string; readonly secretKey: string };

/** A member who makes a pair. `requireRole` throws unless the person may make pairs now; it is called behind the lock of the account. */
export type PairMaker = { readonly personId: string; readonly requireRole: (client: PoolClient) => Promise<void> };

/** Issues another pair of a merchant, for the merchant's environment. `personId` is the member who makes it. Errors: NotFound. */
export async function issuePair(
  client: Queryable,
  merchantId: string,
  personId: string | null = null,
): Promise<IssuedPair> {
  const { key, secret } = prefixes[await requireMerchant(client, merchantId)];
  const pair = { pairId: uuidv7(), apiKey: newSecretToken(key), secretKey: newSecretToken(secret) };
  await insertPair(client, {
    id: pair.pairId,
    merchantId,
    keyDigest: digestSecretToken(pair.apiKey),
    secretDigest: digestSecretToken(pair.secretKey),
    keyPrefix: pair.apiKey.slice(0, key.length + SHOWN_CHARACTERS),
    personId,
  });
  return pair;
}

/** The pairs of a merchant, oldest first, revoked ones included. */
export function listPairs(database: Pick<Database, "pool">, merchantId: string): Promise<PairSummary[]> {
  return readPairs(database.pool, merchantId);
}

/**
 * Revokes a pair. It waits for the pair's orders that are under way; once it has returned, no process accepts a call of
 * the pair. Errors: NotFound.
 */
export async function revokePair(database: Pick<Database, "pool">, pairId: string): Promise<void> {
  await revoke(database, { pairId });
}

function revoke(
  database: Pick<Database, "pool">,
  pair: { readonly pairId: string; readonly merchantId?: string },
): Promise<PairSummary> {
  return withTransaction(database, async (client) => {
    await waitForLocks(client);
    return markPairRevoked(client, pair);
  });
}

/** The most active pairs of a merchant: enough to replace one without an interruption. */
export const MAX_WORKING_PAIRS = 10;

/** Issues another pair of an account's merchant. `maker` left out: no member makes it. Errors: NotFound, LimitExceeded, RoleMissing. */
export function issueOwnPair(
  database: Pick<Database, "pool">,
  { accountId, merchantId, maker }: { accountId: string; merchantId: string; maker?: PairMaker },
): Promise<{ issued: IssuedPair; pair: PairSummary }> {
  return withRetry(() =>
    withTransaction(database, async (client) => {
      await lockAccount(client, accountId);
      // A member who is removed meanwhile makes no pair behind it.
      await maker?.requireRole(client);
      await requireMerchantOf(client, { accountId, merchantId });
      const working = (await readPairs(client, merchantId)).filter(({ revokedAt }) => revokedAt === null);
      if (working.length >= MAX_WORKING_PAIRS) {
        throw new LimitExceeded(`A merchant has at most ${MAX_WORKING_PAIRS} credentials that work. Revoke one first.`);
      }
      const issued = await issuePair(client, merchantId, maker?.personId);
      const pair = (await readPairs(client, merchantId)).find(({ pairId }) => pairId === issued.pairId);
      invariant(pair !== undefined, "a pair that was issued is listed");
      return { issued, pair };
    }),
  );
}

/** Revokes a pair of an account's merchant as `revokePair` does. Errors: NotFound, also for another account's pair. */
export async function revokeOwnPair(
  database: Pick<Database, "pool">,
  { accountId, merchantId, pairId }: { accountId: string; merchantId: string; pairId: string },
): Promise<PairSummary> {
  await requireMerchantOf(database.pool, { accountId, merchantId });
  return revoke(database, { pairId, merchantId });
}

/** Identifies the caller by a pair; null when the pair is not ours, is revoked or its halves do not match. */
export type VerifyMerchant = (pair: { apiKey: string; secretKey: string }) => Promise<MerchantPrincipal | null>;

/**
 * The same, and whether a pair, its halves joined by a colon, was accepted before in this process. It may have been
 * revoked since.
 */
export type PairVerifier = VerifyMerchant & { hasWorked(pair: string): boolean };

/** How long a decision is cached, from the moment its read of the database began. */
export const PAIR_CACHE_MS = 5_000;
const MAX_CACHED_PAIRS = 10_000;
/** Compared when there is no such key, so that an unknown key takes as long as a wrong secret. */
const NO_DIGEST = Buffer.alloc(32);

type Decision = { readonly startedAtMs: number; readonly principal: Promise<MerchantPrincipal | null> };

/**
 * Makes the check of pairs. Decisions are cached by both halves together. An unknown key and a known key with a wrong
 * secret both miss the cache, read the database once and compare one digest, so timing does not distinguish them.
 */
export function createPairVerifier(database: Pick<Database, "pool">, clock: Clock = systemClock): PairVerifier {
  const decisions = new LRUCache<string, Decision>({ max: MAX_CACHED_PAIRS });
  // Separate from the decisions, so that a flood of wrong pairs never evicts a right one.
  const worked = new LRUCache<string, true>({ max: MAX_CACHED_PAIRS });
  const noteOutcome = async (name: string, decision: Decision): Promise<void> => {
    try {
      if ((await decision.principal) === null) worked.delete(name);
      else worked.set(name, true);
    } catch {
      // A failed read decides nothing. Every call that waits for it gets the failure.
      if (decisions.get(name) === decision) decisions.delete(name);
    }
  };
  const verify: VerifyMerchant = ({ apiKey, secretKey }) => {
    const keyDigest = digestSecretToken(apiKey);
    const secretDigest = digestSecretToken(secretKey);
    const name = nameOfPair(keyDigest, secretDigest);
    const startedAtMs = clock.now();
    const known = decisions.get(name);
    if (known !== undefined && startedAtMs - known.startedAtMs < PAIR_CACHE_MS) return known.principal;
    const decision = { startedAtMs, principal: decide(database, { keyDigest, secretDigest }) };
    decisions.set(name, decision);
    void noteOutcome(name, decision);
    return decision.principal;
  };
  return Object.assign(verify, {
    hasWorked(pair: string): boolean {
      const colon = pair.indexOf(":");
      const [apiKey, secretKey] = [pair.slice(0, colon), pair.slice(colon + 1)];
      return worked.has(nameOfPair(digestSecretToken(apiKey), digestSecretToken(secretKey)));
    },
  });
}

function nameOfPair(keyDigest: Buffer, secretDigest: Buffer): string {
  return Buffer.concat([keyDigest, secretDigest]).toString("base64");
}

async function decide(
  { pool }: Pick<Database, "pool">,
  { keyDigest, secretDigest }: { keyDigest: Buffer; secretDigest: Buffer },
): Promise<MerchantPrincipal | null> {
  const pair = await readPair(pool, keyDigest);
  const matches = timingSafeEqual(secretDigest, pair?.secretDigest ?? NO_DIGEST);
  if (pair === undefined || !matches) return null;
  return { kind: "merchant", merchantId: pair.merchantId, pairId: pair.pairId, environment: pair.environment };
}
