import type { PoolClient } from "pg";
import { lockAccount } from "../ledger/account-lock.ts";
import type { KeyLimits } from "./key-limits.ts";
import { setKeyBudget, writeKeyEnd } from "./store.ts";

/** Sets all limits of a key of an account, in the caller's transaction. False: the account has no such key. Errors: NotFound. */
export async function setKeyLimits(
  client: PoolClient,
  { accountId, keyId, limits }: { accountId: string; keyId: string; limits: KeyLimits },
): Promise<boolean> {
  // Behind this lock no request of the account is admitted, extended or settled.
  await lockAccount(client, accountId);
  if (!(await setKeyBudget(client, { accountId, keyId, budget: limits.budget }))) return false;
  await writeKeyEnd(client, { accountId, keyId, ...limits });
  return true;
}
