// The key of an account's playground: people who are signed in ask models without a key, and what they ask is limited, held and
// billed like every other request, on a key of the account without a known secret.

import { randomBytes } from "node:crypto";
import { LRUCache } from "lru-cache";
import type { Database } from "../database/database.ts";
import { withRetry, withTransaction } from "../database/transactions.ts";
import { NotFound } from "../kernel/errors.ts";
import { uuidv7 } from "../kernel/ids.ts";
import type { VerifiedKey } from "./verified-key.ts";
import { lockAccount } from "../ledger/account-lock.ts";
import { insertPlaygroundKey, readPlaygroundKey } from "./store.ts";

const MOST_REMEMBERED = 10_000;
const DIGEST_BYTES = 32;

/** Returns the key of an account's playground, and makes it at the first call. Errors: NotFound when there is no such account. */
export type PlaygroundKeys = (accountId: string) => Promise<VerifiedKey>;

/** Makes the look-up. Which key it is never changes, so it is remembered; its limit is read at each admission. */
export function createPlaygroundKeys({ pool }: Pick<Database, "pool">): PlaygroundKeys {
  const known = new LRUCache<string, VerifiedKey>({ max: MOST_REMEMBERED });
  return async (accountId) => {
    const remembered = known.get(accountId);
    if (remembered !== undefined) return remembered;
    const key = (await readPlaygroundKey(pool, accountId)) ?? (await makeKey(accountId));
    known.set(accountId, key);
    return key;
  };

  async function makeKey(accountId: string): Promise<VerifiedKey> {
    await withRetry(() =>
      withTransaction({ pool }, async (client) => {
        await lockAccount(client, accountId);
        // A digest of nothing: no secret leads to it.
        await insertPlaygroundKey(client, { accountId, keyId: uuidv7(), digest: randomBytes(DIGEST_BYTES) });
      }),
    );
    const made = await readPlaygroundKey(pool, accountId);
    if (made === null) throw new NotFound("There is no such account.");
    return made;
  }
}
