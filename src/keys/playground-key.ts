// The keys of playgrounds: people who are signed in ask models without a key, and what they ask is limited, held and billed like every
// other request, on a key of the account without a known secret. Each member has one, so that usage and stored answers are of one member.

import { randomBytes } from "node:crypto";
import { LRUCache } from "lru-cache";
import type { PoolClient } from "pg";
import type { Database } from "../database/database.ts";
import { withRetry, withTransaction } from "../database/transactions.ts";
import { NotFound } from "../kernel/errors.ts";
import { uuidv7 } from "../kernel/ids.ts";
import type { CallingMember } from "./calling-member.ts";
import type { VerifiedKey } from "./verified-key.ts";
import { countHoldsForMember } from "../ledger/account-limits.ts";
import { lockAccount } from "../ledger/account-lock.ts";
import { readMemberBudget } from "./member-budgets.ts";
import {
  insertMemberPlaygroundKey,
  insertPlaygroundKey,
  isPlaygroundKeyNameless,
  nameHolder,
  readPlaygroundKey,
} from "./playground-store.ts";

const MOST_REMEMBERED = 10_000;
const DIGEST_BYTES = 32;

/** Whose playground it is. */
export type PlaygroundOf = Pick<CallingMember, "accountId" | "personId" | "isHolder">;

/**
 * Returns the key of a member's playground, and makes it at the first call. Errors: NotFound when there is no such account; those of
 * `requireRole`.
 */
export type PlaygroundKeys = (member: PlaygroundOf) => Promise<VerifiedKey>;

/**
 * Makes the look-up. The key of the person whose account it is never changes, so it is remembered; its limit is read at each admission.
 * `requireRole` throws unless a member may have keys now; it is called behind the lock of the account.
 */
export function createPlaygroundKeys(
  { pool }: Pick<Database, "pool">,
  requireRole: (client: PoolClient, member: PlaygroundOf) => Promise<void>,
): PlaygroundKeys {
  const known = new LRUCache<string, VerifiedKey>({ max: MOST_REMEMBERED });
  return async (member) => {
    const { accountId, isHolder } = member;
    const remembered = isHolder ? known.get(accountId) : undefined;
    if (remembered !== undefined) return remembered;
    const which = { accountId, personId: isHolder ? null : member.personId };
    const key = (await readPlaygroundKey(pool, which)) ?? (await makeKey(member));
    // That of another member is revoked when the member is removed.
    if (!isHolder) return key;
    if (await isPlaygroundKeyNameless(pool, key)) await nameMaker(member, key);
    known.set(accountId, key);
    return key;
  };

  /**
   * A key of before 0011 names no person, so the budget of its holder did not count it. Only its playground uses the key, and asks here
   * first: from now on its requests count, with those that are open.
   */
  function nameMaker({ accountId, personId }: PlaygroundOf, { keyId }: VerifiedKey): Promise<void> {
    return withRetry(() =>
      withTransaction({ pool }, async (client) => {
        await lockAccount(client, accountId);
        if (!(await nameHolder(client, { accountId, keyId, personId }))) return;
        const budget = await readMemberBudget(client, { accountId, personId });
        if (budget !== null) await countHoldsForMember(client, { accountId, keyId, personId });
      }),
    );
  }

  async function makeKey(member: PlaygroundOf): Promise<VerifiedKey> {
    const { accountId, personId, isHolder } = member;
    // A digest of nothing: no secret leads to it.
    const made = { accountId, keyId: uuidv7(), digest: randomBytes(DIGEST_BYTES), personId };
    await withRetry(() =>
      withTransaction({ pool }, async (client) => {
        await lockAccount(client, accountId);
        if (isHolder) return insertPlaygroundKey(client, made);
        await requireRole(client, member);
        return insertMemberPlaygroundKey(client, made);
      }),
    );
    const key = await readPlaygroundKey(pool, { accountId, personId: isHolder ? null : personId });
    if (key === null) throw new NotFound("There is no such account.");
    return key;
  }
}
